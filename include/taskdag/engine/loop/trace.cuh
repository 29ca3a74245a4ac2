/// \file
/// Spans of stages and calls on a stream: kernels of one thread before and behind them look at the GPU's clock.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/loop/trace.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/platform.hpp"
#include "taskdag/engine/record.hpp"
#include "taskdag/engine/trace.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

struct StreamClock {
  std::uint64_t since;  ///< the next span begins
  std::uint32_t spans;  ///< so far, also those without room
};

__global__ inline void begin_span_kernel(StreamClock* clock) { clock->since = clock_ns(); }
__global__ inline void end_span_kernel(StreamClock* clock, TraceEvent* events, std::uint32_t room, std::uint16_t kind) {
  const std::uint64_t now = clock_ns();
  const std::uint64_t since = clock->since;
  const std::uint32_t at = clock->spans++;
  if (at < room) events[at] = {since, since, now, 0, all_multiprocessors, kind};
  clock->since = clock_ns();  // of what comes now the writing above is no part
}

}  // namespace detail

/// Spans of what is launched on one stream after the other. A launch may be captured; it adds a span each time that it
/// runs. A span is from the kernel before to the one behind, so the time that a launch takes to begin is in it.
class StreamTrace {
 public:
  static constexpr std::uint32_t room = 1U << 16U;  ///< for spans; later ones are counted as dropped

  /// Waits for the device.
  explicit StreamTrace(const Context& context) : clock_(context, 1), events_(context, room) {}

  /// What is launched now begins the next span.
  void begin(cudaStream_t stream) const {
    detail::begin_span_kernel<<<1, 1, 0, stream>>>(clock_.data());
    detail::check(cudaGetLastError(), "beginning a span");
  }
  /// What has been launched since is a span, and the next one begins.
  void end(cudaStream_t stream, const char* name, std::uint32_t tasks) {
    const std::uint16_t kind = kinds_.number_of(name, tasks);
    detail::end_span_kernel<<<1, 1, 0, stream>>>(clock_.data(), events_.data(), room, kind);
    detail::check(cudaGetLastError(), "ending a span");
    ++ended_;
  }
  /// Spans that have been launched, or captured.
  [[nodiscard]] std::uint64_t ended() const { return ended_; }
  /// Waits for the stream.
  [[nodiscard]] Report report(cudaStream_t stream) const {
    detail::check(cudaStreamSynchronize(stream), "waiting for spans");
    const std::uint32_t spans = clock_.download().front().spans;
    std::vector<TraceEvent> events = events_.download();
    events.resize(std::min(spans, room));
    return kinds_.report(std::move(events), spans - std::min(spans, room));
  }

 private:
  Array<detail::StreamClock> clock_;
  Array<TraceEvent> events_;
  SpanKinds kinds_;
  std::uint64_t ended_ = 0;
};

TASKDAG_ENGINE_END
