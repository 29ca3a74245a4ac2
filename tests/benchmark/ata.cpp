#include "ata.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <set>
#include <utility>

#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "papers/helal/factor/ata.hpp"
#include "reference/ic.hpp"
#include "reference/ilu.hpp"
#include "session.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

using kernels::AtaOptions;
using kernels::AtaReport;
using kernels::CoarseMode;

struct Case {
  SolveSchedule schedule;
  AtaOptions options;
};

bool is_policy(SolveSchedule schedule) {
  return std::ranges::find(kernels::kAtaPolicies, schedule) != kernels::kAtaPolicies.end();
}

/// Rows share warps under all schedules but self-scheduling, which has no such form, and under none: so each comparison
/// has the same on both sides.
std::vector<Case> solve_cases() {
  std::vector<Case> cases;
  for (const AtaFlow flow : {AtaFlow::pull, AtaFlow::push}) {
    for (const bool share : {true, false}) {
      const AtaOptions options{.flow = flow, .rows_share_warps = share};
      for (const SolveSchedule schedule : kernels::kAtaBaselines) {
        if (schedule != SolveSchedule::self_scheduled || !share) cases.push_back({schedule, options});
      }
      for (const SolveSchedule schedule : kernels::kAtaPolicies) cases.push_back({schedule, options});
    }
    for (const SolveSchedule schedule : kernels::kAtaPolicies) {
      cases.push_back({schedule, {.flow = flow, .coarse = CoarseMode::streams}});
    }
  }
  return cases;
}

std::vector<Case> factor_cases() {
  std::vector<Case> cases;
  for (const SolveSchedule schedule : kernels::kAtaBaselines) cases.push_back({schedule, {}});
  for (const CoarseMode coarse : {CoarseMode::graph, CoarseMode::streams}) {
    for (const SolveSchedule schedule : kernels::kAtaPolicies) cases.push_back({schedule, {.coarse = coarse}});
  }
  return cases;
}

/// What the paper's figures 8 and 9 compare: all with a warp a row.
std::vector<Case> class_cases(const std::vector<AtaFlow>& flows) {
  std::vector<Case> cases;
  for (const AtaFlow flow : flows) {
    const AtaOptions options{.flow = flow, .rows_share_warps = false};
    for (const SolveSchedule schedule : {SolveSchedule::level_launch, SolveSchedule::self_scheduled}) {
      cases.push_back({schedule, options});
    }
    for (const SolveSchedule schedule : kernels::kAtaPolicies) cases.push_back({schedule, options});
  }
  return cases;
}

/// CA and greedy, tasks sized by the paper's equations and by warps and levels; sweeps with shared warps and a warp a
/// row.
std::vector<Case> size_cases(bool sweeps) {
  std::vector<Case> cases;
  for (const bool share : sweeps ? std::vector{true, false} : std::vector{true}) {
    for (const SolveSchedule schedule : {SolveSchedule::ata_concurrency, SolveSchedule::ata_greedy}) {
      for (const AtaSize size : {AtaSize::equations, AtaSize::warps_and_levels}) {
        cases.push_back({schedule, {.task_size = size, .rows_share_warps = share}});
      }
    }
  }
  return cases;
}

/// The S that is chosen, S around it by factors, then R from 1 to 300 where Eq. (2) counts. What is chosen has R = 100.
std::vector<Case> study_cases(Index rows, const std::function<Index(SolveSchedule)>& chosen) {
  std::vector<Case> cases;
  for (const SolveSchedule schedule : kernels::kAtaPolicies) {
    cases.push_back({schedule, {}});
    const Index s = chosen(schedule);
    std::set<Index> others;
    for (const double factor : {1.0 / 32, 1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 2.0, 4.0, 8.0}) {
      others.insert(static_cast<Index>(std::clamp(factor * s, 1.0, static_cast<double>(rows))));
    }
    others.erase(s);
    for (const Index other : others) cases.push_back({schedule, {.granularity = other}});
    cases.push_back({schedule, {.task_size = AtaSize::warps_and_levels}});
    if (schedule == SolveSchedule::ata_greedy) continue;
    for (const double ratio : {1.0, 3.0, 10.0, 30.0, 300.0}) cases.push_back({schedule, {.launch_ratio = ratio}});
  }
  return cases;
}

/// What one case is made of: a sweep or a factorisation.
struct Prepared {
  std::function<void()> run;
  std::function<void()> unmanaged;
  std::function<double()> error;
  AtaReport report;
};

