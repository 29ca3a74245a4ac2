#include "measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>

#include "dag/thread_plan.hpp"
#include "kernels/sptrsv/host/plan/planned_sweep.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"

namespace taskdag::benchmark {
namespace {

template <class Action>
double wall_ms(const Action& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

double compare(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size > 0.0 ? error / size : error;
}

/// run(x) solves.
template <class Run>
void time_solves(const Run& run, const std::vector<double>& reference, const Repetition& repetition, Solving& result) {
  constexpr std::size_t kLeast = 10;
  std::vector<double> x(reference.size());
  run(x.data());
  run(x.data());
  for (int attempt = 0; attempt < repetition.attempts; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    const auto is_over = [&] {
      return std::chrono::steady_clock::now() - start > std::chrono::duration<double, std::milli>(repetition.most_ms);
    };
    std::vector<double> times;
    for (int k = 0; k < repetition.solves && (times.size() < kLeast || !is_over()); ++k) {
      std::ranges::fill(x, std::numeric_limits<double>::quiet_NaN());
      times.push_back(wall_ms([&] { run(x.data()); }));
      result.error = std::max(result.error, compare(x, reference));
    }
    std::ranges::sort(times);
    result.median = times[times.size() / 2];
    result.lower_quartile = times[times.size() / 4];
    result.upper_quartile = times[times.size() * 3 / 4];
    if (result.upper_quartile - result.lower_quartile <= 0.25 * result.median) break;
  }
}

/// `make` makes the sweep in place, which cannot be moved.
template <class Sweep, class Make>
Solving solve(const Make& make, const System& system, const Repetition& repetition) {
  Solving result;
  std::unique_ptr<Sweep> sweep;
  result.pack_ms = wall_ms([&] {
    sweep = make();
    sweep->load(system.a.values.data());
  });
  result.threads = sweep->threads();
  const std::vector<double> inverse(system.b.size(), 1.0);
  const auto run = [&](double* x) {
    sweep->run(
        x, [b = system.b.data()](Index i) { return b[i]; },
        [d = inverse.data()](Index, Index place, double value) { return value * d[place]; }, [](Index, double) {});
  };
  time_solves(run, system.reference, repetition, result);
  return result;
}

/// A rival's schedule; null where it has none for the triangle.
using RivalSchedule = std::unique_ptr<void, decltype(Rival::free)>;

RivalSchedule make_schedule(const Rival& rival, const System& system, int cores, Measurement& result) {
  const taskdag_rival_triangle triangle{system.a.rows, system.a.row_offsets.data(), system.a.col_indices.data(),
                                        system.a.values.data()};
  void* made = nullptr;
  int supersteps = 0;
  result.schedule_ms = wall_ms([&] { made = rival.schedule(&triangle, cores, &supersteps); });
  result.supersteps = supersteps;
  return {made, rival.free};
}

void measure_rival(const Rival& rival, const System& system, int cores, const Repetition& repetition,
                   Measurement& result) {
  const RivalSchedule schedule = make_schedule(rival, system, cores, result);
  if (!schedule) return;
  Solving solving;
  solving.threads = cores;
  solving.pack_ms = wall_ms([&] { rival.pack(schedule.get()); });
  time_solves([&](double* x) { rival.solve(schedule.get(), system.b.data(), x); }, system.reference, repetition,
              solving);
  result.solving = solving;
}

double find_balance(const SuperstepSchedule& schedule, const CsrMatrix& a) {
  std::int64_t fullest_portions = 0;
  for (Index s = 0; s < schedule.supersteps; ++s) {
    std::int64_t fullest = 0;
    for (int c = 0; c < schedule.cores; ++c) {
      std::int64_t entries = 0;
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        const auto row = static_cast<std::size_t>(schedule.order[static_cast<std::size_t>(p)]);
        entries += a.row_offsets[row + 1] - a.row_offsets[row];
      }
      fullest = std::max(fullest, entries);
    }
    fullest_portions += fullest;
  }
  return fullest_portions == 0
             ? 1.0
             : static_cast<double>(a.entries()) / static_cast<double>(fullest_portions * schedule.cores);
}

/// Both vectors in the order of the sweep.
Solving solve_as_paper(PaperOrder order, const SuperstepSchedule& schedule, const System& system,
                       host::ThreadPool& pool, const Repetition& repetition) {
  Solving result;
  std::unique_ptr<PaperSweep> sweep;
  result.pack_ms = wall_ms([&] { sweep = std::make_unique<PaperSweep>(system.a, schedule, order, pool); });
  result.threads = schedule.cores;
  const std::vector<double> b = sweep->arranged(system.b);
  time_solves([&](double* x) { sweep->run(b.data(), x); }, sweep->arranged(system.reference), repetition, result);
  return result;
}

}  // namespace

std::vector<Variant> list_variants() {
  using enum SolveSchedule;
  const SuperstepOptions no_funnel{.coarsen = false, .gather = true};
  const SuperstepOptions runs{.try_runs = true, .gather = true};
  std::vector<Variant> variants{
      {.name = "serial", .kind = serial},
      {.name = "auto", .kind = automatic},
      {.name = "plan", .kind = plan},
      {.name = "locking", .kind = locking},
      {.name = "locking, no Funnel", .kind = locking, .options = no_funnel},
      {.name = "locking, as dealt", .kind = locking, .options = {}},
      {.name = "locking, no fill-up", .kind = locking, .options = {.fill_up = false, .gather = true}},
      {.name = "locking, no reduction", .kind = locking, .options = {.gather = true, .reduction = std::nullopt}},
      {.name = "locking, full reduction", .kind = locking, .options = {.gather = true, .reduction = kFullReduction}},
      {.name = "locking, waits", .kind = locking, .waits = true},
      {.name = "locking, runs", .kind = locking, .options = runs},
      {.name = "locking, runs, waits", .kind = locking, .waits = true, .options = runs},
      {.name = "pivotal-path", .kind = pivotal_path},
      {.name = "pivotal-path, no Funnel", .kind = pivotal_path, .options = no_funnel},
      {.name = "pivotal-path, runs", .kind = pivotal_path, .options = runs},
      {.name = "hdagg", .kind = hdagg},
      {.name = "p2p", .kind = point_to_point, .waits = true},
      {.name = "level-set", .kind = level_set}};
  const auto alpha = [&](const char* name, double share) {
    variants.push_back(
        {.name = name, .kind = locking, .group = "alpha", .options = {.idle_share = share, .gather = true}});
  };
  alpha("locking, alpha 0.1", 0.1);
  alpha("locking, alpha 0.2", 0.2);
  alpha("locking, alpha 0.4", 0.4);
  alpha("locking, alpha 0.6", 0.6);
  const auto paper = [&](const char* name, SolveSchedule kind, bool coarsen, PaperOrder order) {
    variants.push_back(
        {.name = name, .kind = kind, .group = "reordering", .options = {.coarsen = coarsen}, .paper = order});
  };
  using enum PaperOrder;
  paper("locking, reordered", locking, true, scheduled);
  paper("locking, not reordered", locking, true, users);
  paper("locking, no Funnel, reordered", locking, false, scheduled);
  paper("locking, no Funnel, not reordered", locking, false, users);
  paper("pivotal-path, reordered", pivotal_path, true, scheduled);
  paper("pivotal-path, not reordered", pivotal_path, true, users);
  paper("pivotal-path, no Funnel, reordered", pivotal_path, false, scheduled);
  paper("pivotal-path, no Funnel, not reordered", pivotal_path, false, users);
  return variants;
}

bool is_prepared_apart(const Variant& variant) {
  return variant.rival == nullptr && variant.kind != SolveSchedule::serial && variant.kind != SolveSchedule::plan &&
         variant.kind != SolveSchedule::automatic;
}

Prepared prepare(const Variant& variant, const CsrMatrix& a, int cores) {
  Prepared result;
  result.ms = wall_ms([&] {
    result.schedule = make_superstep_schedule(variant.kind, a.pattern(), Triangle::lower, cores, variant.options);
    if (variant.waits) result.waits = find_portion_waits(result.schedule, a.pattern(), Triangle::lower);
  });
  return result;
}

Measurement describe(const Prepared& prepared, const System& system) {
  Measurement result;
  result.wavefronts = system.wavefronts;
  result.supersteps = prepared.schedule.supersteps;
  result.balance = find_balance(prepared.schedule, system.a);
  return result;
}

Measurement describe(const Rival& rival, const System& system, int cores) {
  Measurement result;
  result.wavefronts = system.wavefronts;
  make_schedule(rival, system, cores, result);
  return result;
}

Measurement measure(const Variant& variant, const Prepared* prepared, const System& system, int cores,
                    host::ThreadPool& pool, const Repetition& repetition) {
  const CsrPattern pattern = system.a.pattern();
  if (is_prepared_apart(variant)) {
    Measurement result = describe(*prepared, system);
    result.solving = variant.paper
                         ? solve_as_paper(*variant.paper, prepared->schedule, system, pool, repetition)
                         : solve<kernels::SuperstepSweep>(
                               [&] {
                                 return std::make_unique<kernels::SuperstepSweep>(
                                     pattern, nullptr, Triangle::lower, pool, prepared->schedule, prepared->waits);
                               },
                               system, repetition);
    return result;
  }
  Measurement result;
  result.wavefronts = system.wavefronts;
  if (variant.rival != nullptr) {
    measure_rival(*variant.rival, system, cores, repetition, result);
  } else if (variant.kind == SolveSchedule::automatic) {
    std::unique_ptr<kernels::ScheduledSweep> sweep;  // chosen and packed in one go
    result.schedule_ms = wall_ms([&] {
      sweep =
          std::make_unique<kernels::ScheduledSweep>(pattern, nullptr, Triangle::lower, pool, SolveSchedule::automatic);
    });
    result.solving = solve<kernels::ScheduledSweep>([&] { return std::move(sweep); }, system, repetition);
  } else {
    const int threads = variant.kind == SolveSchedule::serial ? 1 : cores;
    std::shared_ptr<const ThreadPlan> plan;
    result.schedule_ms = wall_ms([&] { plan = std::make_shared<const ThreadPlan>(pattern, Triangle::lower, threads); });
    result.solving = solve<kernels::HostSweep>(
        [&] { return std::make_unique<kernels::HostSweep>(pattern, nullptr, Triangle::lower, pool, plan); }, system,
        repetition);
  }
  return result;
}

}  // namespace taskdag::benchmark
