/// \file
/// What factorisations by point blocks have in common on both backends.
#pragma once

#include <vector>

#include "base/index.hpp"
#include "kernels/factor/point_block/pattern.hpp"
#include "kernels/factor/point_block/pivoting.hpp"
#include "kernels/factor/shift.hpp"
#include "solver/impl.hpp"

namespace taskdag {

class PointBlockFactorization : public Factorization::Impl {
 public:
  void set_pivoting(double shift_amount, double zero_pivot) final {
    options_.shift_amount = shift_amount;
    options_.zero_pivot = zero_pivot;
  }
  void solve_lower(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  void solve_upper(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  void multiply_upper(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  void pivots(double*, MemorySpace, Stream) const final { refuse_halves(); }
  void set_diagonal(const double*, MemorySpace, Stream, TransformScaling) final { refuse_halves(); }
  void multiply_transformed(const double*, double*, MemorySpace, Stream) final { refuse_halves(); }
  [[nodiscard]] std::vector<EngineRun> engine_runs() const final { return {}; }

 protected:
  explicit PointBlockFactorization(const FactorOptions& options) : options_(options) {}

  [[noreturn]] static void refuse_halves() {
    throw Unsupported("a factorisation by point blocks has no halves with pivots");
  }
  /// Before anything is done. @throws Unsupported for symmetric parts
  static void check_operation(Apply operation) {
    if (operation == Apply::symmetric_left || operation == Apply::symmetric_right) {
      throw Unsupported("a factorisation by point blocks has no symmetric parts, one by rows has");
    }
  }

  /// Blocks are complex numbers, whose pivots are checked as those of scalar rows.
  [[nodiscard]] bool is_numbers() const { return options_.complex_blocks && options_.block_size == 2; }
  [[nodiscard]] bool needs_dominance() const { return options_.shift == ShiftType::positive_definite; }

  [[nodiscard]] kernels::point_block::Pivoting pivoting(const kernels::ShiftStrategy& strategy) const {
    kernels::point_block::Pivoting result;
    result.complex_blocks = options_.complex_blocks;
    result.numbers = is_numbers();
    if (result.numbers) {
      result.rule = kernels::pivot_rule(options_);
      result.shift = strategy.amount();
      result.diagonal_only = options_.diagonal_only;
    } else if (options_.shift == ShiftType::inblocks) {
      result.amount = options_.shift_amount;
    }
    return result;
  }

  /// Of the factor's pattern.
  void take_sizes(Index rows, Offset blocks) {
    const Index n = options_.block_size;
    info.block_size = n;
    info.diagonal_only = options_.diagonal_only;
    info.rows = rows * n;
    info.entries = blocks * n * n;  // fits, see make_pattern()
  }

  /// The factor by rows of the matrix; `values`: its blocks.
  [[nodiscard]] CsrMatrix by_rows(const CsrPattern& pattern, const double* values) const {
    const Index n = options_.block_size;
    CsrMatrix result;
    result.rows = result.cols = info.rows;
    result.col_indices.reserve(at(info.entries));
    result.values.reserve(at(info.entries));
    for (Index i = 0; i < info.rows; ++i) {
      for (Offset e = pattern.row_offsets[i / n]; e < pattern.row_offsets[i / n + 1]; ++e) {
        for (Index c = 0; c < n; ++c) {
          result.col_indices.push_back(pattern.col_indices[e] * n + c);
          result.values.push_back(values[(at(e) * at(n) + at(c)) * at(n) + at(i % n)]);
        }
      }
      result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
    }
    return result;
  }

  FactorOptions options_;
};

}  // namespace taskdag
