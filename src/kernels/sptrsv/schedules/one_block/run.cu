#include <algorithm>
#include <cstddef>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/one_block/run.hpp"

namespace taskdag::kernels::one_block {
namespace {

struct Arguments {
  const Step* steps;
  int count;
  const Index* row;
  const int4* column;    ///< a record each
  const double2* value;  ///< two a record
  const double* pivot;   ///< null: all 1
  Index rows;
  Vectors vectors;
  double* work;  ///< the vector, where it is not in shared memory
  int* non_finite;
};

/// A step as it lies in memory. It is taken apart where it is used: any sooner, and its load would be waited for there.
struct StepWords {
  int4 words;
  __device__ int first_record() const { return words.x; }
  __device__ int first_row() const { return words.y; }
  __device__ int width() const { return words.z & 0xFFFF; }
  __device__ int lanes_log() const { return words.z >> 16 & 0xFF; }
  __device__ Barrier barrier() const { return static_cast<Barrier>(words.z >> 24 & 0xFF); }
  __device__ int records() const { return words.w; }
};
static_assert(offsetof(Step, width) == 8 && offsetof(Step, lanes_log) == 10 && offsetof(Step, barrier) == 11 &&
              offsetof(Step, records) == 12);

/// What a thread reads for a step before the steps before it are done.
struct Fetched {
  int row;
  double pivot;
  int4 column;
  double2 first;
  double2 second;
};

// Loads that may be left out, without a branch: what is loaded on either side of one would be waited for where they
// meet.
__device__ void load_if(bool wanted, const int* from, int& to) {
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n @p ld.global.nc.s32 %0, [%2];\n}"
               : "+r"(to)
               : "r"(static_cast<int>(wanted)), "l"(from));
}
__device__ void load_if(bool wanted, const double* from, double& to) {
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %1, 0;\n @p ld.global.nc.f64 %0, [%2];\n}"
               : "+d"(to)
               : "r"(static_cast<int>(wanted)), "l"(from));
}
__device__ void load_if(bool wanted, const int4* from, int4& to) {
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %4, 0;\n @p ld.global.nc.v4.s32 {%0, %1, %2, %3}, [%5];\n}"
               : "+r"(to.x), "+r"(to.y), "+r"(to.z), "+r"(to.w)
               : "r"(static_cast<int>(wanted)), "l"(from));
}
__device__ void load_if(bool wanted, const double2* from, double2& to) {
  asm volatile("{\n .reg .pred p;\n setp.ne.s32 p, %2, 0;\n @p ld.global.nc.v2.f64 {%0, %1}, [%3];\n}"
               : "+d"(to.x), "+d"(to.y)
               : "r"(static_cast<int>(wanted)), "l"(from));
}

/// Beyond the last one: what follows the steps, which are empty.
__device__ StepWords step_at(const Arguments& a, int s) {
  return {__ldg(reinterpret_cast<const int4*>(a.steps) + min(s, a.count))};
}

__device__ void fetch(const Arguments& a, const StepWords& step, Fetched& fetched) {
  const int thread = static_cast<int>(threadIdx.x);
  const bool mine = thread < step.width();
  const int place = step.first_row() + (thread >> step.lanes_log());
  load_if(mine, a.row + place, fetched.row);
  load_if(mine && a.pivot != nullptr, a.pivot + place, fetched.pivot);
  const bool has_record = mine && step.records() > 0;
  const int record = step.first_record() + thread;
  load_if(has_record, a.column + record, fetched.column);
  load_if(has_record, a.value + 2 * record, fetched.first);
  load_if(has_record, a.value + 2 * record + 1, fetched.second);
}

__device__ double& element_of(double* x, Index bytes) {
  return *reinterpret_cast<double*>(reinterpret_cast<char*>(x) + bytes);
}

__device__ double sum_of(const int4& column, const double2& first, const double2& second, double* x) {
  double sum = first.x * element_of(x, column.x);
  sum += first.y * element_of(x, column.y);
  sum += second.x * element_of(x, column.z);
  sum += second.y * element_of(x, column.w);
  return sum;
}

