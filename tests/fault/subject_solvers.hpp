/// \file
/// What makes the solvers of fault/subject.hpp, by what they are.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "fault/subject.hpp"

namespace taskdag::test {

/// Rows and columns of a point block.
inline constexpr Index kPointBlock = 2;

/// The matrix in the order in which it is worked on: `blocks` renumbers it.
class Ordered {
 public:
  Ordered(CsrMatrix matrix, SolveSchedule schedule);
  [[nodiscard]] const CsrMatrix& matrix() const { return a_; }
  [[nodiscard]] const std::vector<Index>& order() const { return order_; }
  [[nodiscard]] std::shared_ptr<const RowBlocks> blocks() const { return blocks_; }
  /// solve(matrix, right-hand side), both in this order, for other values; the result is in the matrix' own order.
  template <class Solve>
  [[nodiscard]] std::vector<double> solved(const std::vector<double>& values, const std::vector<double>& b,
                                           const Solve& solve) const {
    return back(solve(permuted_with(values), forth(b)));
  }

 private:
  [[nodiscard]] CsrMatrix permuted_with(const std::vector<double>& values) const;
  [[nodiscard]] std::vector<double> forth(const std::vector<double>& b) const;
  [[nodiscard]] std::vector<double> back(const std::vector<double>& y) const;
  CsrMatrix a_;
  std::vector<Index> order_;
  std::shared_ptr<const RowBlocks> blocks_;
};

/// The entries, or dense blocks of so many rows, for which keep(row, column) holds: an iteration from zero does not
/// look at all of them, and a reference that does multiplies by zero what may be no number.
template <class Keep>
CsrMatrix only(const CsrMatrix& a, Index block_size, const Keep& keep) {
  const auto elements = static_cast<std::ptrdiff_t>(block_size) * block_size;
  CsrMatrix kept{a.rows, a.cols, {0}, {}, {}};
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const Index column = a.col_indices[static_cast<std::size_t>(e)];
      if (!keep(i, column)) continue;
      kept.col_indices.push_back(column);
      const auto first = a.values.begin() + e * elements;
      kept.values.insert(kept.values.end(), first, first + elements);
    }
    kept.row_offsets.push_back(static_cast<Offset>(kept.col_indices.size()));
  }
  return kept;
}

std::unique_ptr<Solver> make_triangle(const Context& context, SolveSchedule schedule, const CsrMatrix& a,
                                      Stream stream);
/// block_size: 1, or kPointBlock.
std::unique_ptr<Solver> make_factor(const Context& context, SolveSchedule schedule, Index block_size,
                                    const CsrMatrix& a, Stream stream);
std::unique_ptr<Solver> make_sor(const Context& context, SolveSchedule schedule, Index block_size, const CsrMatrix& a,
                                 Stream stream);
std::unique_ptr<Solver> make_jacobi(const Context& context, const CsrMatrix& a, Stream stream);
std::unique_ptr<Solver> make_block_jacobi(const Context& context, const CsrMatrix& a, Stream stream);

}  // namespace taskdag::test
