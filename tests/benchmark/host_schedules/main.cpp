/// \file
/// The host's schedules of triangular solves against one thread, on the data sets of Böhnlein et al. 2025 in kind.
///
/// usage: taskdag_host_schedules [--cores N] [--counts | --schedule-times] [--set NAME]... [--only MATRIX]...
///          [--group NAME]... [--schedule NAME]... [--first-seed N] [--seeds N] [--rows N]
///          [--repeat N] [--solve-ms N] [--attempts N] [--least-flops N] [--least-wavefront N] [--most-work N]
///          [--at-once N] [--seconds N] [--rival FILE]... [--csv FILE] [--append]
///
/// What is run: sets (cases.hpp; all but those that one has to name), of them the matrices named; groups of schedules
/// (measure.hpp; usual) and schedules by name, serial always; rivals, shared libraries with the functions of
/// rival_interface.h (rivals/ has some). Seeds: of random triangles, from the first to N. Matrices of
/// TASKDAG_MATRIX_DIR with fewer flops (2 · entries − rows; default 200,000) or a smaller average wavefront (default
/// 2 · cores) are left out, and named; in the set large those below the paper's bounds, 2 million and 44; and any
/// matrix of more than --most-work rows times wavefronts.
///
/// How: each schedule solves --repeat times, but for no longer than --solve-ms (ten times in any case), and all over
/// again, --attempts times in all, while the quartiles are further apart than a quarter of the median, as in the paper.
/// --counts makes schedules and solves nothing; cores may be more than the machine has. --schedule-times the same, and
/// says how long that took. --at-once N makes the schedules of N matrices before it solves, many at the same time: then
/// it is not known how long making one takes. After --seconds nothing more is begun.
///
/// Rows are written as they come. --append adds those that are not there yet. TASKDAG_COMMIT and TASKDAG_MACHINE name
/// the commit and the machine in them./// Prints a line per matrix and schedule, then tables. Exit status 1 if a result
/// is wrong.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cases.hpp"
#include "dag/levels.hpp"
#include "options.hpp"
#include "reference/sptrsv.hpp"
#include "row_file.hpp"
#include "summary.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kBound = 1e-12;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool wanted(const Options& options, const Case& c) {
  const bool in_set = options.sets.empty() ? !is_extra(c.set) : contains(options.sets, c.set);
  return in_set && (options.only.empty() || contains(options.only, c.name));
}

System make_system(const Case& c) {
  System system{take_lower(c.make()), {}, {}, 0};
  system.b.resize(static_cast<std::size_t>(system.a.rows));
  for (std::size_t i = 0; i < system.b.size(); ++i) system.b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  system.reference.resize(system.b.size());
  kernels::reference_sptrsv(system.a.view(), {.triangle = Triangle::lower, .unit_diagonal = true}, system.b.data(),
                            system.reference.data());
  system.wavefronts = count_levels(system.a.pattern(), Triangle::lower).levels;
  return system;
}

/// Whether the paper's criteria take the matrix.
bool is_large_enough(const System& system, double least_flops, double least_wavefront) {
  const double wavefront = static_cast<double>(system.a.rows) / system.wavefronts;
  return 2.0 * system.a.entries() - system.a.rows >= least_flops && wavefront >= least_wavefront;
}

bool is_taken(const Case& c, const System& system, const Options& options) {
  if (static_cast<double>(system.a.rows) * system.wavefronts > options.most_work) return false;
  if (c.set == "large") return is_large_enough(system, 2e6, 44.0);
  return c.set != "real" || !options.only.empty() ||
         is_large_enough(system, options.least_flops, options.least_wavefront);
}

