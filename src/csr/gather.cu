#include <algorithm>
#include <iterator>

#include "backends/cuda/algorithm.cuh"
#include "csr/gather.hpp"

namespace taskdag::kernels {
namespace {

template <class T>
__global__ void gather_kernel(Index n, const T* in, const Index* index, T* out) {
  const Index p = static_cast<Index>(cuda::element());
  if (p < n) out[p] = in[index[p]];
}

__global__ void gather_or_zero_kernel(std::int64_t n, const Offset* index, const double* in, double* out) {
  const std::int64_t p = cuda::element();
  if (p >= n) return;
  const Offset e = index[p];
  out[p] = e >= 0 ? in[e] : 0.0;
}

__global__ void gather_rounded_kernel(std::int64_t n, const Offset* index, const double* in, float* out) {
  const std::int64_t p = cuda::element();
  if (p >= n) return;
  const Offset e = index[p];
  out[p] = e >= 0 ? __double2float_rn(in[e]) : (e == kGatherOne ? 1.0F : 0.0F);
}

__global__ void gather_numbers_kernel(std::int64_t n, const Offset* index, const ComplexSource in, double* out) {
  const std::int64_t p = cuda::element();
  if (p >= n) return;
  const Offset e = index[p];
  const double* const from = in.first + std::int64_t{e} * in.stride;
  out[2 * p] = e >= 0 ? from[0] : (e == kGatherOne ? 1.0 : 0.0);
  out[2 * p + 1] = e >= 0 ? from[1] : 0.0;
}

// Elements of a thread, so that many loads are on their way.
constexpr int kPerThread = 4;
constexpr int kPerBlock = kPerThread * cuda::kElementBlock;

struct Passes {
  GatherBatch::Pass pass[GatherBatch::kMost];
};

__global__ void gather_batch_kernel(const Passes passes) {
  const auto block = static_cast<int>(blockIdx.x);
  int first_block = 0;
  GatherBatch::Pass pass{};
#pragma unroll
  for (const GatherBatch::Pass& candidate : passes.pass) {
    if (block < candidate.end_block && pass.n == 0) pass = candidate;
    if (block >= candidate.end_block) first_block = max(first_block, candidate.end_block);
  }
  const std::int64_t first = std::int64_t{block - first_block} * kPerBlock + threadIdx.x;
  Offset e[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const std::int64_t p = first + std::int64_t{k} * cuda::kElementBlock;
    e[k] = p < pass.n ? pass.index[p] : kGatherZero;
  }
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const std::int64_t p = first + std::int64_t{k} * cuda::kElementBlock;
    if (p < pass.n) pass.out[p] = e[k] >= 0 ? pass.in[e[k]] : (e[k] == kGatherOne ? 1.0 : 0.0);
  }
}

__global__ void gather_scaled_kernel(Index n, const double* in, const Index* index, const double* scale, double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[i] = in[index ? index[i] : i] * sqrt(scale[i]);
}

__global__ void scatter_scaled_kernel(Index n, const double* in, const double* scale, const Index* index, double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[index ? index[i] : i] = in[i] / sqrt(scale[i]);
}

__global__ void move_scaled_kernel(Index n, const double* in, const Index* from, const double* scale, const Index* to,
                                   double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[to ? to[i] : i] = in[from ? from[i] : i] * (scale ? scale[i] : 1.0);
}

__global__ void scatter_inverse_kernel(Index n, const double* in, const Index* to, double* out) {
  const Index i = static_cast<Index>(cuda::element());
  if (i < n) out[to ? to[i] : i] = 1.0 / in[i];
}

__global__ void number_kernel(Offset n, Offset* out) {
  const std::int64_t p = cuda::element();
  if (p < n) out[p] = static_cast<Offset>(p);
}

__global__ void invert_kernel(Index n, const Index* index, Index* inverse) {
  const auto p = static_cast<Index>(cuda::element());
  if (p < n) inverse[index[p]] = p;
}

/// seen: of each value; then whether there was a fault.
__global__ void permutation_kernel(Index n, const Index* index, int* seen) {
  const auto p = static_cast<Index>(cuda::element());
  if (p >= n) return;
  const Index value = index[p];
  if (value < 0 || value >= n || atomicExch(seen + value, 1) != 0) seen[n] = 1;
}

}  // namespace