class Cases {
 public:
  Cases(Session& session, const Problem& problem, const CsrMatrix& a, std::chrono::steady_clock::time_point end)
      : session_(session), problem_(problem), a_(a), end_(end) {}

  /// `make` analyses. @returns whether time was left for all
  bool run(const char* what, const std::vector<Case>& cases, const std::function<Prepared(const Case&)>& make) {
    for (const Case& c : cases) {
      Row row = row_of(what, c);
      if (session_.rows.contains(row)) continue;
      if (std::chrono::steady_clock::now() >= end_) return false;
      session_.step(problem_.name + " " + what + " " + to_string(c.schedule), row);
      try {
        measure(make, c, row);
      } catch (const std::exception& error) {
        row["status"] = error.what();
        session_.fail(problem_.name + " " + what + " " + to_string(c.schedule) + ": " + error.what());
      }
      session_.rows.add(row);
    }
    return true;
  }

 private:
  [[nodiscard]] Row row_of(const char* what, const Case& c) const {
    const bool solve = std::string(what) == "lower" || std::string(what) == "upper";
    const bool policy = is_policy(c.schedule);
    const bool by_levels = c.options.task_size == AtaSize::warps_and_levels;
    const bool paper = c.options.granularity == 0 && !by_levels;
    return {{"program", "ata"},
            {"problem", problem_.name},
            {"rows", a_.rows},
            {"entries", a_.entries()},
            {"class", nullptr},
            {"levels", nullptr},
            {"what", what},
            {"flow", c.options.flow == AtaFlow::pull ? "pull" : "push"},
            {"schedule", to_string(c.schedule)},
            {"coarse", !policy ? Row() : Row(c.options.coarse == CoarseMode::graph ? "graph" : "streams")},
            {"rows_share_warps", solve && c.options.rows_share_warps},
            {"S_given", c.options.granularity > 0 ? Row(c.options.granularity)
                        : by_levels               ? Row("levels")
                                                  : Row()},
            {"R", policy && paper && c.schedule != SolveSchedule::ata_greedy ? Row(c.options.launch_ratio) : Row()},
            {"S", nullptr},
            {"tasks", nullptr},
            {"untracked", nullptr},
            {"edges", nullptr},
            {"coarse_edges", nullptr},
            {"fine_edges", nullptr},
            {"T_l_us", nullptr},
            {"T_u_us", nullptr},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"unmanaged_ms", nullptr},
            {"analysis_ms", nullptr},
            {"aggregation_ms", nullptr},
            {"error", nullptr},
            {"status", "ok"}};
  }

  void measure(const std::function<Prepared(const Case&)>& make, const Case& c, Row& row) {
    Prepared prepared;
    row["analysis_ms"] = wall_ms([&] { prepared = make(c); });
    const AtaReport& report = prepared.report;
    row["class"] = kernels::to_string(report.dag_class);
    row["levels"] = report.levels;
    if (report.granularity > 0) row["S"] = report.granularity;
    row["tasks"] = report.adaptive_tasks;
    row["untracked"] = report.untracked_tasks;
    row["edges"] = report.edges;
    row["coarse_edges"] = report.coarse_edges;
    row["fine_edges"] = report.fine_edges;
    if (report.launch_microseconds > 0.0) row["T_l_us"] = report.launch_microseconds;
    if (report.row_microseconds > 0.0) row["T_u_us"] = report.row_microseconds;
    row["aggregation_ms"] = report.aggregation_ms;
    row["unmanaged_ms"] = time_on_device(session_.options.timing, prepared.unmanaged).median;
    const Timing time = time_on_device(session_.options.timing, prepared.run);
    row["milliseconds"] = time.median;
    row["least"] = time.least;
    row["most"] = time.most;
    row["repeats"] = time.repeats;
    const double error = prepared.error();
    row["error"] = error;
    if (!(error <= accepted_error(0.0))) {
      row["status"] = "wrong result";
      session_.fail(problem_.name + ": wrong result");
    }
    std::printf("%-26s %-12s %s %-16s %-7s %d S %d tasks %d | %.4f ms, unmanaged %s, analysis %.1f | error %.0e\n",
                problem_.name.c_str(), row["what"].get<std::string>().c_str(), row["flow"].get<std::string>().c_str(),
                to_string(c.schedule), row["coarse"].is_null() ? "" : row["coarse"].get<std::string>().c_str(),
                c.options.rows_share_warps ? 1 : 0, report.granularity, report.adaptive_tasks, time.median,
                row["unmanaged_ms"].dump().c_str(), row["analysis_ms"].get<double>(), error);
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix& a_;
  std::chrono::steady_clock::time_point end_;
};

