#include "sor.hpp"

#include <cstdio>
#include <memory>
#include <optional>

#include "reference/sor.hpp"
#include "session.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/sor.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

/// One iteration as it is measured.
struct Iteration {
  const char* what;
  SorSweep sweep;
  SorStart start;
};
constexpr Iteration kIterations[] = {{"symmetric", SorSweep::symmetric, SorStart::zero},
                                     {"forward", SorSweep::forward, SorStart::zero},
                                     {"symmetric from x", SorSweep::symmetric, SorStart::given}};

class Sweeps {
 public:
  Sweeps(Session& session, const Problem& problem, const CsrMatrix& a)
      : session_(session),
        problem_(problem),
        a_(a),
        device_a_(a),
        b_(random_vector(static_cast<std::size_t>(a.rows), 7)),
        x_(random_vector(b_.size(), 8)),
        device_b_(b_.size(), nullptr),
        device_x_(b_.size(), nullptr) {
    cuda::copy_to_device(device_b_.data(), b_.data(), b_.size(), nullptr);
  }

  void run() {
    measure_rivals();
    for (const SolveSchedule schedule : session_.options.schedules) {
      if (schedule != SolveSchedule::blocks) run_ours(schedule, nullptr);
    }
    session_.step(problem_.name + " block_multicolour", row_of("", "TaskDAG", "", "taskdag_bmc"));
    const BlockOrdering coloured = block_multicolour(session_.context, device_a_.view().pattern, MemorySpace::device);
    run_ours(SolveSchedule::blocks, &coloured);
  }

 private:
  [[nodiscard]] Row row_of(const char* what, const std::string& solver, const std::string& schedule,
                           const std::string& order) const {
    return {{"program", "sor"},          {"problem", problem_.name},   {"set", to_string(problem_.set)},
            {"rows", a_.rows},           {"entries", a_.entries()},    {"what", what},
            {"solver", solver},          {"schedule", schedule},       {"order", order},
            {"chosen", nullptr},         {"milliseconds", nullptr},    {"least", nullptr},
            {"most", nullptr},           {"repeats", nullptr},         {"set_up_ms", nullptr},
            {"values_ms", nullptr},      {"error", nullptr},           {"status", "ok"},
            {"against_solves", nullptr}, {"against_products", nullptr}};
  }

  static void fill(Row& row, const Timing& time) {
    row["milliseconds"] = time.median;
    row["least"] = time.least;
    row["most"] = time.most;
    row["repeats"] = time.repeats;
  }

  /// Two solves, that move as much as a symmetric iteration, and a product.
  void measure_rivals() {
    const TriangularOptions lower{.triangle = Triangle::lower};
    const TriangularOptions upper{.triangle = Triangle::upper};
    const cuda::DeviceArray<double> between(b_.size(), nullptr);
    Row row = row_of("two solves", "cuSPARSE", "", "natural");
    session_.step(problem_.name + " two solves", row);
    CusparseSolve first(session_.cusparse, device_a_, lower, device_b_.data(), between.data(), 1);
    CusparseSolve second(session_.cusparse, device_a_, upper, between.data(), device_x_.data(), 1);
    const Timing solves = time_on_device(session_.options.timing, [&] {
      first.solve();
      second.solve();
    });
    const std::vector<double> expected = reference_solutions(a_, upper, reference_solutions(a_, lower, b_));
    rival_error_ = relative_error(cuda::fetch_array(device_x_.data(), b_.size(), nullptr), expected);
    solves_ = solves.median;
    fill(row, solves);
    row["error"] = rival_error_;
    session_.rows.add(row);
    SpMV spmv(session_.cusparse, device_a_, device_b_.data(), device_x_.data());
    const Timing product = time_on_device(session_.options.timing, [&] { spmv.multiply(); });
    product_ = product.median;
    row = row_of("product", "cuSPARSE", "", "natural");
    fill(row, product);
    session_.rows.add(row);
    std::printf("%-26s rows %d entries %d | two solves %.4f ms, product %.4f ms\n", problem_.name.c_str(), a_.rows,
                a_.entries(), solves_, product_);
  }

