#include <algorithm>
#include <utility>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/sptrsv/host/scheduled_sweep.hpp"
#include "solver/checks.hpp"
#include "solver/host/schedule.hpp"
#include "solver/impl.hpp"

namespace taskdag::host {

namespace {

class HostTriangular final : public TriangularSolver::Impl {
 public:
  HostTriangular(const Context& context, const CsrView& a, const TriangularOptions& options)
      : state_(context.state()), sweep_(make_sweep(context, a.pattern, options)) {
    if (!options.unit_diagonal) {
      const std::vector<Offset> by_row = diagonal_entries(a.pattern);
      const RowOrder order = sweep_.order();
      for (Index p = 0; p < order.rows(); ++p) diagonal_.push_back(by_row[static_cast<std::size_t>(order[p])]);
      inverse_pivots_.resize(diagonal_.size());
    }
    info.rows = a.pattern.rows;
    info.entries = sweep_.entries();
    const LevelCount count = sweep_.level_count();
    info.levels = count.levels;
    info.widest_level = count.widest_level;
    info.threads = sweep_.threads();
    info.schedule = sweep_.schedule();
    info.bytes = sweep_.bytes() + static_cast<std::int64_t>(diagonal_.size() * (sizeof(Offset) + sizeof(double)));
    update_values(a.values, MemorySpace::host, {});
  }

  void update_values(const double* values, MemorySpace space, Stream) override {
    require_host_memory(space);
    sweep_.load(values);
    for (std::size_t i = 0; i < diagonal_.size(); ++i) inverse_pivots_[i] = 1.0 / values[diagonal_[i]];
  }

  void solve(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx, MemorySpace space,
             Stream) override {
    require_host_memory(space);
    for (Index k = 0; k < count;) {
      const Index together = std::min(count - k, kernels::kHostColumns);
      if (together == 1) {
        solve_one(b + k * ldb, x + k * ldx);
      } else {
        solve_columns({.count = together,
                       .rhs = {.values = b + k * ldb, .stride = ldb},
                       .pivot = diagonal_.empty() ? nullptr : inverse_pivots_.data(),
                       .pivot_by_position = true,
                       .result = {.values = x + k * ldx, .stride = ldx}});
      }
      k += together;
    }
  }

  SolveOutcome outcome() override {
    return std::exchange(finite_, true) ? SolveOutcome::success : SolveOutcome::non_finite;
  }
  SolveOutcome outcome(Stream) override { return outcome(); }
  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

 private:
  void solve_one(const double* b, double* x) {
    const auto rhs = [b](Index i) { return b[i]; };
    const auto nothing = [](Index, double) {};
    const double* const inverse = inverse_pivots_.data();
    finite_ &= diagonal_.empty()
                   ? sweep_.run(
                         x, rhs, [](Index, double v) { return v; }, nothing)
                   : sweep_.run(
                         x, rhs, [inverse](Index, Index place, double v) { return v * inverse[place]; }, nothing);
  }

  void solve_columns(const kernels::ColumnPass& pass) {
    const std::size_t size =
        static_cast<std::size_t>(info.rows) * static_cast<std::size_t>(kernels::column_width(pass.count));
    if (columns_work_.size() < size) {
      const std::size_t before = columns_work_.size();
      columns_work_.resize(size);
      info.bytes += static_cast<std::int64_t>((size - before) * sizeof(double));
    }
    finite_ &= sweep_.run_columns(columns_work_.data(), pass);
  }

  static kernels::ScheduledSweep make_sweep(const Context& context, const CsrPattern& pattern,
                                            const TriangularOptions& options) {
    ThreadPool& pool = *context.state()->pool;
    const ScheduleRequest request = request_of(options, context);
    if (!options.transposed) {
      const SolveSchedule schedule = settle_host_schedule(request, pattern, options.triangle, pool);
      return {pattern, nullptr, options.triangle, pool, schedule, nullptr, request.run};
    }
    const Transposed transposed = transpose(pattern);
    const Triangle other = options.triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
    const SolveSchedule schedule = settle_host_schedule(request, transposed.view(), other, pool);
    return {transposed.view(), transposed.source_entry.data(), other, pool, schedule, nullptr, request.run};
  }

  std::shared_ptr<Context::State> state_;
  kernels::ScheduledSweep sweep_;
  std::vector<Offset> diagonal_;        // entries, by place in the sweep; empty for a unit diagonal
  std::vector<double> inverse_pivots_;  // by place
  std::vector<double> columns_work_;    // from the first solve of several columns on
  bool finite_ = true;
};

}  // namespace

std::unique_ptr<TriangularSolver::Impl> make_triangular(const Context& context, const CsrView& a,
                                                        const TriangularOptions& options) {
  return std::make_unique<HostTriangular>(context, a, options);
}

}  // namespace taskdag::host
