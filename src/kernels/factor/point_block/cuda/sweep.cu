#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/factor/point_block/block.hpp"
#include "kernels/factor/point_block/cuda/launches.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::kFullWarp;
using cuda::kWarpSize;

constexpr int kWarps = 4;

/// The lanes of a row: `places` blocks side by side, a lane for each row of a block; some at the end are idle. All
/// groups of a warp run in lockstep.
struct RowLanes {
  int base;    ///< first lane of the group
  int row;     ///< of the block
  int place;   ///< which of the blocks
  int places;  ///< blocks at a time
  bool active;

  template <class Size>
  __device__ RowLanes(Size size, int lane, int lanes)
      : base(lane / lanes * lanes),
        row((lane - base) % size.rows()),
        place((lane - base) / size.rows()),
        places(lanes / size.rows()),
        active(place < places) {}

  /// Sum over the places in a fixed order; the lanes of place 0 get it.
  template <class Size>
  __device__ double sum(Size size, int lane, double value) const {
    int step = 1;
    while (step * 2 < places) step *= 2;
    for (; step > 0; step /= 2) {
      const double other = __shfl_sync(kFullWarp, value, (lane + step * size.rows()) % kWarpSize);
      if (place + step < places && place < step) value += other;
    }
    return value;
  }
};

/// This lane's row of a block (of its transpose). For sizes that the compiler knows its elements are fetched by load(),
/// so that they are on their way while the lane waits for operands; for others when they are needed.
template <bool transposed, class Size>
class BlockRow {
 public:
  /// A null block is zero.
  __device__ void load(Size size, const RowLanes& lanes, const double* block) {
    block_ = block;
    if constexpr (Size::known > 0) {
#pragma unroll
      for (int k = 0; k < Size::known; ++k) element_[k] = block != nullptr ? block[offset(size, lanes, k)] : 0.0;
    }
  }

  /// The product with a vector of which each lane of the block holds the element of its row. For the whole warp.
  __device__ double times(Size size, const RowLanes& lanes, double x) const {
    const int n = size.rows();
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < n; ++k) {
      const double other = __shfl_sync(kFullWarp, x, (lanes.base + lanes.place * n + k) % kWarpSize);
      if constexpr (Size::known > 0) {
        sum += element_[k] * other;
      } else if (block_ != nullptr) {
        sum += block_[offset(size, lanes, k)] * other;
      }
    }
    return sum;
  }

 private:
  static __device__ int offset(Size size, const RowLanes& lanes, int k) {
    return transposed ? lanes.row * size.rows() + k : k * size.rows() + lanes.row;
  }
  const double* block_ = nullptr;
  double element_[Size::known > 0 ? Size::known : 1];
};

template <bool transposed, class Size>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    point_block_sweep_kernel(const __grid_constant__ SweepArguments a) {
  const Size size(a.block_size);
  const int n = size.rows();
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const cuda::TicketCounter tickets{a.ticket};
  const cuda::Slots slots{a.slots};
  const Index ticket = cuda::TicketCounter::receive(tickets.request(lane));
  if (ticket >= a.tasks) return;
  if (ticket == 0 && lane == 0) *a.reset_ticket = 0;
  const RowLanes lanes(size, lane, a.lanes);
  const Index i = a.order[ticket * (kWarpSize / a.lanes) + lane / a.lanes];  // −1: no row for these lanes
  const bool lower = a.triangle == Triangle::lower;
  const Offset diagonal = i >= 0 ? a.rows.diagonal[i] : 0;
  const Offset begin = i < 0 ? 0 : lower ? a.rows.offsets[i] : diagonal + 1;
  const Offset end = i < 0 ? 0 : lower ? diagonal : a.rows.offsets[i + 1];
  const auto block_of = [&](Offset e) {
    return a.values + place(size, a.rows.blocks != nullptr ? a.rows.blocks[e] : e);
  };
  const bool leads = i >= 0 && lanes.active && lanes.place == 0;
  double rhs = 0.0;
  if (leads) rhs = a.rhs[static_cast<std::int64_t>(a.rhs_order != nullptr ? a.rhs_order[i] : i) * n + lanes.row];

  BlockRow<transposed, Size> inverse;
  if (a.scales) inverse.load(size, lanes, leads ? block_of(diagonal) : nullptr);
  const int rounds = __reduce_max_sync(kFullWarp, (end - begin + lanes.places - 1) / lanes.places);
  const auto entry = [&](int round) {
    const Offset e = begin + round * lanes.places + lanes.place;
    return lanes.active && e < end ? e : Offset{-1};
  };
  BlockRow<transposed, Size> next;
  Offset e = entry(0);
  next.load(size, lanes, e >= 0 ? block_of(e) : nullptr);
  double sum = 0.0;
  for (int round = 0; round < rounds; ++round) {
    const BlockRow<transposed, Size> block = next;
    const Index operand = e >= 0 ? a.rows.columns[e] * n + lanes.row : -1;
    e = round + 1 < rounds ? entry(round + 1) : -1;
    next.load(size, lanes, e >= 0 ? block_of(e) : nullptr);
    const double x = operand >= 0 ? slots.wait(operand) : 0.0;
    sum += block.times(size, lanes, x);
  }
  const double rest = rhs - lanes.sum(size, lane, sum);
  // Only the lanes of place 0 have `rest`, and only their result counts.
  const double result = a.scales ? inverse.times(size, lanes, rest) : rest;
  if (!leads) return;
  const Index mine = i * n + lanes.row;  // fits: rows of the matrix are 32-bit
  slots.publish(mine, result);
  a.reset[mine] = not_yet();
  if (a.out == nullptr) return;
  a.out[static_cast<std::int64_t>(a.out_order != nullptr ? a.out_order[i] : i) * n + lanes.row] = result;
  if (!is_finite(result)) *a.flag = 1;
}

__global__ void point_block_reset_kernel(double* slots, std::int64_t count, int* tickets) {
  const std::int64_t k = cuda::element();
  if (k < 2) tickets[k] = 0;
  if (k < count) slots[k] = not_yet();
}

}  // namespace

void launch_sweep(const SweepArguments& arguments, cudaStream_t stream) {
  if (arguments.tasks == 0) return;
  const int blocks = (arguments.tasks - 1) / kWarps + 1;
  with_block_size(arguments.block_size, [&](auto size) {
    using Size = decltype(size);
    if (arguments.transposed) {
      point_block_sweep_kernel<true, Size><<<blocks, kWarps * kWarpSize, 0, stream>>>(arguments);
    } else {
      point_block_sweep_kernel<false, Size><<<blocks, kWarps * kWarpSize, 0, stream>>>(arguments);
    }
    cuda::check_launch("point_block_sweep_kernel");
  });
}

void launch_reset(double* slots, std::int64_t count, int* tickets, cudaStream_t stream) {
  point_block_reset_kernel<<<cuda::element_blocks(count + 2), cuda::kElementBlock, 0, stream>>>(slots, count, tickets);
  cuda::check_launch("point_block_reset_kernel");
}

}  // namespace taskdag::kernels::point_block
