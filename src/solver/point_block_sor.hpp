/// \file
/// What SOR by point blocks has in common on both backends: it is SOR by rows of D⁻¹ A, with D⁻¹ b.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "kernels/sor/point_block/rows.hpp"
#include "solver/impl.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {

class PointBlockSor : public Sor::Impl {
 public:
  void multiply_upper(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  void pivots(double*, MemorySpace, Stream) const final { refuse_halves(); }
  void set_diagonal(const double*, MemorySpace, Stream) final { refuse_halves(); }
  void multiply_transformed(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  SolveOutcome outcome() final { return by_rows_->outcome(); }
  [[nodiscard]] std::vector<EngineRun> engine_runs() const final { return by_rows_->engine_runs(); }

 protected:
  explicit PointBlockSor(const SorOptions& options) : options_(options) {}

  /// Those of SOR by rows: the shift is in D.
  [[nodiscard]] SorOptions options_by_rows() const {
    SorOptions options = options_;
    options.block_size = 1;
    options.shift = 0.0;
    return options;
  }
  [[nodiscard]] static std::vector<Index> order_of_rows(std::span<const Index> order, Index n) {
    if (!order.empty()) static_cast<void>(invert_permutation(order));  // refuses what is none
    std::vector<Index> rows;
    rows.reserve(order.size() * at(n));
    for (const Index block : order) {
      for (Index r = 0; r < n; ++r) rows.push_back(block * n + r);
    }
    return rows;
  }

  /// `bytes`: held beside SOR by rows.
  void describe(Offset blocks, std::int64_t bytes) {
    info = by_rows_->info;
    info.block_size = options_.block_size;
    info.entries = checked_entries(blocks);
    info.bytes += bytes;
  }
  /// Elements of so many blocks.
  [[nodiscard]] Offset checked_entries(Offset blocks) const {
    return checked_offset(std::int64_t{blocks} * options_.block_size * options_.block_size, "SOR by point blocks");
  }

  SorOptions options_;
  std::unique_ptr<Sor::Impl> by_rows_;

 private:
  [[noreturn]] static void refuse_halves() {
    throw Unsupported("SOR by point blocks has no halves with pivots, SOR by rows has");
  }
};

}  // namespace taskdag
