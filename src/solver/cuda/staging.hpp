/// \file
/// Host vectors on the CUDA backend: through pinned memory, in pieces, so that copying into the pinned buffer and the
/// transfer overlap.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"

namespace taskdag {

class CudaStaging {
 public:
  /// Device copy of `size` host values. Asynchronous once the last piece is under way; valid until the next call.
  template <class T>
  void upload(T* device, const T* host, std::size_t size, cudaStream_t stream) {
    const std::size_t bytes = size * sizeof(T);
    reserve(bytes);
    cuda::synchronize(stream);  // the buffer may still be in flight from an earlier upload
    for (std::size_t at = 0; at < bytes; at += kPiece) {
      const std::size_t piece = std::min(kPiece, bytes - at);
      std::memcpy(buffer_.data() + at, reinterpret_cast<const char*>(host) + at, piece);
      cuda::copy_to_device(reinterpret_cast<char*>(device) + at, buffer_.data() + at, piece, stream);
    }
  }

  /// Host copy of `size` device values. Synchronous.
  template <class T>
  void download(T* host, const T* device, std::size_t size, cudaStream_t stream) {
    const std::size_t bytes = size * sizeof(T);
    reserve(bytes);
    const std::size_t pieces = (bytes + kPiece - 1) / kPiece;
    while (arrived_.size() < pieces) arrived_.emplace_back();
    for (std::size_t k = 0; k < pieces; ++k) {
      const std::size_t at = k * kPiece;
      cuda::copy_to_host(buffer_.data() + at, reinterpret_cast<const char*>(device) + at, std::min(kPiece, bytes - at),
                         stream);
      arrived_[k].record(stream);
    }
    for (std::size_t k = 0; k < pieces; ++k) {
      const std::size_t at = k * kPiece;
      cuda::check(cudaEventSynchronize(arrived_[k].get()), "waiting for a copy");
      std::memcpy(reinterpret_cast<char*>(host) + at, buffer_.data() + at, std::min(kPiece, bytes - at));
    }
  }

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 20;
  void reserve(std::size_t bytes) {
    if (buffer_.size() < bytes) buffer_ = cuda::PinnedArray<char>(bytes);
  }
  cuda::PinnedArray<char> buffer_;
  std::vector<cuda::UniqueEvent> arrived_;
};

/// A pair of device vectors that stand for host vectors during a call.
class CudaVectorPair {
 public:
  /// Device arrays of n doubles each, made on first use.
  void reserve(std::size_t n, cudaStream_t stream) {
    if (in_.size() < n) cuda::grow_pair(in_, out_, n, stream);
  }
  [[nodiscard]] double* in() const { return in_.data(); }
  [[nodiscard]] double* out() const { return out_.data(); }

 private:
  cuda::DeviceArray<double> in_;
  cuda::DeviceArray<double> out_;
};

/// Runs `solve(device_b, device_x)` for arrays in either space; n doubles each.
template <class Solve>
void with_device_vectors(CudaStaging& staging, CudaVectorPair& vectors, std::size_t n, const double* b, double* x,
                         bool on_device, cudaStream_t stream, const Solve& solve) {
  if (on_device) {
    solve(b, x);
    return;
  }
  vectors.reserve(n, stream);
  staging.upload(vectors.in(), b, n, stream);
  solve(vectors.in(), vectors.out());
  staging.download(x, vectors.out(), n, stream);
}

}  // namespace taskdag
