#include <algorithm>
#include <bit>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"
#include "kernels/factor/point_block/cuda/launches.hpp"
#include "kernels/sptrsv/analysis/levels.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// Most elements that a warp keeps in shared memory: of its row (four warps have 64 KiB of it then), and of a row that
/// it needs; and of how many of these.
constexpr int kMostStaged = 2048;
constexpr int kMostFetched = 512;
constexpr int kMostAhead = 4;

/// Most blocks of a row, and of one right of its diagonal.
struct Longest {
  Offset row;
  Offset right;
};

/// Row order[p] becomes entry p of `rows`.
__global__ void entries_in_order(Index count, const Index* order, const Offset* offsets, const Offset* diagonal,
                                 RowEntries* rows, Longest* longest) {
  const auto p = static_cast<Index>(cuda::element());
  RowEntries row{};
  if (p < count) {
    const Index i = order[p];
    row = {i, offsets[i], diagonal[i], offsets[i + 1]};
    rows[p] = row;
  }
  const bool has_row = p < count;
  const int whole = __reduce_max_sync(cuda::kFullWarp, has_row ? row.end - row.first : 0);
  const int right = __reduce_max_sync(cuda::kFullWarp, has_row ? row.end - row.diagonal - 1 : 0);
  if (threadIdx.x % cuda::kWarpSize != 0) return;
  atomicMax(&longest->row, whole);
  atomicMax(&longest->right, right);
}

}  // namespace

DeviceFactor::DeviceFactor(DeviceFactorPattern pattern, int block_size, cudaStream_t stream)
    : pattern_(std::move(pattern)),
      block_size_(block_size),
      values_(at(pattern_.blocks) * at(block_size) * at(block_size), stream),
      order_(at(pattern_.rows), stream),
      done_(at(pattern_.rows) + 1, stream),
      report_(1, stream) {
  if (pattern_.rows > 0) put_in_order(stream);
}

void DeviceFactor::put_in_order(cudaStream_t stream) {
  const Index rows = pattern_.rows;
  const DevicePattern view = pattern_.view();
  const TriangleRanges lower = find_triangle(view, Triangle::lower, stream);
  const RowLevels levels = compute_levels(view, lower, Triangle::lower, stream);
  const cuda::ScratchArray<Index> natural(at(rows), stream);
  const cuda::ScratchArray<Index> order(at(rows), stream);
  const cuda::ScratchArray<Index> sorted(at(rows), stream);
  number(rows, natural.data(), stream);
  cuda::sort_pairs(levels.level.data(), sorted.data(), natural.data(), order.data(), rows,
                   static_cast<int>(std::bit_width(static_cast<unsigned>(levels.levels))), stream);
  const cuda::ScratchArray<Longest> most(1, stream);
  cuda::check(cudaMemsetAsync(most.data(), 0, sizeof(Longest), stream), "clearing the longest row");
  entries_in_order<<<cuda::element_blocks(rows), cuda::kElementBlock, 0, stream>>>(
      rows, order.data(), pattern_.offsets.data(), pattern_.diagonal.data(), order_.data(), most.data());
  cuda::check_launch("entries_in_order");
  const Longest longest = cuda::fetch(most.data(), stream);
  const int block = block_size_ * block_size_;
  staged_ = static_cast<int>(std::min<std::int64_t>(std::int64_t{longest.row} * block, kMostStaged));
  const std::int64_t before = pattern_.symmetric() ? 2 : 1;
  const std::int64_t wanted = std::min<std::int64_t>((before + longest.right) * block, kMostFetched / block * block);
  fetched_ = wanted >= before * block ? static_cast<int>(wanted) : 0;
  ahead_ = std::clamp(2 * kMostFetched / std::max(fetched_, 1), 1, kMostAhead);
}

FactorReport DeviceFactor::factor(const double* values, const Pivoting& pivoting, cudaStream_t stream) {
  const FactorReport nothing;
  cuda::copy_to_device(report_.data(), &nothing, 1, stream);
  cuda::check(cudaMemsetAsync(done_.data(), 0, done_.size() * sizeof(int), stream), "clearing flags");
  launch_factor(
      {pattern_.rows, block_size_, staged_, fetched_, ahead_, pattern_.offsets.data(), pattern_.columns.data(),
       pattern_.diagonal.data(), pattern_.source.data(), pattern_.mirror.data(), order_.data(), values, values_.data(),
       done_.data(), done_.data() + pattern_.rows, report_.data(), pivoting},
      stream);
  return cuda::fetch(report_.data(), stream);
}

std::int64_t DeviceFactor::bytes() const {
  return pattern_.bytes() + order_.bytes() + values_.bytes() + done_.bytes() + report_.bytes();
}

}  // namespace taskdag::kernels::point_block