std::vector<double> inverse_pivots(const CsrMatrix& lu) {
  std::vector<double> result(static_cast<std::size_t>(lu.rows), 1.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (auto e = static_cast<std::size_t>(lu.row_offsets[i]); e < static_cast<std::size_t>(lu.row_offsets[i + 1]);
         ++e) {
      if (static_cast<std::size_t>(lu.col_indices[e]) == i) result[i] = 1.0 / lu.values[e];
    }
  }
  return result;
}

kernels::DevicePattern pattern_of(const DeviceMatrix& a) {
  return {a.rows, a.entries, a.row_offsets.data(), a.col_indices.data()};
}

std::unique_ptr<kernels::AtaSweep> make_sweep(const Case& c, const kernels::SweepInput& input) {
  if (is_policy(c.schedule)) return kernels::make_ata_sweep(c.schedule, input, c.options, nullptr);
  if (c.schedule == SolveSchedule::self_scheduled) {
    return kernels::make_self_scheduled_sweep(input, nullptr, c.options.flow);
  }
  return kernels::make_level_sweep(c.schedule, input, nullptr, c.options.flow, c.options.rows_share_warps);
}

/// A triangle, looked at anew.
class AnalysedTriangle {
 public:
  AnalysedTriangle(const DeviceMatrix& a, Triangle triangle)
      : pattern_(pattern_of(a)),
        triangle_(triangle),
        ranges_(kernels::find_triangle(pattern_, triangle, nullptr)),
        levels_(kernels::compute_levels(pattern_, ranges_, triangle, nullptr)) {}
  /// Valid as long as this object stays where it is.
  [[nodiscard]] kernels::SweepInput input() const {
    kernels::SweepInput input;
    input.pattern = pattern_;
    input.triangle = triangle_;
    input.ranges = &ranges_;
    input.levels = &levels_;
    return input;
  }

 private:
  kernels::DevicePattern pattern_;
  Triangle triangle_;
  kernels::TriangleRanges ranges_;
  kernels::RowLevels levels_;
};

std::vector<Case> solve_cases_of(const Options& options, const DeviceMatrix& lu, Triangle triangle) {
  if (options.classes) return class_cases({AtaFlow::pull, AtaFlow::push});
  if (options.sizes) return size_cases(true);
  if (!options.study) return solve_cases();
  const AnalysedTriangle analysed(lu, triangle);
  return study_cases(lu.rows, [&](SolveSchedule schedule) {
    return kernels::make_ata_sweep(schedule, analysed.input(), {}, nullptr)->report().granularity;
  });
}

bool run_solves(Cases& cases, const Options& options, const CsrMatrix& lu, Triangle triangle) {
  const DeviceMatrix device(lu);
  const bool lower = triangle == Triangle::lower;
  const std::vector<double> b = random_vector(static_cast<std::size_t>(lu.rows), 7);
  const std::vector<double> reference = reference_solutions(lu, {.triangle = triangle, .unit_diagonal = lower}, b);
  const auto rhs = cuda::upload(b, nullptr);
  const auto pivots = cuda::upload(inverse_pivots(lu), nullptr);
  const auto x = cuda::upload(b, nullptr);
  const auto flag = cuda::upload(std::vector<int>{0}, nullptr);
  return cases.run(lower ? "lower" : "upper", solve_cases_of(options, device, triangle), [&](const Case& c) {
    const AnalysedTriangle analysed(device, triangle);
    const std::shared_ptr<kernels::AtaSweep> sweep = make_sweep(c, analysed.input());
    sweep->load_values(device.values.data(), lower ? nullptr : pivots.data(), nullptr);
    cuda::synchronize(nullptr);
    return Prepared{[&, sweep] { sweep->solve(rhs.data(), x.data(), flag.data(), nullptr); },
                    [&, sweep] { sweep->solve_unmanaged(rhs.data(), x.data(), flag.data(), nullptr); },
                    [&, sweep] { return relative_error(cuda::fetch_array(x.data(), b.size(), nullptr), reference); },
                    sweep->report()};
  });
}

using MakeFactor = std::function<std::unique_ptr<kernels::AtaFactorization>(const Case&)>;

/// The values of a factor as the reference has them: of IC the unit U, with the pivots.
std::vector<double> values_of(const kernels::FactorTarget& target, const CsrMatrix& reference) {
  std::vector<double> values = cuda::fetch_array(target.entries, reference.values.size(), nullptr);
  if (target.unit == nullptr) return values;
  const std::vector<double> scaled =
      std::exchange(values, cuda::fetch_array(target.unit, reference.values.size(), nullptr));
  for (std::size_t i = 0; i < static_cast<std::size_t>(reference.rows); ++i) {
    const auto e = static_cast<std::size_t>(reference.row_offsets[i]);
    values[e] = scaled[e];
  }
  return values;
}

