#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/one_block/run.hpp"

namespace taskdag::kernels::one_block {
namespace {

struct Arguments {
  const Step* steps;
  int count;
  const Index* row;
  const Index* column;
  const double* value;
  const double* pivot;  ///< null: all 1
  Index rows;
  Vectors vectors;
  double* work;  ///< the vector, where it is not in shared memory
  int* non_finite;
};

/// What a thread reads for a step before the steps before it are done.
struct Fetched {
  Index row = -1;
  double pivot = 1.0;
  Index column[kAhead] = {-1, -1, -1, -1};
  double value[kAhead] = {};
};

__device__ int entries_of(const Step& step) { return static_cast<int>(step.shape & Step::kEntriesMask); }
__device__ int lanes_log_of(const Step& step) { return static_cast<int>(step.shape >> 27 & 7U); }
__device__ Barrier barrier_of(const Step& step) { return static_cast<Barrier>(step.shape >> 30); }

__device__ Step step_at(const Arguments& a, int s) {
  Step step{};
  if (s < a.count) {
    const int4 words = __ldg(reinterpret_cast<const int4*>(a.steps + s));
    step.first_entry = words.x;
    step.first_row = words.y;
    step.rows = static_cast<std::uint16_t>(words.z & 0xFFFF);
    step.width = static_cast<std::uint16_t>(static_cast<unsigned>(words.z) >> 16);
    step.shape = static_cast<unsigned>(words.w);
  }
  return step;
}

__device__ Fetched fetch(const Arguments& a, const Step& step) {
  Fetched fetched;
  const int thread = static_cast<int>(threadIdx.x);
  const int width = step.width;
  if (thread >= width) return fetched;
  const int place = thread >> lanes_log_of(step);
  if (place < step.rows) {
    fetched.row = __ldg(a.row + step.first_row + place);
    if (a.pivot != nullptr) fetched.pivot = __ldg(a.pivot + step.first_row + place);
  }
  const int entries = entries_of(step);
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
    if (k >= entries) continue;
    const Offset e = step.first_entry + k * width + thread;
    fetched.column[k] = __ldg(a.column + e);
    fetched.value[k] = __ldg(a.value + e);
  }
  return fetched;
}

/// A thread's part of a step.
__device__ void work_on(const Arguments& a, const Step& step, const Fetched& fetched, double* x) {
  const int thread = static_cast<int>(threadIdx.x);
  const int width = step.width;
  if (thread >= width) return;  // whole warps
  double sum = 0.0;
#pragma unroll
  for (int k = 0; k < kAhead; ++k) {
    if (fetched.column[k] >= 0) sum += fetched.value[k] * x[fetched.column[k]];
  }
  const int entries = entries_of(step);
#pragma unroll 4
  for (int k = kAhead; k < entries; ++k) {
    const Offset e = step.first_entry + k * width + thread;
    const Index column = __ldg(a.column + e);
    if (column >= 0) sum += __ldg(a.value + e) * x[column];
  }
  const int lanes = 1 << lanes_log_of(step);
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(cuda::kFullWarp, sum, distance);
  }
  if (fetched.row >= 0 && (thread & (lanes - 1)) == 0) x[fetched.row] = (x[fetched.row] - sum) * fetched.pivot;
}

__device__ void wait_after(const Step& step) {
  switch (barrier_of(step)) {
    case Barrier::none:
      break;
    case Barrier::warp:
      if (threadIdx.x < kWarp) __syncwarp();
      break;
    case Barrier::block:
      __syncthreads();
  }
}

/// Steps one after the other. What they read of the plan is on its way some steps before. Each has its place in a ring
/// of registers: values that move from one to another would be waited for there.
__device__ void run_steps(const Arguments& a, double* x) {
  constexpr int kSteps = 8;
  constexpr int kFetched = 4;
  Step steps[kSteps];
  Fetched fetched[kFetched];
#pragma unroll
  for (int k = 0; k < kSteps; ++k) steps[k] = step_at(a, k);
#pragma unroll
  for (int k = 0; k + 1 < kFetched; ++k) fetched[k] = fetch(a, steps[k]);
  for (int s = 0; s < a.count; s += kSteps) {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {  // beyond the last one they are empty
      fetched[(k + kFetched - 1) % kFetched] = fetch(a, steps[(k + kFetched - 1) % kSteps]);
      work_on(a, steps[k], fetched[k % kFetched], x);
      wait_after(steps[k]);
      steps[k] = step_at(a, s + k + kSteps);
    }
  }
}

