/// \file
/// Owners of what the engine needs of the CUDA runtime.
#pragma once

#include <cuda_runtime_api.h>

#include <utility>

#include "taskdag/engine/cuda/check.cuh"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// A non-blocking stream.
class UniqueStream {
 public:
  UniqueStream() = default;
  static UniqueStream create() {
    UniqueStream stream;
    check(cudaStreamCreateWithFlags(&stream.stream_, cudaStreamNonBlocking), "creating a stream");
    return stream;
  }
  UniqueStream(UniqueStream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  UniqueStream& operator=(UniqueStream&& other) noexcept {
    std::swap(stream_, other.stream_);
    return *this;
  }
  ~UniqueStream() {
    if (stream_) static_cast<void>(cudaStreamDestroy(stream_));
  }
  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Host memory that kernels can write.
template <class T>
class PinnedArray {
 public:
  explicit PinnedArray(std::size_t size) {
    check(cudaMallocHost(reinterpret_cast<void**>(&data_), size * sizeof(T)), "pinned host memory for the task engine");
  }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;
  ~PinnedArray() { static_cast<void>(cudaFreeHost(data_)); }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_ = nullptr;
};

/// Makes a device the calling thread's, for the lifetime of the object.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&previous_), "looking up the current device");
    if (previous_ == device) {
      previous_ = -1;
    } else {
      check(cudaSetDevice(device), "choosing a device");
    }
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    if (previous_ >= 0) static_cast<void>(cudaSetDevice(previous_));
  }

 private:
  int previous_ = -1;
};

/// What launches are sized by.
struct DeviceShape {
  explicit DeviceShape(int device) {
    const auto get = [device](cudaDeviceAttr attribute) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, attribute, device), "looking up the device");
      return static_cast<std::uint32_t>(value);
    };
    multiprocessors = get(cudaDevAttrMultiProcessorCount);
    threads = get(cudaDevAttrMaxThreadsPerMultiProcessor);
    shared_bytes = get(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  }
  /// @throws InvalidInput where a block cannot have so much shared memory
  void check_shared(const std::string& kernel, std::size_t bytes) const {
    if (bytes <= shared_bytes) return;
    throw InvalidInput(kernel + ": its workers need " + std::to_string(bytes) +
                       " bytes of shared memory per block, the device has " + std::to_string(shared_bytes));
  }

  std::uint32_t multiprocessors;
  std::uint32_t threads;     ///< resident per multiprocessor
  std::size_t shared_bytes;  ///< per block at most
};

}  // namespace detail

TASKDAG_ENGINE_END
