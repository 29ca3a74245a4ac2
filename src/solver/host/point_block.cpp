/// \file
/// Factorisations by point blocks on host threads.
#include "solver/point_block.hpp"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "context/state.hpp"
#include "dag/levels.hpp"
#include "kernels/factor/growth.hpp"
#include "kernels/factor/point_block/host.hpp"
#include "solver/checks.hpp"
#include "solver/host/dominance.hpp"

namespace taskdag::host {

namespace {

using kernels::point_block::BlockOrder;
using kernels::point_block::Direction;
using kernels::point_block::HostFactor;

class HostPointBlockFactorization final : public PointBlockFactorization {
 public:
  HostPointBlockFactorization(const Context& context, const CsrPattern& blocks, const FactorOptions& options,
                              std::span<const Index> row_order, std::span<const Index> col_order)
      : PointBlockFactorization(options),
        state_(context.state()),
        row_order_(row_order.begin(), row_order.end()),
        col_order_(col_order.begin(), col_order.end()),
        factor_(kernels::point_block::make_pattern(blocks, row_order, col_order, options, *state_->pool),
                options.block_size, *state_->pool) {
    if (needs_dominance()) dominance_ = std::make_unique<Dominance>(blocks, true);
    const kernels::point_block::Pattern& pattern = factor_.pattern();
    take_sizes(pattern.rows, static_cast<Offset>(pattern.columns.size()));
    info.lower_levels = count_levels(pattern.view(), Triangle::lower).levels;
    info.upper_levels = count_levels(pattern.view(), Triangle::upper).levels;
    info.lower_threads = factor_.lower_threads();
    info.upper_threads = factor_.upper_threads();
    count_bytes();
  }

  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

  FactorStatus factor(const double* values, MemorySpace, Stream) override {
    kernels::ShiftStrategy strategy(options_, dominance_ ? (*dominance_)(values) : 0.0);
    do {
      factor_.factor(values, pivoting(strategy), findings_);
    } while (strategy.again(findings_.any_zero()));
    FactorStatus status =
        findings_.status([this](Index i) { return is_numbers() ? factor_.pivot_magnitude(i / 2) : 0.0; });
    status.shift_amount = strategy.amount();
    status.shifts += strategy.shifts();
    return status;
  }

  void apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
             MemorySpace space, Stream) override {
    require_host_memory(space);
    check_operation(operation);
    for (Index k = 0; k < count; ++k) apply_one(direction_of(operation), b + k * ldb, x + k * ldx);
  }

  double growth(const double* values, MemorySpace space, Stream) override {
    require_host_memory(space);
    const std::size_t rows = at(info.rows);
    const Index n = options_.block_size;
    const kernels::point_block::Pattern& pattern = factor_.pattern();
    std::vector<double> weights(rows, 1.0);
    if (values != nullptr) {
      for (std::size_t i = 0; i < rows; ++i) {
        const std::size_t block = at(pattern.source[at(pattern.diagonal[i / at(n)])]);
        weights[i] = kernels::growth_weight(kernels::point_block::diagonal_size(
            values + block * at(n) * at(n), n, static_cast<int>(i % at(n)), options_.complex_blocks));
      }
    }
    std::vector<double> b(rows);
    std::vector<double> x(rows);
    const auto element = [n](BlockOrder order, std::size_t i) {
      return static_cast<std::size_t>(order.begin(static_cast<Index>(i) / n, n)) + i % at(n);
    };
    for (std::size_t i = 0; i < rows; ++i)
      b[element(in(), i)] = weights[i] * kernels::growth_element(static_cast<Index>(i));
    finite_ &= factor_.apply(Direction::forward, b.data(), in(), x.data(), out());
    double largest = 0.0;
    for (std::size_t i = 0; i < rows; ++i) {
      largest = std::max(largest, kernels::weighted_size(weights[i], x[element(out(), i)]));
    }
    return largest;
  }

  SolveOutcome outcome() override {
    const bool finite = finite_;
    finite_ = true;
    return finite ? SolveOutcome::success : SolveOutcome::non_finite;
  }
  SolveOutcome outcome(Stream) override { return outcome(); }

  [[nodiscard]] CsrMatrix copy_factor() const override {
    return by_rows(factor_.pattern().view(), factor_.values().data());
  }

 private:
  static BlockOrder order_of(const std::vector<Index>& order) { return {order.empty() ? nullptr : order.data()}; }
  [[nodiscard]] BlockOrder in() const { return order_of(row_order_); }
  [[nodiscard]] BlockOrder out() const { return order_of(col_order_); }

  [[nodiscard]] Direction direction_of(Apply operation) const {
    if (operation != Apply::transposed) return Direction::forward;
    return options_.complex_blocks ? Direction::complex_transposed : Direction::transposed;
  }
  void apply_one(Direction direction, const double* b, double* x) {
    const bool transposed = direction != Direction::forward;
    finite_ &= factor_.apply(direction, b, transposed ? out() : in(), x, transposed ? in() : out());
    if (transposed) count_bytes();
  }

  void count_bytes() {
    info.bytes = factor_.bytes() + static_cast<std::int64_t>(sizeof(Index) * (row_order_.size() + col_order_.size()));
  }

  std::shared_ptr<Context::State> state_;
  std::vector<Index> row_order_;
  std::vector<Index> col_order_;
  HostFactor factor_;
  std::unique_ptr<Dominance> dominance_;  ///< null: not needed
  kernels::Findings findings_;
  bool finite_ = true;
};

}  // namespace

std::unique_ptr<Factorization::Impl> make_point_block_factorization(const Context& context, const CsrPattern& blocks,
                                                                    const FactorOptions& options,
                                                                    std::span<const Index> row_order,
                                                                    std::span<const Index> col_order) {
  return std::make_unique<HostPointBlockFactorization>(context, blocks, options, row_order, col_order);
}

}  // namespace taskdag::host
