/// \file
/// Passes over vectors in device memory by an index.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// out[p] = in[index[p]]. Asynchronous.
void gather(Index n, const double* in, const Index* index, double* out, cudaStream_t stream);
void gather(Index n, const Index* in, const Index* index, Index* out, cudaStream_t stream);
/// out[p] = in[index[p]], 0 where index[p] < 0. Asynchronous.
void gather_or_zero(std::int64_t n, const double* in, const Offset* index, double* out, cudaStream_t stream);
/// Indices of GatherBatch and gather_rounded() that stand for numbers.
inline constexpr Offset kGatherZero = -1;
inline constexpr Offset kGatherOne = -2;
/// out[p] = in[index[p]], rounded to float; index: also kGatherZero, kGatherOne. Asynchronous.
void gather_rounded(std::int64_t n, const double* in, const Offset* index, float* out, cudaStream_t stream);
/// Complex numbers, two doubles each: number e begins at double stride · e.
struct ComplexSource {
  const double* first = nullptr;
  int stride = 2;
};
/// Number p of out becomes number index[p] of in; index: also kGatherZero, kGatherOne. Asynchronous.
void gather_numbers(std::int64_t n, const ComplexSource& in, const Offset* index, double* out, cudaStream_t stream);
/// Some passes out[p] = in[index[p]] as one launch; index: also kGatherZero, kGatherOne.
class GatherBatch {
 public:
  static constexpr int kMost = 4;
  /// @throws std::out_of_range at more than kMost
  void add(std::int64_t n, const double* in, const Offset* index, double* out);
  /// Asynchronous. Nothing, if nothing was added.
  void run(cudaStream_t stream) const;

  struct Pass {
    std::int64_t n = 0;
    const double* in = nullptr;
    const Offset* index = nullptr;
    double* out = nullptr;
    int end_block = 0;  ///< of its blocks among those of all passes
  };

 private:
  std::array<Pass, kMost> passes_;
  int count_ = 0;
};
/// out[i] = in[index ? index[i] : i] · √scale[i]. Asynchronous.
void gather_scaled(Index n, const double* in, const Index* index, const double* scale, double* out,
                   cudaStream_t stream);
/// out[index ? index[i] : i] = in[i] / √scale[i]. Asynchronous.
void scatter_scaled(Index n, const double* in, const double* scale, const Index* index, double* out,
                    cudaStream_t stream);
/// out[to ? to[i] : i] = in[from ? from[i] : i] · scale[i], scale null: 1. Asynchronous.
void move_scaled(Index n, const double* in, const Index* from, const double* scale, const Index* to, double* out,
                 cudaStream_t stream);
/// out[to ? to[i] : i] = 1 / in[i]. Asynchronous.
void scatter_inverse(Index n, const double* in, const Index* to, double* out, cudaStream_t stream);
/// out[p] = p. Asynchronous.
void number(Offset n, Offset* out, cudaStream_t stream);
/// inverse[index[p]] = p. Asynchronous.
void invert(Index n, const Index* index, Index* inverse, cudaStream_t stream);
/// Whether index[0 … n) holds each of 0 … n − 1 once. Synchronises `stream`.
bool is_permutation(Index n, const Index* index, cudaStream_t stream);

}  // namespace taskdag::kernels
