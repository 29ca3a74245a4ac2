#include "sptrsv.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>

#include "backends/cuda/device.hpp"
#include "session.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

constexpr int kAnalyses = 3;

const char* name_of(Triangle triangle) { return triangle == Triangle::lower ? "lower" : "upper"; }

/// What one solver reached on one system.
struct Measured {
  Timing time;
  double analysis_ms = 0.0;
  double error = 0.0;
};

double break_even_of(const Measured& ours, const Measured& rival) {
  return break_even(ours.analysis_ms, ours.time.median, rival.analysis_ms, rival.time.median);
}

/// Median milliseconds of making something new, and the last one made.
template <class Make>
auto median_construction(const Make& make, double& milliseconds) {
  decltype(make()) made;
  double times[kAnalyses];
  for (double& time : times) {
    made.reset();
    time = wall_ms([&] { made = make(); });
  }
  std::sort(std::begin(times), std::end(times));
  milliseconds = times[kAnalyses / 2];
  return made;
}

class System {
 public:
  System(Session& session, const Problem& problem, const CsrMatrix& lu, const DeviceMatrix& device_lu,
         const TriangularOptions& options)
      : session_(session),
        problem_(problem),
        lu_(device_lu),
        options_(options),
        count_(static_cast<std::size_t>(session.options.rhs)),
        rows_(static_cast<std::size_t>(lu.rows)),
        triangle_(take_triangle(lu, options)),
        levels_(make_level_schedule(triangle_.matrix.pattern(), triangle_.triangle)),
        class_(dag_class(levels_, cuda::device_limits().multiprocessors)),
        b_(random_vector(rows_ * count_, 7)),
        reference_(reference_solutions(lu, options, b_)),
        device_b_(b_.size(), nullptr),
        device_x_(b_.size(), nullptr) {
    const double entries = triangle_.strict_entries();
    const double vectors = static_cast<double>(rows_ * count_);
    const double rows = static_cast<double>(rows_);
    bytes_ = entries * (sizeof(double) + sizeof(Index)) + rows * sizeof(Offset) + 2 * vectors * sizeof(double) +
             (options.unit_diagonal ? 0.0 : rows * sizeof(double));
    operations_ = 2 * entries * static_cast<double>(count_) + (options.unit_diagonal ? 0.0 : vectors);
  }

  /// The schedules that no row is known of.
  void run(const std::vector<SolveSchedule>& schedules) {
    cuda::copy_to_device(device_b_.data(), b_.data(), b_.size(), nullptr);
    const std::optional<Measured> rival = attempt_rival("cuSPARSE", [&] { return measure_cusparse(); });
    const std::optional<Measured> ordered =
        attempt_rival("cuSPARSE level order", [&] { return measure_level_order(); });
    const std::optional<Measured> serial = attempt_rival("serial host loop", [&] { return measure_serial(); });
    std::printf(
        "%-26s %s%s rows %d entries %d levels %d | cuSPARSE %s, in level order %s | serial %s | floors %.4f %.4f\n",
        problem_.name.c_str(), direction(), options_.transposed ? " transposed" : "", lu_.rows,
        triangle_.strict_entries(), levels_.levels(), text(rival).c_str(), text(ordered).c_str(), text(serial).c_str(),
        bandwidth_floor(), hop_floor());
    for (const SolveSchedule schedule : schedules) run_schedule(schedule, rival);
  }

 private:
  [[nodiscard]] const char* direction() const { return name_of(options_.triangle); }
  [[nodiscard]] double bandwidth_floor() const { return bytes_ / session_.machine.bytes_per_ms; }
  [[nodiscard]] double hop_floor() const { return levels_.levels() * session_.machine.hop_ms; }

  static std::string text(const std::optional<Measured>& measured) {
    if (!measured) return "failed";
    char result[32];
    std::snprintf(result, sizeof result, "%.3f ms", measured->time.median);
    return result;
  }