  /// The loop over the rows, in the order of the sweep.
  [[nodiscard]] std::vector<double> expected(const Iteration& iteration, const SorOptions& options,
                                             const BlockOrdering* order) const {
    const std::vector<double> x = iteration.start == SorStart::zero ? std::vector<double>(b_.size(), 0.0) : x_;
    if (order == nullptr) return kernels::reference_sor(a_.view(), options, iteration.sweep, 1, b_, x);
    // The host's, which its tests hold against that loop.
    const Context host = Context::create({.backend = Backend::host});
    Sor sor(host, a_.pattern(), MemorySpace::host, {.omega = options.omega}, order->order);
    sor.update_values(a_.values.data(), MemorySpace::host);
    std::vector<double> result = x;
    sor.iterate(iteration.sweep, 1, iteration.start, b_.data(), result.data(), MemorySpace::host);
    return result;
  }

  void run_ours(SolveSchedule schedule, const BlockOrdering* order) {
    const std::string order_name = order == nullptr ? "natural" : "taskdag_bmc";
    const std::string name = session_.options.name_of(schedule);
    session_.step(problem_.name + " " + name, row_of("", "TaskDAG", name, order_name));
    SorOptions options{.schedule = schedule, .run = session_.options.run};
    if (order != nullptr) options.blocks = std::make_shared<const RowBlocks>(order->blocks);
    try {
      std::unique_ptr<Sor> sor;
      const std::span<const Index> rows = order == nullptr ? std::span<const Index>() : order->order;
      const double set_up = wall_ms([&] {
        sor = std::make_unique<Sor>(session_.context, device_a_.view().pattern, MemorySpace::device, options, rows);
      });
      const auto load = [&] { sor->update_values(device_a_.values.data(), MemorySpace::device); };
      load();
      const double values = wall_ms(load);
      for (const Iteration& iteration : kIterations) {
        Row row = row_of(iteration.what, "TaskDAG", name, order_name);
        row["set_up_ms"] = set_up;
        row["values_ms"] = values;
        measure(iteration, *sor, expected(iteration, options, order), row);
      }
    } catch (const std::exception& error) {
      session_.fail(problem_.name + " " + name + ": " + error.what());
    }
  }

  void measure(const Iteration& iteration, Sor& sor, const std::vector<double>& expected, Row& row) {
    cuda::copy_to_device(device_x_.data(), x_.data(), x_.size(), nullptr);
    const auto iterate = [&] {
      sor.iterate(iteration.sweep, 1, iteration.start, device_b_.data(), device_x_.data(), MemorySpace::device);
    };
    iterate();
    const double error = relative_error(cuda::fetch_array(device_x_.data(), b_.size(), nullptr), expected);
    const Timing time = time_on_device(session_.options.timing, iterate);
    fill(row, time);
    row["chosen"] = std::string(to_string(sor.info().lower_schedule)) + "+" + to_string(sor.info().upper_schedule);
    row["error"] = error;
    row["against_solves"] = solves_ / time.median;
    row["against_products"] = 2.0 * product_ / time.median;
    const std::string name =
        std::string(iteration.what) + " " + row["order"].get<std::string>() + " " + row["schedule"].get<std::string>();
    if (error <= accepted_error(rival_error_)) {
      session_.ratios.add(name, problem_, solves_ / time.median);
      session_.ratios.add(name + ", to two products", problem_, 2.0 * product_ / time.median);
    } else {
      row["status"] = "wrong result";
      session_.fail(problem_.name + " " + name + ": wrong result");
    }
    session_.rows.add(row);
    std::printf("%-26s %-16s %-11s %-22s %.4f ms | solves x%.2f, products x%.2f | error %.0e\n", problem_.name.c_str(),
                iteration.what, row["order"].get<std::string>().c_str(), row["chosen"].get<std::string>().c_str(),
                time.median, solves_ / time.median, 2.0 * product_ / time.median, error);
  }

  Session& session_;
  const Problem& problem_;
  const CsrMatrix& a_;
  DeviceMatrix device_a_;
  std::vector<double> b_;
  std::vector<double> x_;
  cuda::DeviceArray<double> device_b_;
  cuda::DeviceArray<double> device_x_;
  double solves_ = 0.0;   ///< milliseconds
  double product_ = 0.0;  ///< milliseconds
  double rival_error_ = 0.0;
};

}  // namespace

int run_sor(const Options& options) {
  Session session(options, {"problem", "what", "solver", "schedule", "order"});
  session.for_each_problem([&](const Problem& problem, const CsrMatrix& a) { Sweeps(session, problem, a).run(); });
  return session.finish();
}

}  // namespace taskdag::benchmark
