#include "kernels/factor_cuda.cuh"
#include "kernels/ic0/task.hpp"

namespace taskdag::kernels {
namespace {

struct Ic0Task {
  DevicePattern upper;
  const Offset* above_offsets;
  const Index* above_rows;
  const Offset* above_entries;

  __device__ Offset row_begin(Index i) const { return upper.row_offsets[i]; }
  __device__ Offset row_end(Index i) const { return upper.row_offsets[i + 1]; }
  __device__ Index column(Offset e) const { return upper.col_indices[e]; }
  __device__ const Index* columns() const { return upper.col_indices; }
  __device__ Offset above_begin(Index i) const { return above_offsets[i]; }
  __device__ Offset above_end(Index i) const { return above_offsets[i + 1] - 1; }  // the last one is the diagonal
  __device__ Index above_row(Offset t) const { return above_rows[t]; }
  __device__ Offset above_entry(Offset t) const { return above_entries[t]; }

  __device__ Offset pivot_rows_begin(Index i) const { return above_begin(i); }
  __device__ Offset pivot_rows_end(Index i) const { return above_end(i); }
  __device__ Index pivot_row_length(Offset t) const { return upper.row_offsets[above_rows[t] + 1] - above_entries[t]; }

  template <class Shape>
  __device__ void run(const FactorGroup& group, Index row, RowWorkspace& workspace, const PublishedFactor& published,
                      const PivotRule& rule) const {
    ic0_row<Shape::kRounds, Shape::kWidth>(group, *this, row, workspace, published, rule);
  }
};

}  // namespace

void ic0(const DevicePattern& upper, const DeviceCsr& above, const TaskList& tasks, const FactorInput& input,
         const FactorStorage& storage, const PivotRule& rule, cudaStream_t stream) {
  launch_factor(Ic0Task{upper, above.row_offsets.data(), above.col_indices.data(), above.source.data()}, tasks, input,
                storage, upper.entries, rule, stream);
}

}  // namespace taskdag::kernels
