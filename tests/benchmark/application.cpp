#include "application.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "rounded_factor.hpp"
#include "session.hpp"
#include "taskdag/block_ordering.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

constexpr int kBackToBack = 20;

/// An order of the rows, and the blocks that it makes. Empty: natural.
struct Order {
  std::vector<Index> order;
  std::shared_ptr<const RowBlocks> blocks;
};

class Applications {
 public:
  Applications(Session& session, const Problem& problem, const CsrMatrix& a)
      : session_(session),
        problem_(problem),
        device_a_(a),
        entries_(a.entries()),
        b_(random_vector(static_cast<std::size_t>(a.rows), 13)),
        device_b_(b_.size(), nullptr),
        x_(b_.size(), nullptr) {
    cuda::copy_to_device(device_b_.data(), b_.data(), b_.size(), nullptr);
    cuda::synchronize(nullptr);
  }

  void run() {
    run_order("natural", {}, SolveSchedule::automatic);
    BlockOrdering ordering = block_multicolour(session_.context, device_a_.view().pattern, MemorySpace::device);
    const Order order{std::move(ordering.order), std::make_shared<const RowBlocks>(std::move(ordering.blocks))};
    for (const SolveSchedule schedule : session_.options.schedules) run_order("taskdag_bmc", order, schedule);
  }

 private:
  void run_order(const char* name, const Order& order, SolveSchedule schedule) {
    for (const Precision precision : session_.options.precisions) measure(name, order, schedule, precision);
  }

  [[nodiscard]] double bytes(Precision precision) const {
    const double value = precision == Precision::in_single ? sizeof(float) : sizeof(double);
    const double rows = static_cast<double>(b_.size());
    return (static_cast<double>(entries_) - rows) * (value + sizeof(Index)) + rows * 3 * sizeof(double);
  }

  void measure(const char* name, const Order& order, SolveSchedule schedule, Precision precision) {
    const std::string what = problem_.name + " " + name + " " + taskdag::to_string(precision);
    Row row{{"program", "application"},
            {"problem", problem_.name},
            {"set", to_string(problem_.set)},
            {"rows", b_.size()},
            {"entries", entries_},
            {"ordering", name},
            {"schedule", taskdag::to_string(schedule)},
            {"precision", taskdag::to_string(precision)},
            {"chosen", nullptr},
            {"milliseconds", nullptr},
            {"least", nullptr},
            {"most", nullptr},
            {"repeats", nullptr},
            {"bytes_ms", nullptr},
            {"over_bytes", nullptr},
            {"error", nullptr},
            {"status", "ok"}};
    session_.step(what, row);
    try {
      FactorOptions options;
      options.zero_pivot = 0.0;
      options.schedule = schedule;
      options.precision = precision;
      options.blocks = order.blocks;
      Factorization factorization(session_.context, device_a_.view().pattern, MemorySpace::device, options, order.order,
                                  order.order);
      factorization.factor(device_a_.values.data(), MemorySpace::device);
      const Timing time = time_on_device(session_.options.timing, [&] {
        for (int k = 0; k < kBackToBack; ++k) {
          factorization.apply(Apply::full, device_b_.data(), x_.data(), MemorySpace::device);
        }
      });
      const double error =
          relative_error(cuda::fetch_array(x_.data(), b_.size(), nullptr), reference(factorization, order));
      const double each = time.median / kBackToBack;
      const double floor = bytes(factorization.info().precision) / session_.machine.bytes_per_ms;
      row["chosen"] = describe_sweeps(factorization.info());
      row["milliseconds"] = each;
      row["least"] = time.least / kBackToBack;
      row["most"] = time.most / kBackToBack;
      row["repeats"] = time.repeats;
      row["bytes_ms"] = floor;
      row["over_bytes"] = each / floor;
      row["error"] = error;
      if (error > accepted_error(0.0)) {
        row["status"] = "wrong result";
        session_.fail(what + ": wrong result");
      }
      std::printf("%-20s %-12s %-28s %.4f ms, bytes %.4f, x%.2f  error %.0e\n", problem_.name.c_str(), name,
                  row["chosen"].get<std::string>().c_str(), each, floor, each / floor, error);
    } catch (const std::exception& error) {
      if (lacks_single(error, precision)) return;
      row["status"] = error.what();
      session_.fail(what + ": " + error.what());
    }
    session_.rows.add(row);
  }

  /// The serial reference's application of the factor to b_.
  [[nodiscard]] std::vector<double> reference(const Factorization& factorization, const Order& order) const {
    const auto row_at = [&](std::size_t i) {
      return order.order.empty() ? i : static_cast<std::size_t>(order.order[i]);
    };
    std::vector<double> right(b_.size());
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = b_[row_at(i)];
    const std::vector<double> solved = reference_application(factorization, right);
    for (std::size_t i = 0; i < right.size(); ++i) right[row_at(i)] = solved[i];
    return right;
  }

  Session& session_;
  const Problem& problem_;
  DeviceMatrix device_a_;
  Offset entries_;
  std::vector<double> b_;
  cuda::DeviceArray<double> device_b_;
  cuda::DeviceArray<double> x_;
};

}  // namespace

int run_application(const Options& options) {
  Session session(options, {"problem", "ordering", "schedule", "precision"});
  session.for_each_problem(
      [&](const Problem& problem, const CsrMatrix& a) { Applications(session, problem, a).run(); });
  return session.finish();
}

}  // namespace taskdag::benchmark