  /// A row without results.
  [[nodiscard]] Row row_of(const std::string& solver, const std::string& schedule) const {
    return {{"program", "sptrsv"},
            {"problem", problem_.name},
            {"set", to_string(problem_.set)},
            {"class", class_},
            {"rows", lu_.rows},
            {"entries", triangle_.strict_entries()},
            {"levels", levels_.levels()},
            {"widest_level", levels_.widest_level()},
            {"entries_per_row", triangle_.strict_entries() / static_cast<double>(rows_)},
            {"triangle", direction()},
            {"transposed", options_.transposed},
            {"rhs", count_},
            {"solver", solver},
            {"schedule", schedule},
            {"chosen", nullptr},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"analysis_ms", nullptr},
            {"error", nullptr},
            {"status", "ok"},
            {"bandwidth_floor_ms", bandwidth_floor()},
            {"hop_floor_ms", hop_floor()},
            {"ns_per_level", nullptr},
            {"gflops", nullptr},
            {"gbytes_per_s", nullptr},
            {"speedup", nullptr},
            {"break_even", nullptr}};
  }

  void fill(Row& row, const Measured& measured) const {
    row["milliseconds"] = measured.time.median;
    row["least"] = measured.time.least;
    row["most"] = measured.time.most;
    row["repeats"] = measured.time.repeats;
    row["analysis_ms"] = measured.analysis_ms;
    row["error"] = measured.error;
    row["ns_per_level"] = measured.time.median * 1e6 / levels_.levels();
    row["gflops"] = operations_ / measured.time.median * 1e-6;
    row["gbytes_per_s"] = bytes_ / measured.time.median * 1e-6;
  }

  /// A rival that fails is a row with its message; the measurement goes on without it.
  template <class Measure>
  std::optional<Measured> attempt_rival(const char* solver, const Measure& measure) {
    Row row = row_of(solver, "");
    session_.step(problem_.name + " " + direction() + " " + solver, row);
    std::optional<Measured> measured;
    try {
      measured = measure();
      fill(row, *measured);
    } catch (const std::exception& error) {
      row["status"] = error.what();
      std::printf("%s: %s: %s\n", problem_.name.c_str(), solver, error.what());
    }
    session_.rows.add(row);
    return measured;
  }

  [[nodiscard]] double error_on_device() const {
    return relative_error(cuda::fetch_array(device_x_.data(), b_.size(), nullptr), reference_);
  }

  Measured measure_cusparse() {
    Measured result;
    const auto solve = median_construction(
        [&] {
          return std::make_unique<CusparseSolve>(session_.cusparse, lu_, options_, device_b_.data(), device_x_.data(),
                                                 session_.options.rhs);
        },
        result.analysis_ms);
    result.time = time_on_device(session_.options.timing, [&] { solve->solve(); });
    result.error = error_on_device();
    return result;
  }

  /// On a copy of the triangle in level order. Bringing vectors into that order and back is not counted.
  Measured measure_level_order() {
    Measured result;
    const HostTriangle permuted = in_level_order(triangle_, levels_);
    const DeviceMatrix matrix(permuted.matrix);
    TriangularOptions options;
    options.unit_diagonal = permuted.unit_diagonal;
    const auto order = levels_.order();
    std::vector<double> b(b_.size());
    for (std::size_t i = 0; i < b.size(); ++i) {
      b[i] = b_[i / rows_ * rows_ + static_cast<std::size_t>(order[i % rows_])];
    }
    const cuda::DeviceArray<double> device_b(b.size(), nullptr);
    cuda::copy_to_device(device_b.data(), b.data(), b.size(), nullptr);
    const auto solve = median_construction(
        [&] {
          return std::make_unique<CusparseSolve>(session_.cusparse, matrix, options, device_b.data(), device_x_.data(),
                                                 session_.options.rhs);
        },
        result.analysis_ms);
    result.time = time_on_device(session_.options.timing, [&] { solve->solve(); });
    const std::vector<double> permuted_x = cuda::fetch_array(device_x_.data(), b_.size(), nullptr);
    std::vector<double> x(permuted_x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i / rows_ * rows_ + static_cast<std::size_t>(order[i % rows_])] = permuted_x[i];
    }
    result.error = relative_error(x, reference_);
    return result;
  }

  Measured measure_serial() {
    Measured result;
    std::unique_ptr<SerialLoop> loop;
    result.analysis_ms = wall_ms([&] { loop = std::make_unique<SerialLoop>(triangle_); });
    std::vector<double> x(b_.size());
    result.time = time_on_host(session_.options.timing, [&] {
      for (std::size_t first = 0; first < x.size(); first += rows_) loop->solve(b_.data() + first, x.data() + first);
    });
    result.error = relative_error(x, reference_);
    return result;
  }

  void run_schedule(SolveSchedule schedule, const std::optional<Measured>& rival) {
    const std::string name = session_.options.name_of(schedule);
    const std::string what = problem_.name + " " + direction() + " " + name;
    Row row = row_of("TaskDAG", name);
    session_.step(what, row);
    try {
      SolveSchedule chosen = schedule;
      const Measured ours = measure(schedule, chosen);
      fill(row, ours);
      row["chosen"] = to_string(chosen);
      const bool right = ours.error <= accepted_error(rival ? rival->error : 0.0);
      if (!right) row["status"] = "wrong result";
      if (rival) compare(row, name, ours, *rival, right);
      print(name, to_string(chosen), ours, rival);
      if (!right) session_.fail(what + ": wrong result");
    } catch (const std::exception& error) {
      row["status"] = error.what();
      session_.fail(what + ": " + error.what());
    }
    session_.rows.add(row);
  }

  Measured measure(SolveSchedule schedule, SolveSchedule& chosen) {
    Measured result;
    TriangularOptions options = options_;
    options.schedule = schedule;
    options.run = session_.options.run;
    const auto solver = median_construction(
        [&] { return std::make_unique<TriangularSolver>(session_.context, lu_.view(), MemorySpace::device, options); },
        result.analysis_ms);
    chosen = solver->info().schedule;
    if (solver->info().given_up_loss > 0.0) {
      std::printf("%-26s %s rows are kept as they are: rewriting them would lose %.1e times rounding\n",
                  problem_.name.c_str(), direction(), solver->info().given_up_loss);
    }
    cuda::check(cudaMemsetAsync(device_x_.data(), 0, b_.size() * sizeof(double), nullptr), "clearing x");
    result.time = time_on_device(session_.options.timing, [&] {
      for (std::size_t first = 0; first < b_.size(); first += rows_) {
        solver->solve(device_b_.data() + first, device_x_.data() + first, MemorySpace::device);
      }
    });
    result.error = error_on_device();
    return result;
  }

  void compare(Row& row, const std::string& name, const Measured& ours, const Measured& rival, bool right) {
    const double speedup = rival.time.median / ours.time.median;
    const double solves = break_even_of(ours, rival);
    row["speedup"] = speedup;
    row["break_even"] = solves;
    if (!right) return;
    const std::string what = std::string(direction()) + (options_.transposed ? " transposed " : " ") + name;
    session_.ratios.add(what, problem_, speedup);
    session_.ratios.add_break_even(what, solves);
  }

  void print(const std::string& name, const char* chosen, const Measured& ours,
             const std::optional<Measured>& rival) const {
    const Timing& time = ours.time;
    std::printf(
        "  %-16s %-16s %9.4f ms (%.4f .. %.4f)  x%6.2f  %7.1f ns/level  %6.1f GFLOP/s %7.1f GB/s  "
        "analysis %8.2f against %8.2f ms, even after %g  error %.0e\n",
        name.c_str(), chosen, time.median, time.least, time.most, rival ? rival->time.median / time.median : 0.0,
        time.median * 1e6 / levels_.levels(), operations_ / time.median * 1e-6, bytes_ / time.median * 1e-6,
        ours.analysis_ms, rival ? rival->analysis_ms : 0.0, rival ? break_even_of(ours, *rival) : 0.0, ours.error);
  }

  Session& session_;
  const Problem& problem_;
  const DeviceMatrix& lu_;
  TriangularOptions options_;
  std::size_t count_;
  std::size_t rows_;
  HostTriangle triangle_;
  Schedule levels_;
  std::string class_;
  std::vector<double> b_;
  std::vector<double> reference_;
  cuda::DeviceArray<double> device_b_;
  cuda::DeviceArray<double> device_x_;
  double bytes_ = 0.0;       // that a solve cannot do without: the triangle once, b and x
  double operations_ = 0.0;  // additions and multiplications
};

}  // namespace

