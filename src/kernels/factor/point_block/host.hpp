/// \file
/// Factorisations by point blocks on host threads: a block row is a task of a thread plan.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dag/plan_executor.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/point_block/pattern.hpp"
#include "kernels/factor/point_block/pivoting.hpp"
#include "kernels/factor/state.hpp"

namespace taskdag::kernels::point_block {

/// Where a vector of the caller's has the blocks of the factor's rows; null: in the same order.
struct BlockOrder {
  const Index* order = nullptr;
  [[nodiscard]] std::int64_t begin(Index i, int n) const {
    return static_cast<std::int64_t>(order != nullptr ? order[i] : i) * n;
  }
};

/// Whether a factor is applied as it is, or transposed; blocks of complex numbers are not conjugated then.
enum class Direction { forward, transposed, complex_transposed };

class HostFactor {
 public:
  /// `block_size`: 2 to kLargestBlock. The pool must outlive the factor.
  HostFactor(Pattern pattern, int block_size, host::ThreadPool& pool);

  /// One attempt.
  void factor(const double* values, const Pivoting& pivoting, Findings& findings);

  /// x = M⁻¹ b, or M⁻ᵀ b; `in` and `out` are the orders of b and x, which may be one array.
  /// @returns whether all of x is finite
  bool apply(Direction direction, const double* b, BlockOrder in, double* x, BlockOrder out);

  [[nodiscard]] const Pattern& pattern() const { return pattern_; }
  /// Of complex numbers: |p| of the pivot of this row.
  [[nodiscard]] double pivot_magnitude(Index row) const;
  /// Blocks by entry of the pattern.
  [[nodiscard]] std::vector<double> values() const;
  [[nodiscard]] int lower_threads() const { return lower_.plan().threads(); }
  [[nodiscard]] int upper_threads() const { return upper_.plan().threads(); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  /// Rows of the transposed factor, whose blocks are those of the factor itself.
  struct TransposedSweeps {
    Transposed pattern;  ///< source_entry: where the blocks are
    std::vector<Offset> diagonal;
    PlanExecutor lower;
    PlanExecutor upper;
    TransposedSweeps(Transposed transposed, const HostFactor& of);
  };
  [[nodiscard]] PlanExecutor plan(const CsrPattern& pattern, Triangle triangle) const;

  Pattern pattern_;
  int block_size_;
  host::ThreadPool* pool_;
  std::vector<Offset> slots_;  ///< by entry: where its block is
  PlanExecutor lower_;
  PlanExecutor upper_;
  std::unique_ptr<TransposedSweeps> transposed_;  ///< from the first transposed application on
  std::unique_ptr<double[]> values_;
  std::unique_ptr<double[]> work_;           ///< by row
  std::vector<std::vector<Offset>> marks_;   ///< by thread and column: the entry there of the row at work
  std::vector<std::vector<Index>> markers_;  ///< by thread and column: the last row with an entry there
};

}  // namespace taskdag::kernels::point_block
