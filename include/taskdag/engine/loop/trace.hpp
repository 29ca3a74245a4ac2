/// \file
/// What stages and calls of a loop did: spans of time, in a report as programs with a TraceProbe make it, so that
/// write_chrome_trace() writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "taskdag/engine/report.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// What spans are of. A kind is a type of the report. It has executed its tasks once for each span on worker 0.
class TASKDAG_API SpanKinds {
 public:
  /// The number of the kind with that name and so many tasks, which is a new one where there is none.
  std::uint16_t number_of(std::string_view name, std::uint32_t tasks);
  /// Of spans of these kinds. dropped: spans that found no room.
  [[nodiscard]] Report report(std::vector<TraceEvent> spans, std::uint64_t dropped = 0) const;

 private:
  struct Kind {
    std::string name;
    std::uint32_t tasks;
  };
  std::vector<Kind> kinds_;
};

/// Spans of host threads: of the tasks of a stage each thread has one, of what one worker does thread 0.
class TASKDAG_API HostTrace {
 public:
  explicit HostTrace(std::size_t threads) : threads_(threads) {}

  /// What a span is of, and since when that could have begun.
  struct Ready {
    std::uint64_t since = 0;
    std::uint16_t kind = 0;
  };
  /// Makes room for a span on each thread. By one thread, while the others have no work.
  Ready ready(std::string_view name, std::uint32_t tasks);
  /// By the thread itself. start, end: of clock_ns().
  void add(int thread, const Ready& what, std::uint64_t start, std::uint64_t end) noexcept;
  [[nodiscard]] Report report() const;
  [[nodiscard]] std::size_t threads() const { return threads_.size(); }

 private:
  /// On a line of its own.
  struct alignas(128) Spans {
    std::vector<TraceEvent> events;
  };
  SpanKinds kinds_;
  std::vector<Spans> threads_;
};

/// While it lives, the trace of the flow whose call is under way on this thread: flows that have none, and do what is
/// called stage by stage, have their spans in it.
template <class Trace>
class TraceOfCall {
 public:
  explicit TraceOfCall(Trace* trace) : before_(std::exchange(current_, trace)) {}
  TraceOfCall(const TraceOfCall&) = delete;
  TraceOfCall& operator=(const TraceOfCall&) = delete;
  ~TraceOfCall() { current_ = before_; }
  /// Null: there is none.
  [[nodiscard]] static Trace* current() { return current_; }

 private:
  inline static thread_local Trace* current_ = nullptr;
  Trace* before_;
};

}  // namespace taskdag::engine
