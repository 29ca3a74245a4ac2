#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/reporter.cuh"
#include "kernels/factor/point_block/cuda/launches.hpp"
#include "kernels/factor/point_block/task.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::DeviceAtomic;
using cuda::kFullWarp;
using cuda::kWarpSize;

constexpr int kWarps = 4;

/// What a warp has in shared memory beside the row at work and a block.
struct WarpLists {
  Offset factor[kWarpSize];  ///< entries of the row that is subtracted
  Offset target[kWarpSize];  ///< where they go
  int pivot_rows[kLargestBlock];
};

/// Doubles of a warp in shared memory.
__host__ __device__ constexpr int stage_of_warp(int staged, int block_size) {
  return staged + block_size * block_size + static_cast<int>((sizeof(WarpLists) + sizeof(double) - 1) / sizeof(double));
}

/// The Worker of the task: a warp. Rows that it waits for have smaller tickets (see factor.hpp).
template <class Size>
class Warp {
 public:
  __device__ Warp(const FactorArguments& a, Size size, int lane, double* stage)
      : a_(a),
        size_(size),
        lane_(lane),
        stage_(stage),
        scratch_(stage + a.staged),
        lists_(reinterpret_cast<WarpLists*>(stage + a.staged + size.rows() * size.rows())) {}

  /// The row at work from now on.
  __device__ void take(Index i) {
    first_ = a_.offsets[i];
    const bool fits = place(size_, a_.offsets[i + 1] - first_) <= a_.staged;
    row_ = fits ? stage_ : a_.values + place(size_, first_);
  }
  /// The row is complete: puts it where others read it, and says so.
  __device__ void publish(Index i) {
    const std::int64_t count = place(size_, a_.offsets[i + 1] - first_);
    double* const to = a_.values + place(size_, first_);
    if (row_ == stage_) {
      for (std::int64_t k = lane_; k < count; k += kWarpSize) to[k] = row_[k];
    }
    __syncwarp();  // what the other lanes have stored is released with what lane 0 has
    if (lane_ == 0) DeviceAtomic<int>(a_.done[i]).store(1, ::cuda::memory_order_release);
  }
  __device__ bool row_is_finite(Index i) const {
    const std::int64_t count = place(size_, a_.offsets[i + 1] - first_);
    bool finite = true;
    for (std::int64_t k = lane_; k < count; k += kWarpSize) finite = finite && is_finite(row_[k]);
    return __all_sync(kFullWarp, finite);
  }

  __device__ Offset begin(Index) const { return first_; }
  __device__ Offset diagonal(Index i) const { return a_.diagonal[i]; }
  __device__ Offset end(Index i) const { return a_.offsets[i + 1]; }
  __device__ Index column(Offset e) const { return a_.columns[e]; }
  __device__ double* mine(Offset e) const { return row_ + place(size_, e - first_); }
  __device__ const double* finished(Offset e) const { return a_.values + place(size_, e); }
  __device__ bool row_is_symmetric() const { return a_.mirror != nullptr; }
  __device__ Offset mirror(Offset e) const { return a_.mirror[e]; }
  __device__ const double* input(Offset e) const {
    const Offset from = a_.source[e];
    return from < 0 ? nullptr : a_.input + place(size_, from);
  }
  __device__ void wait_for(Index k) const {
    if (lane_ == 0) {
      while (DeviceAtomic<int>(a_.done[k]).load(::cuda::memory_order_acquire) == 0) {
      }
    }
    __syncwarp();
  }
  __device__ double* scratch() const { return scratch_; }
  __device__ int* pivot_rows() const { return lists_->pivot_rows; }
  __device__ void sync() const { __syncwarp(); }

  template <class Body>
  __device__ void each(int count, const Body& body) const {
    for (int k = lane_; k < count; k += kWarpSize) body(k);
  }
  template <class Body>
  __device__ void each_element(Size size, const Body& body) const {
    const int n = size.rows();
    for (int k = lane_; k < n * n; k += kWarpSize) body(k % n, k / n);
  }
  template <class Body>
  __device__ void each_update(Size size, Index i, Index k, const Body& body) const {
    const int n = size.rows();
    const Offset last = a_.offsets[k + 1];
    const Offset mine_end = a_.offsets[i + 1];
    const Offset mine_begin = row_is_symmetric() ? a_.diagonal[i] : first_;
    for (Offset base = a_.diagonal[k] + 1; base < last; base += kWarpSize) {
      const Offset f = base + lane_;
      Offset target = mine_end;
      bool found = false;
      if (f < last) {
        const Index j = a_.columns[f];
        target = cuda::first_not_below(a_.columns, mine_begin, mine_end, j);
        found = target < mine_end && a_.columns[target] == j;
      }
      const unsigned hits = __ballot_sync(kFullWarp, found);
      if (found) {
        const int at = __popc(hits & ((1U << lane_) - 1U));
        lists_->factor[at] = f;
        lists_->target[at] = target;
      }
      __syncwarp();
      const int count = __popc(hits) * n * n;
      for (int m = lane_; m < count; m += kWarpSize) {
        const int update = m / (n * n);
        const int element = m % (n * n);
        body(lists_->factor[update], lists_->target[update], element % n, element / n);
      }
      __syncwarp();  // before the lists are written again
    }
  }

 private:
  const FactorArguments& a_;
  Size size_;
  int lane_;
  double* stage_;
  double* scratch_;
  WarpLists* lists_;
  Offset first_ = 0;
  double* row_ = nullptr;
};

template <class Size>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    point_block_factor_kernel(const __grid_constant__ FactorArguments a) {
  extern __shared__ double shared[];
  const Size size(a.block_size);
  const int n = size.rows();
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  Warp<Size> worker(a, size, lane, shared + warp * stage_of_warp(a.staged, n));
  const cuda::TicketCounter tickets{a.ticket};
  const Index ticket = cuda::TicketCounter::receive(tickets.request(lane));
  if (ticket >= a.rows) return;
  const Index i = a.order[ticket];
  worker.take(i);
  const Inversion found = eliminate_row(size, worker, i, a.amount);
  worker.publish(i);
  const bool finite = worker.row_is_finite(i) && found.finite;
  if (lane != 0) return;
  const elimination::Reporter reporter{a.report};
  if (found.first_zero >= 0) {
    reporter.zero_pivot(i * n + found.first_zero, 0.0);
    reporter.zero_pivot(i * n + found.last_zero, 0.0);
    return;
  }
  if (found.shifted > 0) atomicAdd(&a.report->shifted, found.shifted);
  if (!finite) reporter.non_finite(i * n);
}

}  // namespace

void launch_factor(const FactorArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  with_block_size(arguments.block_size, [&](auto size) {
    const auto kernel = point_block_factor_kernel<decltype(size)>;
    const std::size_t bytes =
        sizeof(double) * kWarps * static_cast<std::size_t>(stage_of_warp(arguments.staged, arguments.block_size));
    // The limit is the kernel's, for all factors: the same whoever asks.
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(cuda::most_shared_bytes())),
                "asking for shared memory");
    const int blocks = (arguments.rows - 1) / kWarps + 1;
    kernel<<<blocks, kWarps * kWarpSize, bytes, stream>>>(arguments);
    cuda::check_launch("point_block_factor_kernel");
  });
}

}  // namespace taskdag::kernels::point_block
