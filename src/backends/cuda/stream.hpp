/// \file
/// Owners of CUDA streams and events.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
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

/// What an event is for: order alone is cheaper.
enum class EventFor : std::uint8_t { order, time };

/// An event.
class UniqueEvent {
 public:
  explicit UniqueEvent(EventFor use = EventFor::time) {
    check(cudaEventCreateWithFlags(&event_, use == EventFor::order ? cudaEventDisableTiming : cudaEventDefault),
          "creating an event");
  }
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
  /// What is submitted to `stream` from now on waits for it.
  void delay(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "making a stream wait for an event");
  }
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

/// Whether launches to `stream` are being captured.
inline bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

/// Lets the calling thread do, while it lives, what a capture elsewhere would otherwise forbid to it: take and free
/// memory, and wait for streams that are not captured.
class RelaxedCapture {
 public:
  RelaxedCapture() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Whether what a solve starts from (slots, tickets, flags) is as the last one has left it: reset for the next. Not
/// after one that could not be launched as a whole. Nor ever again once a solve has been captured: its graph runs
/// whenever it is replayed, so from then on each solve, captured or not, begins with a reset of its own.
class StartState {
 public:
  /// A solve begins. @returns whether it must reset first
  bool must_reset(cudaStream_t stream) {
    captured_ = captured_ || is_capturing(stream);
    const bool reset = captured_ || !known_;
    known_ = false;
    return reset;
  }
  /// All of it is launched, and resets what the next one starts from.
  void launched() { known_ = true; }
  /// Something else has used it.
  void forget() { known_ = false; }
  [[nodiscard]] bool captured() const { return captured_; }

 private:
  bool known_ = false;
  bool captured_ = false;
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