/// action(k) for each k < count on so many threads. The first exception is rethrown.
template <class Action>
void each(std::size_t count, int threads, const Action& action) {
  std::atomic<std::size_t> next{0};
  std::exception_ptr failure;
  std::mutex mutex;
  const auto work = [&] {
    for (std::size_t k = next++; k < count; k = next++) {
      try {
        action(k);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!failure) failure = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  if (failure) std::rethrow_exception(failure);
}

void print(const Row& row) {
  const Measurement& m = row.measured;
  std::printf("  %-24s", row.variant);
  if (m.supersteps > 0) {
    std::printf(" %6d supersteps, 1 of %6.2f, balance %4.2f,", m.supersteps,
                static_cast<double>(m.wavefronts) / m.supersteps, m.balance);
  } else {
    std::printf(" %6s                               ", "");
  }
  if (m.schedule_ms) std::printf(" schedule %8.1f ms,", *m.schedule_ms);
  if (m.solving) {
    const Solving& s = *m.solving;
    std::printf(" solve %8.4f ms (%.4f … %.4f) on %d, %5.2f times serial,", s.median, s.lower_quartile,
                s.upper_quartile, s.threads, row.serial_ms / s.median);
    if (const auto solves = amortisation(row)) std::printf(" pays after %.0f,", *solves);
    std::printf(" error %.1e", s.error);
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// A matrix, and what is to be run on it.
struct Task {
  const Case* origin;
  std::vector<const Variant*> variants;  // without serial
  System system = {};
  std::vector<Prepared> prepared = {};  // by variant
};

class Run {
 public:
  explicit Run(const Options& options)
      : options_(&options),
        solves_(!options.counts && !options.schedule_times),
        rivals_(options.rivals.begin(), options.rivals.end()),
        file_(options.csv, options.append, {named("TASKDAG_COMMIT"), named("TASKDAG_MACHINE"), options.cores}) {
    if (solves_) pool_ = std::make_unique<host::ThreadPool>(options.cores);
    for (const Variant& variant : list_variants()) {
      if (variant.kind == SolveSchedule::serial ||
          ((solves_ || is_prepared_apart(variant)) &&
           (contains(options.groups, variant.group) || contains(options.schedules, variant.name)))) {
        variants_.push_back(variant);
      }
    }
    const System small = make_system({"", "", [] { return make_narrow_band_lower(2000, 0.05, 20.0, 1); }});
    for (const Rival& rival : rivals_) {
      describe(rival, small, options.cores);  // starts its threads, and whatever else it does once
      variants_.push_back({.name = rival.name(), .kind = SolveSchedule::automatic, .rival = &rival});
    }
  }

  /// @returns whether all results were right
  bool run() {
    std::vector<Task> batch;
    const std::vector<Case> cases = list_cases(options_->first_seed, options_->seeds, options_->rows);
    for (const Case& c : cases) {
      if (!wanted(*options_, c)) continue;
      Task task{&c, {}};
      for (const Variant& variant : variants_) {
        if (variant.kind != SolveSchedule::serial && !file_.has(c.set, c.name, variant.name)) {
          task.variants.push_back(&variant);
        }
      }
      if (!task.variants.empty()) batch.push_back(std::move(task));
      if (batch.size() == static_cast<std::size_t>(options_->at_once)) run_batch(batch);
    }
    run_batch(batch);
    print_tables(rows_);
    return right_;
  }

 private:
  static std::string named(const char* variable) {
    const char* const name = std::getenv(variable);
    return name == nullptr ? "unknown" : name;
  }

  [[nodiscard]] bool is_over() const {
    return std::chrono::steady_clock::now() - start_ > std::chrono::duration<double>(options_->seconds);
  }

  /// Empties it.
  void run_batch(std::vector<Task>& batch) {
    const bool together = options_->at_once > 1;
    const int threads = together ? host::available_threads() : 1;
    if (is_over()) batch.clear();
    each(batch.size(), threads, [&](std::size_t k) { batch[k].system = make_system(*batch[k].origin); });
    std::erase_if(batch, [&](const Task& task) {
      const bool left_out = !is_taken(*task.origin, task.system, *options_);
      if (left_out && task.origin->set != "large") {
        std::printf("%s: too small, too narrow or too much work\n", task.origin->name.c_str());
      }
      return left_out;
    });
    if (together && !options_->schedule_times) prepare_all(batch, threads);
    for (Task& task : batch) run_task(task);
    batch.clear();
  }

  void prepare_all(std::vector<Task>& batch, int threads) const {
    std::vector<std::pair<Task*, std::size_t>> apart;
    for (Task& task : batch) {
      task.prepared.resize(task.variants.size());
      for (std::size_t k = 0; k < task.variants.size(); ++k) {
        if (is_prepared_apart(*task.variants[k])) apart.emplace_back(&task, k);
      }
    }
    each(apart.size(), threads, [&](std::size_t k) {
      auto& [task, variant] = apart[k];
      task->prepared[variant] = prepare(*task->variants[variant], task->system.a, options_->cores);
    });
  }

  void run_task(Task& task) {
    const System& system = task.system;
    std::printf("%s, %s: %d rows, %d entries, %d wavefronts\n", task.origin->set.c_str(), task.origin->name.c_str(),
                system.a.rows, system.a.entries(), system.wavefronts);
    double serial_ms = 0.0;
    if (solves_ && !is_over()) {
      const Variant& serial = variants_.front();
      const Measurement measured = measure(serial, nullptr, system, options_->cores, *pool_, options_->repetition);
      serial_ms = measured.solving->median;
      add(task, serial, measured, serial_ms);
    }
    for (std::size_t k = 0; k < task.variants.size() && !is_over(); ++k) {
      const Variant& variant = *task.variants[k];
      const Prepared* prepared = nullptr;
      Prepared made;
      if (!task.prepared.empty()) {
        prepared = &task.prepared[k];
      } else if (is_prepared_apart(variant)) {
        made = prepare(variant, system.a, options_->cores);
        prepared = &made;
      }
      Measurement measured = solves_ ? measure(variant, prepared, system, options_->cores, *pool_, options_->repetition)
                             : variant.rival != nullptr ? describe(*variant.rival, system, options_->cores)
                                                        : describe(*prepared, system);
      if (prepared == &made) measured.schedule_ms = made.ms;
      if (options_->counts) measured.schedule_ms.reset();
      add(task, variant, measured, serial_ms);
    }
  }

  void add(const Task& task, const Variant& variant, const Measurement& measured, double serial_ms) {
    Row row{task.origin->set, task.origin->name, task.system.a.rows, task.system.a.entries(),
            variant.name,     measured,          serial_ms};
    print(row);
    if (measured.solving && !(measured.solving->error <= kBound)) {
      right_ = false;
      return;
    }
    file_.add(row);
    rows_.push_back(std::move(row));
  }

  const Options* options_;
  bool solves_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::deque<Rival> rivals_;
  RowFile file_;
  std::unique_ptr<host::ThreadPool> pool_;
  std::vector<Variant> variants_;  // serial first
  std::vector<Row> rows_;
  bool right_ = true;
};

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    taskdag::benchmark::Options options;
    if (!taskdag::benchmark::parse(argc, argv, options)) {
      std::fprintf(stderr, "usage: %s %s\n", argv[0], taskdag::benchmark::kUsage);
      return 2;
    }
    if (taskdag::benchmark::Run(options).run()) return 0;
    std::fprintf(stderr, "a result differs from the reference by more than the bound\n");
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}
