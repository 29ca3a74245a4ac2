/// \file
/// Triangular sweeps over several right-hand sides in one pass on CUDA.
///
/// Vectors lie row by row in scratch memory (n rows, stride_of(count) doubles apart), so that a warp has a lane for
/// each column and reads an entry once for all of them; where there are fewer than 32 columns, the warp's groups of
/// lanes share the row's entries. A warp runs a row. Values are handed over as in every schedule: each is its own flag
/// (docs/design.md, invariant 3), so columns do not disturb each other.
///
/// Warps take rows in level order by tickets; a row waits only for rows with smaller tickets.
///
/// A row's entries are added in the order e, e + g, e + 2g, … by g = 32 / stride groups of lanes, then over the groups
/// in a fixed tree; rows of more than kPartEntries entries part by part. So results repeat bitwise for a given
/// number of columns.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/many/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// x = T⁻¹ B for a triangle T and up to 32 columns. Asynchronous on its stream, like Sweep.
class ManySweep {
 public:
  /// `input`: as for make_sweep(); x_index is not used, results are in the order of the rows. Synchronises `stream`.
  ManySweep(const SweepInput& input, cudaStream_t stream);

  /// Makes it ready for solve(), whatever the last one has left. To be called before the first. Asynchronous.
  void reset(cudaStream_t stream);

  /// As Sweep::load_values().
  void load_values(const double* source, const double* pivot, cudaStream_t stream);

  /// One solve for `count` columns (1 to many::kMostColumns). Row i of the right-hand side is row rhs_index[i] of
  /// `in`; it is overwritten by not_yet. `out` holds not_yet beforehand, row i of the result is row i of it afterwards.
  /// Both are slots() rows, many::stride_of(count) doubles apart. Sets *non_finite to 1 as Sweep::solve() does.
  void solve(Index count, double* in, double* out, int* non_finite, cudaStream_t stream);

  /// Rows of `in` and `out`.
  [[nodiscard]] Index slots() const { return slots_; }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  Index rows_ = 0;
  Index slots_ = 0;  ///< rows and parts; places
  Index levels_ = 0;
  Offset entries_ = 0;
  cuda::DeviceArray<many::Place> place_;
  cuda::DeviceArray<Index> column_;   ///< slots of operands
  cuda::DeviceArray<Offset> source_;  ///< −1: a part's sum, whose value is 1
  cuda::DeviceArray<double> value_;
  cuda::DeviceArray<double> pivot_;  ///< by place, from the first load with pivots on
  bool unit_pivots_ = true;
  cuda::DeviceArray<Index> gate_;  ///< see pack_kernel
  cuda::DeviceArray<int> counter_;
  cuda::DeviceArray<int> spare_counter_;
};

namespace many {

/// Fills `size` doubles with not_yet. Asynchronous, like all below.
void fill_not_yet(double* slots, std::int64_t size, cudaStream_t stream);

/// to[i, k] = from[i + k · ld], divided by √scale[i] where given; rows of `to` are stride_of(count) apart.
void to_rows(Index rows, Index count, const double* from, std::int64_t ld, const double* scale, double* to,
             cudaStream_t stream);

/// to[index[i] + k · ld] = from[i, k] for index the inverse of `inverse`: entry u of a column is row inverse[u] (null:
/// u) of `from`, times √scale[u] where given.
void to_columns(Index rows, Index count, const double* from, const Index* inverse, const double* scale, double* to,
                std::int64_t ld, cudaStream_t stream);

}  // namespace many
}  // namespace taskdag::kernels
