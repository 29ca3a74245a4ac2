/// \file
/// Owners of CUDA streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/cuda/check.hpp"

namespace taskdag::cuda {

/// A non-blocking stream.
class UniqueStream {
 public:
  UniqueStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
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

/// An event, for order and for time.
class UniqueEvent {
 public:
  UniqueEvent() { check(cudaEventCreate(&event_), "creating an event"); }
  UniqueEvent(UniqueEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  UniqueEvent& operator=(UniqueEvent&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  ~UniqueEvent() {
    if (event_) static_cast<void>(cudaEventDestroy(event_));
  }
  void record(cudaStream_t stream) const { check(cudaEventRecord(event_, stream), "recording an event"); }
  void wait() const { check(cudaEventSynchronize(event_), "waiting for an event"); }
  /// Milliseconds from `earlier` to this event. Synchronises with this event.
  [[nodiscard]] float milliseconds_since(const UniqueEvent& earlier) const {
    check(cudaEventSynchronize(event_), "waiting for an event");
    float elapsed = 0.0F;
    check(cudaEventElapsedTime(&elapsed, earlier.event_, event_), "reading an event");
    return elapsed;
  }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Microseconds of what work() submits to `stream`: the least of three times after one that does not count, in which
/// kernels are loaded. Synchronises.
template <class Work>
double time_of(const Work& work, cudaStream_t stream) {
  constexpr int kTimed = 3;
  const UniqueEvent begin;
  const UniqueEvent end;
  work();
  double least = std::numeric_limits<double>::max();
  for (int k = 0; k < kTimed; ++k) {
    begin.record(stream);
    work();
    end.record(stream);
    least = std::min(least, 1e3 * static_cast<double>(end.milliseconds_since(begin)));
  }
  return least;
}

}  // namespace taskdag::cuda