void gather(Index n, const double* in, const Index* index, double* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, out);
  cuda::check_launch("gather_kernel");
}

void gather(Index n, const Index* in, const Index* index, Index* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, out);
  cuda::check_launch("gather_kernel");
}

void gather_or_zero(std::int64_t n, const double* in, const Offset* index, double* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_or_zero_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, index, in, out);
  cuda::check_launch("gather_or_zero_kernel");
}

void gather_rounded(std::int64_t n, const double* in, const Offset* index, float* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_rounded_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, index, in, out);
  cuda::check_launch("gather_rounded_kernel");
}

void gather_numbers(std::int64_t n, const ComplexSource& in, const Offset* index, double* out, cudaStream_t stream) {
  if (n == 0) return;
  gather_numbers_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, index, in, out);
  cuda::check_launch("gather_numbers_kernel");
}

void GatherBatch::add(std::int64_t n, const double* in, const Offset* index, double* out) {
  if (n == 0) return;
  const int before = count_ == 0 ? 0 : passes_[static_cast<std::size_t>(count_) - 1].end_block;
  const auto blocks = static_cast<int>((n + kPerBlock - 1) / kPerBlock);
  passes_.at(static_cast<std::size_t>(count_)) = {n, in, index, out, before + blocks};
  ++count_;
}

void GatherBatch::run(cudaStream_t stream) const {
  if (count_ == 0) return;
  const int blocks = passes_[static_cast<std::size_t>(count_) - 1].end_block;
  Passes passes{};
  std::copy(passes_.begin(), passes_.end(), std::begin(passes.pass));
  gather_batch_kernel<<<blocks, cuda::kElementBlock, 0, stream>>>(passes);
  cuda::check_launch("gather_batch_kernel");
}

void gather_scaled(Index n, const double* in, const Index* index, const double* scale, double* out,
                   cudaStream_t stream) {
  if (n == 0) return;
  gather_scaled_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, index, scale, out);
  cuda::check_launch("gather_scaled_kernel");
}

void scatter_scaled(Index n, const double* in, const double* scale, const Index* index, double* out,
                    cudaStream_t stream) {
  if (n == 0) return;
  scatter_scaled_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, scale, index, out);
  cuda::check_launch("scatter_scaled_kernel");
}

void move_scaled(Index n, const double* in, const Index* from, const double* scale, const Index* to, double* out,
                 cudaStream_t stream) {
  if (n == 0) return;
  move_scaled_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, from, scale, to, out);
  cuda::check_launch("move_scaled_kernel");
}

void scatter_inverse(Index n, const double* in, const Index* to, double* out, cudaStream_t stream) {
  if (n == 0) return;
  scatter_inverse_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, in, to, out);
  cuda::check_launch("scatter_inverse_kernel");
}

void number(Offset n, Offset* out, cudaStream_t stream) {
  if (n == 0) return;
  number_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, out);
  cuda::check_launch("number_kernel");
}

void invert(Index n, const Index* index, Index* inverse, cudaStream_t stream) {
  if (n == 0) return;
  invert_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, index, inverse);
  cuda::check_launch("invert_kernel");
}

bool is_permutation(Index n, const Index* index, cudaStream_t stream) {
  if (n == 0) return true;
  const cuda::ScratchArray<int> seen(static_cast<std::size_t>(n) + 1, stream);
  cuda::check(cudaMemsetAsync(seen.data(), 0, seen.size() * sizeof(int), stream), "clearing marks");
  permutation_kernel<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, index, seen.data());
  cuda::check_launch("permutation_kernel");
  return cuda::fetch(seen.data() + n, stream) == 0;
}

}  // namespace taskdag::kernels
