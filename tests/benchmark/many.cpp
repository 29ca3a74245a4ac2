#include "many.hpp"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "session.hpp"
#include "side_by_side.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

constexpr int kMostColumns = 64;

class ManyColumns {
 public:
  ManyColumns(Session& session, const Problem& problem, const CsrMatrix& a)
      : session_(session),
        problem_(problem),
        rows_(static_cast<std::size_t>(a.rows)),
        device_a_(a),
        lu_(make_factor(a)),
        device_lu_(lu_),
        right_(random_vector(rows_ * kMostColumns, 11)),
        between_(reference_solutions(lu_, kLower, right_)),
        solutions_(reference_solutions(lu_, kUpper, between_)),
        b_(right_.size(), nullptr),
        work_(right_.size(), nullptr),
        x_(right_.size(), nullptr) {
    cuda::copy_to_device(b_.data(), right_.data(), right_.size(), nullptr);
    cuda::synchronize(nullptr);
  }

  void run() {
    for (const SolveSchedule schedule : session_.options.schedules) run_schedule(schedule);
  }

 private:
  static inline const TriangularOptions kLower{.triangle = Triangle::lower, .unit_diagonal = true};
  static inline const TriangularOptions kUpper{.triangle = Triangle::upper};

  void run_schedule(SolveSchedule schedule) {
    FactorOptions options;
    options.zero_pivot = 0.0;
    options.schedule = schedule;
    Factorization f(session_.context, device_a_.view().pattern, MemorySpace::device, options);
    f.factor(device_a_.values.data(), MemorySpace::device);
    const std::string name = to_string(schedule);
    chosen_ = std::string(to_string(f.info().lower_schedule)) + "+" + to_string(f.info().upper_schedule);
    for (int columns = 1; columns <= kMostColumns; columns *= 2) {
      const std::optional<Timing> rival = measure_rival(columns);
      const std::optional<Timing> loop = measure("TaskDAG one by one", name, columns, rival, {}, [&] {
        for (int k = 0; k < columns; ++k) {
          const std::size_t at = rows_ * static_cast<std::size_t>(k);
          f.apply(Apply::full, b_.data() + at, x_.data() + at, MemorySpace::device);
        }
      });
      measure("TaskDAG", name, columns, rival, loop, [&] {
        const auto ld = static_cast<std::int64_t>(rows_);
        f.apply_many(Apply::full, columns, b_.data(), ld, x_.data(), ld, MemorySpace::device);
      });
    }
  }

  std::optional<Timing> measure_rival(int columns) {
    std::optional<CusparseSolve> first;
    std::optional<CusparseSolve> second;
    try {
      first.emplace(session_.cusparse, device_lu_, kLower, b_.data(), work_.data(), columns);
      second.emplace(session_.cusparse, device_lu_, kUpper, work_.data(), x_.data(), columns);
    } catch (const std::exception& error) {
      std::printf("%s: cuSPARSE, %d columns: %s\n", problem_.name.c_str(), columns, error.what());
      return {};
    }
    return measure("cuSPARSE", "", columns, {}, {}, [&] {
      first->solve();
      second->solve();
    });
  }

  /// Times `apply`, which leaves its results in x_. A rival's wrong result is reported in its row alone.
  std::optional<Timing> measure(const std::string& solver, const std::string& schedule, int columns,
                                const std::optional<Timing>& rival, const std::optional<Timing>& loop,
                                const std::function<void()>& apply) {
    const bool ours = solver != "cuSPARSE";
    const std::string what = problem_.name + " " + solver + " " + schedule + " " + std::to_string(columns);
    Row row{{"program", "many"},       {"problem", problem_.name}, {"set", to_string(problem_.set)},
            {"rows", lu_.rows},        {"entries", lu_.entries()}, {"columns", columns},
            {"solver", solver},        {"schedule", schedule},     {"chosen", ours ? Row(chosen_) : Row()},
            {"milliseconds", nullptr}, {"least", nullptr},         {"most", nullptr},
            {"repeats", nullptr},      {"per_column", nullptr},    {"error", nullptr},
            {"status", "ok"},          {"speedup", nullptr},       {"over_loop", nullptr}};
    session_.step(what, row);
    std::optional<Timing> result;
    try {
      const Timing time = time_on_device(session_.options.timing, apply);
      const std::size_t size = rows_ * static_cast<std::size_t>(columns);
      cuda::copy_to_host(between_.data(), x_.data(), size, nullptr);
      cuda::synchronize(nullptr);
      std::vector<double> errors(static_cast<std::size_t>(columns));
      side_by_side(errors.size(), [&](std::size_t k) {
        errors[k] = relative_error(std::span(between_).subspan(k * rows_, rows_),
                                   std::span(solutions_).subspan(k * rows_, rows_));
      });
      const double error = *std::max_element(errors.begin(), errors.end());
      if (!ours) rival_error_ = error;
      row["milliseconds"] = time.median;
      row["least"] = time.least;
      row["most"] = time.most;
      row["repeats"] = time.repeats;
      row["per_column"] = time.median / columns;
      row["error"] = error;
      if (rival) row["speedup"] = rival->median / time.median;
      if (loop) row["over_loop"] = loop->median / time.median;
      const bool right = error <= accepted_error(rival_error_);
      if (!right) row["status"] = "wrong result";
      if (!right && ours) session_.fail(what + ": wrong result");
      if (right && solver == "TaskDAG") {
        if (rival)
          session_.ratios.add("SpSM to one pass, " + std::to_string(columns), problem_, rival->median / time.median);
        if (loop)
          session_.ratios.add("loop to one pass, " + std::to_string(columns), problem_, loop->median / time.median);
      }
      std::printf("%-26s %-18s %-6s %2d columns %9.4f ms, per column %8.4f", problem_.name.c_str(), solver.c_str(),
                  schedule.c_str(), columns, time.median, time.median / columns);
      if (rival) std::printf("  cuSPARSE x%.2f", rival->median / time.median);
      if (loop) std::printf("  loop x%.2f", loop->median / time.median);
      std::printf("  error %.0e\n", error);
      result = time;
    } catch (const std::exception& error) {
      row["status"] = error.what();
      session_.fail(what + ": " + error.what());
    }
    session_.rows.add(row);
    return result;
  }

  Session& session_;
  const Problem& problem_;
  std::size_t rows_;
  DeviceMatrix device_a_;
  CsrMatrix lu_;
  DeviceMatrix device_lu_;
  std::vector<double> right_;
  std::vector<double> between_;  ///< later: results
  std::vector<double> solutions_;
  cuda::DeviceArray<double> b_;
  cuda::DeviceArray<double> work_;
  cuda::DeviceArray<double> x_;
  std::string chosen_;
  double rival_error_ = 0.0;
};

}  // namespace

int run_many(const Options& options) {
  Session session(options, {"problem", "solver", "schedule", "columns"});
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) { ManyColumns(session, problem, a).run(); });
  return session.finish();
}

}  // namespace taskdag::benchmark
