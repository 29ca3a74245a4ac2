#include "kernels/factor_cuda.cuh"
#include "kernels/ilu0/task.hpp"

namespace taskdag::kernels {
namespace {

struct Ilu0Task {
  DevicePattern pattern;
  const Offset* diagonals;

  __device__ Offset row_begin(Index i) const { return pattern.row_offsets[i]; }
  __device__ Offset row_end(Index i) const { return pattern.row_offsets[i + 1]; }
  __device__ Offset diagonal(Index i) const { return diagonals[i]; }
  __device__ Index column(Offset e) const { return pattern.col_indices[e]; }
  __device__ const Index* columns() const { return pattern.col_indices; }

  __device__ Offset pivot_rows_begin(Index i) const { return pattern.row_offsets[i]; }
  __device__ Offset pivot_rows_end(Index i) const { return diagonals[i]; }
  __device__ Index pivot_row_length(Offset e) const {
    const Index k = pattern.col_indices[e];
    return pattern.row_offsets[k + 1] - diagonals[k] - 1;
  }

  template <class Shape>
  __device__ void run(const FactorGroup& group, Index row, RowWorkspace& workspace, const PublishedFactor& published,
                      const PivotRule& rule) const {
    ilu0_row<Shape::kRounds, Shape::kWidth>(group, *this, row, workspace, published, rule);
  }
};

}  // namespace

void ilu0(const DevicePattern& pattern, const Offset* diagonal, const TaskList& tasks, const FactorInput& input,
          const FactorStorage& storage, const PivotRule& rule, cudaStream_t stream) {
  launch_factor(Ilu0Task{pattern, diagonal}, tasks, input, storage, pattern.entries, rule, stream);
}

}  // namespace taskdag::kernels
