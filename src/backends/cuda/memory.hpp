/// \file
/// Owners of device memory and pinned host memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/cuda/check.hpp"

namespace taskdag::cuda {

/// Takes `bytes` of the current device's memory, usable by work that is submitted to `stream` from now on. Comes from
/// the library's own stream-ordered pool where the device has one. Where `stream` is being captured, the memory is no
/// part of the graph. @throws OutOfMemory
void* allocate_device(std::size_t bytes, cudaStream_t stream);
/// Gives it back once `stream` has done what was submitted so far. Never throws; a failure leaks.
void free_device(void* pointer, cudaStream_t stream) noexcept;
/// Waits for `device`, whichever is current, then gives its memory back: for owners that outlive the stream they were
/// made on. (The wait is needed: cudaFree of pool memory takes all accesses to be over.) Does not wait where the
/// calling thread is in a Closing of that device. Never throws; a failure leaks.
void free_device_synchronous(void* pointer, int device) noexcept;
/// Number of the current device. @throws DeviceError
int current_device();

/// While an object with arrays on a device goes: makes the device current and waits for it once, so that none of the
/// arrays has to. Declared first in the object, so that it goes last; begin() is what the object's destructor calls.
class Closing {
 public:
  explicit Closing(int device) : device_(device) {}
  ~Closing();
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  /// Waits for all work on the device. Never throws: after an error of the device its memory goes with the process.
  void begin() noexcept;

 private:
  int device_;
  int previous_ = -1;      // current before; −1: nothing to restore
  int quiet_before_ = -1;  // of the calling thread
  bool begun_ = false;
};

void* allocate_pinned(std::size_t bytes);
void free_pinned(void* pointer) noexcept;

inline constexpr std::size_t kPinnedPiece = 64;
/// kPinnedPiece bytes of page-locked host memory, out of what the process keeps for that. @throws OutOfMemory
void* take_pinned_piece();
/// The next take_pinned_piece() may return it at once: the device must be done with it.
void return_pinned_piece(void* piece) noexcept;

/// An uninitialised array in device memory, kept between calls. Freed synchronously, on the device that it was made on.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::size_t size, cudaStream_t stream)
      : device_(size == 0 ? -1 : current_device()),
        data_(size == 0 ? nullptr : static_cast<T*>(allocate_device(size * sizeof(T), stream))),
        size_(size) {}
  DeviceArray(DeviceArray&& other) noexcept { swap(other); }
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceArray() {
    if (data_ != nullptr) free_device_synchronous(data_, device_);
  }

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(size_ * sizeof(T)); }

 private:
  void swap(DeviceArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  int device_ = -1;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Two arrays of `size` in place of two smaller ones, or, where there is no memory for both, an exception and the two
/// as they were.
template <class T>
void grow_pair(DeviceArray<T>& first, DeviceArray<T>& second, std::size_t size, cudaStream_t stream) {
  DeviceArray<T> larger_first(size, stream);
  DeviceArray<T> larger_second(size, stream);
  first = std::move(larger_first);
  second = std::move(larger_second);
}

/// An uninitialised array in device memory for the length of a set-up: freed in stream order, without waiting. Must not
/// outlive its stream.
template <class T>
class ScratchArray {
 public:
  ScratchArray(std::size_t size, cudaStream_t stream)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate_device(size * sizeof(T), stream))),
        size_(size),
        stream_(stream) {}
  ScratchArray(ScratchArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), stream_(other.stream_) {}
  ScratchArray& operator=(ScratchArray&&) = delete;
  ~ScratchArray() { free_device(data_, stream_); }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  T* data_;
  std::size_t size_;
  cudaStream_t stream_;
};

/// An array in page-locked host memory: copies to and from it run at full speed and asynchronously.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t size)
      : data_(size == 0 ? nullptr : static_cast<T*>(allocate_pinned(size * sizeof(T)))), size_(size) {}
  PinnedArray(PinnedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~PinnedArray() { free_pinned(data_); }
  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A value in page-locked host memory that the device writes. Uninitialised. Goes when the device is done with it.
template <class T>
class PinnedValue {
 public:
  static_assert(sizeof(T) <= kPinnedPiece && std::is_trivially_copyable_v<T>);
  PinnedValue() : data_(static_cast<T*>(take_pinned_piece())) {}
  PinnedValue(PinnedValue&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  PinnedValue& operator=(PinnedValue&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  ~PinnedValue() { return_pinned_piece(data_); }
  [[nodiscard]] T* data() const { return data_; }

 private:
  T* data_;
};

/// Copies, asynchronous on `stream` (pageable host memory: staged by the runtime, the call may block).
template <class T>
void copy_to_device(T* device, const T* host, std::size_t size, cudaStream_t stream) {
  if (size) check(cudaMemcpyAsync(device, host, size * sizeof(T), cudaMemcpyHostToDevice, stream), "copy to device");
}
template <class T>
void copy_to_host(T* host, const T* device, std::size_t size, cudaStream_t stream) {
  if (size) check(cudaMemcpyAsync(host, device, size * sizeof(T), cudaMemcpyDeviceToHost, stream), "copy to host");
}
template <class T>
void copy_on_device(T* to, const T* from, std::size_t size, cudaStream_t stream) {
  if (size) check(cudaMemcpyAsync(to, from, size * sizeof(T), cudaMemcpyDeviceToDevice, stream), "copy on device");
}
/// A copy that is kept; nothing for null. Asynchronous.
template <class T>
DeviceArray<T> copy_of(const T* array, std::size_t size, cudaStream_t stream) {
  if (array == nullptr) return {};
  DeviceArray<T> copy(size, stream);
  copy_on_device(copy.data(), array, size, stream);
  return copy;
}
inline void synchronize(cudaStream_t stream) { check(cudaStreamSynchronize(stream), "waiting for a stream"); }

/// A host vector in device memory. Synchronises `stream`, so the vector may go.
template <template <class> class Array = DeviceArray, class T>
Array<T> upload(const std::vector<T>& values, cudaStream_t stream) {
  Array<T> result(values.size(), stream);
  copy_to_device(result.data(), values.data(), values.size(), stream);
  synchronize(stream);
  return result;
}

/// One value from device memory. Synchronises `stream`.
template <class T>
T fetch(const T* device, cudaStream_t stream) {
  T value;
  copy_to_host(&value, device, 1, stream);
  synchronize(stream);
  return value;
}

/// A device array as a host vector. Synchronises `stream`.
template <class T>
std::vector<T> fetch_array(const T* device, std::size_t size, cudaStream_t stream) {
  std::vector<T> values(size);
  copy_to_host(values.data(), device, size, stream);
  synchronize(stream);
  return values;
}

}  // namespace taskdag::cuda