int run_sptrsv(const Options& options) {
  Session session(options, {"problem", "triangle", "transposed", "rhs", "solver", "schedule"});
  const auto missing = [&](const Problem& problem, Triangle triangle) {
    std::vector<SolveSchedule> schedules;
    for (const SolveSchedule schedule : options.schedules) {
      const bool known = session.rows.contains({{"problem", problem.name},
                                                {"triangle", name_of(triangle)},
                                                {"transposed", options.transposed},
                                                {"rhs", options.rhs},
                                                {"solver", "TaskDAG"},
                                                {"schedule", options.name_of(schedule)}});
      if (!known) schedules.push_back(schedule);
    }
    return schedules;
  };
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) {
    const bool any = !missing(problem, Triangle::lower).empty() || !missing(problem, Triangle::upper).empty();
    if (!any) return;
    const CsrMatrix lu = make_factor(a);
    const DeviceMatrix device_lu(lu);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const std::vector<SolveSchedule> schedules = missing(problem, triangle);
      if (schedules.empty()) continue;
      TriangularOptions t;
      t.triangle = triangle;
      t.unit_diagonal = triangle == Triangle::lower;
      t.transposed = options.transposed;
      System(session, problem, lu, device_lu, t).run(schedules);
    }
  });
  return session.finish();
}

}  // namespace taskdag::benchmark