template <bool InShared>
__global__ void __launch_bounds__(kMostThreads) run_kernel(const Arguments a) {
  extern __shared__ double shared[];
  const std::int64_t column = blockIdx.x;
  double* const x = InShared ? shared : a.work;
  const double* const rhs = a.vectors.rhs + column * a.vectors.ld_rhs;
  double* const result = a.vectors.x + column * a.vectors.ld_x;
  const Index* const from = a.vectors.rhs_index;
  const Index* const to = a.vectors.x_index;
#pragma unroll 4
  for (Index i = static_cast<Index>(threadIdx.x); i < a.rows; i += static_cast<Index>(blockDim.x)) {
    x[i] = rhs[from != nullptr ? from[i] : i];
  }
  __syncthreads();
  run_steps(a, x);
  __syncthreads();
  bool finite = true;
#pragma unroll 4
  for (Index i = static_cast<Index>(threadIdx.x); i < a.rows; i += static_cast<Index>(blockDim.x)) {
    const double value = x[i];
    finite = finite && isfinite(value);
    result[to != nullptr ? to[i] : i] = value;
  }
  if (!finite) *a.non_finite = 1;
}

}  // namespace

Program::Program(const Plan& plan, Index rows, cudaStream_t stream)
    : rows_(rows),
      threads_(plan.threads),
      shared_(static_cast<std::size_t>(rows) * sizeof(double) <= cuda::most_shared_bytes()),
      entries_(static_cast<std::int64_t>(plan.column.size())),
      places_(static_cast<std::int64_t>(plan.row.size())),
      step_count_(static_cast<int>(plan.steps.size())),
      steps_(plan.steps.size(), stream),
      row_(plan.row.size(), stream),
      column_(plan.column.size(), stream),
      values_(plan.column.size() + plan.row.size(), stream),
      work_(shared_ ? 0 : static_cast<std::size_t>(rows), stream) {
  cuda::copy_to_device(steps_.data(), plan.steps.data(), plan.steps.size(), stream);
  cuda::copy_to_device(row_.data(), plan.row.data(), plan.row.size(), stream);
  cuda::copy_to_device(column_.data(), plan.column.data(), plan.column.size(), stream);
  if (shared_ && rows > 0) {
    cuda::check(cudaFuncSetAttribute(run_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(static_cast<std::size_t>(rows) * sizeof(double))),
                "asking for shared memory");
  }
  cuda::synchronize(stream);
}

void Program::run(const Vectors& vectors, bool unit_pivots, int* non_finite, cudaStream_t stream) {
  if (rows_ == 0) return;
  Arguments arguments{
      steps_.data(), step_count_, row_.data(),  column_.data(), values(), unit_pivots ? nullptr : pivots(),
      rows_,         vectors,     work_.data(), non_finite};
  const auto threads = static_cast<unsigned>(threads_);
  if (shared_) {
    const auto blocks = static_cast<unsigned>(vectors.columns);
    run_kernel<true><<<blocks, threads, static_cast<std::size_t>(rows_) * sizeof(double), stream>>>(arguments);
    cuda::check_launch("run_kernel");
    return;
  }
  for (int k = 0; k < vectors.columns; ++k) {  // they share work_
    run_kernel<false><<<1, threads, 0, stream>>>(arguments);
    cuda::check_launch("run_kernel");
    arguments.vectors.rhs += vectors.ld_rhs;
    arguments.vectors.x += vectors.ld_x;
  }
}

std::int64_t Program::bytes() const {
  return steps_.bytes() + row_.bytes() + column_.bytes() + values_.bytes() + work_.bytes();
}

}  // namespace taskdag::kernels::one_block
