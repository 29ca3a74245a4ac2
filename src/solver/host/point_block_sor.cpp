/// \file
/// SOR by point blocks on host threads.
#include "solver/point_block_sor.hpp"

#include <vector>

#include "context/state.hpp"
#include "dag/transpose.hpp"
#include "kernels/sor/point_block/host.hpp"
#include "solver/checks.hpp"

namespace taskdag::host {

namespace {

using kernels::point_block::ScaledRows;

class HostPointBlockSor final : public PointBlockSor {
 public:
  HostPointBlockSor(const Context& context, const CsrPattern& blocks, const SorOptions& options,
                    std::span<const Index> order)
      : PointBlockSor(options),
        state_(context.state()),
        offsets_(blocks.row_offsets, blocks.row_offsets + (blocks.rows == 0 ? 0 : blocks.rows + 1)),
        diagonal_(diagonal_entries(blocks, {.blocks = true})),
        inverses_(at(checked_entries(blocks.rows))),
        rhs_(at(blocks.rows) * at(options.block_size)) {
    const ScaledRows rows{blocks.rows, blocks.row_offsets, diagonal_.data(), blocks.col_indices, options.block_size};
    static_cast<void>(checked_entries(blocks.entries()));
    const kernels::point_block::HostScaledPattern pattern = kernels::point_block::host_scaled_pattern(rows);
    const Index n = blocks.rows * options.block_size;
    by_rows_ = make_sor(context, {n, n, pattern.row_offsets.data(), pattern.col_indices.data()}, options_by_rows(),
                        order_of_rows(order, options.block_size));
    describe(blocks.entries(), static_cast<std::int64_t>(sizeof(Offset) * (offsets_.size() + diagonal_.size()) +
                                                         sizeof(double) * (inverses_.size() + rhs_.size())));
  }

  FactorStatus update_values(const double* values, MemorySpace space, Stream stream) override {
    require_host_memory(space);
    const auto count = static_cast<Index>(diagonal_.size());
    const ScaledRows rows{count, offsets_.data(), diagonal_.data(), nullptr, options_.block_size};
    std::vector<double> scaled(at(rows.entries(count == 0 ? 0 : offsets_.back())));
    const kernels::BlockFindings found = kernels::point_block::host_scale_rows(
        rows, values, options_.omega, options_.shift, *state_->pool, inverses_.data(), scaled.data());
    by_rows_->update_values(scaled.data(), space, stream);
    return kernels::status_of(found);
  }

  void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
               Stream stream) override {
    require_host_memory(space);
    kernels::point_block::host_multiply_inverses(static_cast<Index>(diagonal_.size()), options_.block_size,
                                                 inverses_.data(), b, rhs_.data(), *state_->pool);
    by_rows_->iterate(sweep, iterations, start, rhs_.data(), x, space, stream);
  }

  void check_space(MemorySpace space) const override { require_host_memory(space); }
  void refuse_capture(Stream, const char*) const override {}

 private:
  std::shared_ptr<Context::State> state_;
  std::vector<Offset> offsets_;  ///< of rows of blocks
  std::vector<Offset> diagonal_;
  std::vector<double> inverses_;
  std::vector<double> rhs_;
};

}  // namespace

std::unique_ptr<Sor::Impl> make_point_block_sor(const Context& context, const CsrPattern& blocks,
                                                const SorOptions& options, std::span<const Index> order) {
  return std::make_unique<HostPointBlockSor>(context, blocks, options, order);
}

}  // namespace taskdag::host