bool run_factors(Cases& cases, const char* what, const std::vector<Case>& list, const kernels::FactorInput& input,
                 const CsrMatrix& reference, FactorKind kind, const MakeFactor& make) {
  const cuda::DeviceArray<double> entries(reference.values.size(), nullptr);
  const cuda::DeviceArray<double> inverse_pivots(static_cast<std::size_t>(reference.rows), nullptr);
  const cuda::DeviceArray<double> unit(kind == FactorKind::ic ? entries.size() : 0, nullptr);
  const cuda::PinnedValue<kernels::FactorReport> report;
  const kernels::FactorTarget target{entries.data(), inverse_pivots.data(), unit.data(), report.data()};
  return cases.run(what, list, [&](const Case& c) {
    const std::shared_ptr<kernels::AtaFactorization> factor = make(c);
    return Prepared{[&, factor] { factor->factor(input, {}, target, nullptr); },
                    [&, factor] { factor->factor_unmanaged(input, {}, target, nullptr); },
                    [&] { return relative_error(values_of(target, reference), reference.values); }, factor->report()};
  });
}

bool run_problem(Session& session, const Problem& problem, const CsrMatrix& a,
                 std::chrono::steady_clock::time_point end) {
  if (std::chrono::steady_clock::now() >= end) return false;
  const Options& chosen = session.options;
  Cases cases(session, problem, a, end);
  FactorOptions options;
  options.zero_pivot = 0.0;
  FactorStatus status;
  const CsrMatrix lu = kernels::reference_ilu(a.view(), options, 0.0, status);
  if (!run_solves(cases, chosen, lu, Triangle::lower)) return false;
  if (chosen.study) return true;
  const bool by_class = chosen.classes || chosen.sizes;
  if (!by_class && !run_solves(cases, chosen, lu, Triangle::upper)) return false;
  const DeviceMatrix device(a);
  const kernels::DevicePattern pattern = pattern_of(device);
  const cuda::DeviceArray<Offset> diagonal(static_cast<std::size_t>(a.rows), nullptr);
  static_cast<void>(kernels::find_diagonal(pattern, diagonal.data(), nullptr));
  const std::vector<Case> factors = chosen.classes ? class_cases({AtaFlow::pull})
                                    : chosen.sizes ? size_cases(false)
                                                   : factor_cases();
  const auto run_ilu = [&](const char* what, kernels::FactorForm form) {
    return run_factors(
        cases, what, factors, {device.values.data(), nullptr, {}}, lu, FactorKind::ilu, [&, form](const Case& c) {
          return kernels::make_ata_ilu(c.schedule, pattern, diagonal.data(), false, form, c.options, nullptr);
        });
  };
  if (!chosen.sizes && !run_ilu("ilu0 columns", kernels::FactorForm::columns)) return false;
  if (chosen.classes) return true;
  if (!run_ilu("ilu0 rows", kernels::FactorForm::rows)) return false;
  if (chosen.sizes) return true;
  options.kind = FactorKind::ic;
  const CsrMatrix ic = kernels::reference_ic(a.view(), options, 0.0, status);
  if (status.outcome != FactorOutcome::success) return true;
  const kernels::DeviceCsr upper = kernels::upper_pattern(pattern, diagonal.data(), nullptr);
  return run_factors(
      cases, "ic0", factors, {device.values.data(), upper.source.data(), {}}, ic, FactorKind::ic, [&](const Case& c) {
        return kernels::make_ata_ic(c.schedule, upper.pattern(), kernels::transpose_pattern(upper.pattern(), nullptr),
                                    false, c.options, nullptr);
      });
}

}  // namespace

int run_ata(const Options& given) {
  Options options = given;
  const bool named = options.smoke || options.table || options.all || !options.only.empty();
  if (!named && (options.classes || options.sizes)) options.only = list_class_problems();
  if (!named && options.study) options.only = list_study_problems();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(options.budget_seconds);
  Session session(options, {"problem", "what", "flow", "schedule", "coarse", "rows_share_warps", "S_given", "R"});
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) {
    if (!run_problem(session, problem, a, end)) {
      std::printf("%s: the time is over, the rest is left out; --resume goes on\n", problem.name.c_str());
    }
  });
  return session.finish();
}

}  // namespace taskdag::benchmark