/// A thread's share of a step. Padding adds 0 · 0, and writes the 0 that is there.
__device__ void work_on(const Arguments& a, const StepWords& step, const Fetched& fetched, double* x) {
  const int thread = static_cast<int>(threadIdx.x);
  if (thread >= step.width()) return;  // whole warps
  double sum = 0.0;
  if (step.records() > 0) sum = sum_of(fetched.column, fetched.first, fetched.second, x);
  for (int k = 1; k < step.records(); ++k) {
    const int record = step.first_record() + k * step.width() + thread;
    sum += sum_of(__ldg(a.column + record), __ldg(a.value + 2 * record), __ldg(a.value + 2 * record + 1), x);
  }
  const int lanes = 1 << step.lanes_log();
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(cuda::kFullWarp, sum, distance);
  }
  if ((thread & (lanes - 1)) != 0) return;
  double& mine = element_of(x, fetched.row);
  mine = (mine - sum) * fetched.pivot;
}

__device__ void wait_after(const StepWords& step) {
  switch (step.barrier()) {
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
  StepWords steps[kSteps];
  Fetched fetched[kFetched];
#pragma unroll
  for (int k = 0; k < kSteps; ++k) steps[k] = step_at(a, k);
#pragma unroll
  for (int k = 0; k < kFetched; ++k) fetched[k] = {0, 1.0, {}, {}, {}};
#pragma unroll
  for (int k = 0; k + 1 < kFetched; ++k) fetch(a, steps[k], fetched[k]);
  for (int s = 0; s < a.count; s += kSteps) {
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      fetch(a, steps[(k + kFetched - 1) % kSteps], fetched[(k + kFetched - 1) % kFetched]);
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
  if (threadIdx.x == 0) x[a.rows] = 0.0;  // padding
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

/// With the element for padding.
std::size_t bytes_of_vector(Index rows) { return (static_cast<std::size_t>(rows) + 1) * sizeof(double); }

}  // namespace

Program::Program(const Plan& plan, Index rows, cudaStream_t stream)
    : rows_(rows),
      threads_(plan.threads),
      shared_(bytes_of_vector(rows) <= cuda::most_shared_bytes()),
      entries_(static_cast<std::int64_t>(plan.column.size())),
      places_(static_cast<std::int64_t>(plan.row.size())),
      step_count_(static_cast<int>(plan.steps.size())),
      steps_(plan.steps.size() + 1, stream),
      row_(plan.row.size(), stream),
      column_(plan.column.size(), stream),
      values_(plan.column.size() + plan.row.size(), stream),
      work_(shared_ ? 0 : static_cast<std::size_t>(rows) + 1, stream) {
  cuda::copy_to_device(steps_.data(), plan.steps.data(), plan.steps.size(), stream);
  cuda::check(cudaMemsetAsync(steps_.data() + plan.steps.size(), 0, sizeof(Step), stream), "adding an empty step");
  const auto upload_offsets = [&](const std::vector<Index>& indices, Index* to) {
    std::vector<Index> bytes(indices.size());
    std::ranges::transform(indices, bytes.begin(),
                           [rows](Index row) { return static_cast<Index>(sizeof(double)) * (row < 0 ? rows : row); });
    cuda::copy_to_device(to, bytes.data(), bytes.size(), stream);
    cuda::synchronize(stream);
  };
  upload_offsets(plan.row, row_.data());
  upload_offsets(plan.column, column_.data());
  if (shared_ && rows > 0) {
    // All that there is: another program of this process may be larger.
    cuda::check(cudaFuncSetAttribute(run_kernel<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(cuda::most_shared_bytes())),
                "asking for shared memory");
  }
  cuda::synchronize(stream);
}

void Program::run(const Vectors& vectors, bool unit_pivots, int* non_finite, cudaStream_t stream) {
  if (rows_ == 0) return;
  Arguments arguments{steps_.data(),
                      step_count_,
                      row_.data(),
                      reinterpret_cast<const int4*>(column_.data()),
                      reinterpret_cast<const double2*>(values()),
                      unit_pivots ? nullptr : pivots(),
                      rows_,
                      vectors,
                      work_.data(),
                      non_finite};
  const auto threads = static_cast<unsigned>(threads_);
  if (shared_) {
    const auto blocks = static_cast<unsigned>(vectors.columns);
    run_kernel<true><<<blocks, threads, bytes_of_vector(rows_), stream>>>(arguments);
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
