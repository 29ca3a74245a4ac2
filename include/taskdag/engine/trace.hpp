/// \file
/// What a traced run looked like: a file for Perfetto, a scheduling plot, and the latency of tasks.
///
/// All of it comes from Report::events, which a program with a TraceProbe records: one event per execute(), so one per
/// task, or one per fetch where a type is `batched`. Without events the files are valid and empty, and all figures are
/// zero; Report::dropped_events says how many events found no room (RunnerOptions::trace_events).
///
/// Times: on the GPU they are read from globaltimer, whose step is some 32 ns and which the multiprocessors do not read
/// at the same instant. So a short task may end when it starts, and a task may seem to start before it was created:
/// such a latency is taken as 0 and counted as `clamped`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/export.hpp"

namespace taskdag::engine {

/// TraceEvent::processor of a span of a loop (loop/trace.hpp) on a GPU, in which all multiprocessors have a part.
inline constexpr std::uint16_t all_multiprocessors = 0xFFFF;

/// Nanoseconds from the moment a task was ready (its item entered the queue) to its start.
struct Latency {
  std::string type;           ///< name of the task type; "all" for all of them
  std::uint64_t events = 0;   ///< that the figures are taken from; 0: all figures are 0
  std::uint64_t clamped = 0;  ///< of them with start before creation, taken as 0
  double mean = 0;
  std::uint64_t median = 0;  ///< the smallest latency that half of the events do not exceed
  std::uint64_t p99 = 0;     ///< the smallest latency that 99 % of the events do not exceed
  std::uint64_t max = 0;
};

struct Latencies {
  std::vector<Latency> types;  ///< one per type of the program, in its order
  Latency all;
  std::uint64_t dropped_events = 0;
};

/// @throws InvalidInput for an event whose type the report does not have
TASKDAG_API Latencies latencies(const Report& report);
/// A table in some lines of text; types without events are left out.
TASKDAG_API std::string describe(const Latencies& latencies);

/// Writes the events as a Chrome trace (JSON), which Perfetto (ui.perfetto.dev) and chrome://tracing open.
///
/// A task is a complete event: `name` and `cat` its type; `ts` and `dur` in microseconds, from the first start on;
/// `pid` the backend; `tid` the track; args `latency_ns` (clamped), `created_us` and `team`. Tracks are named "host
/// thread 3", "SM 5 team 12", "SM 5 team 12 worker 2" where a team's workers run side by side, and "SM 5 slot 3" where
/// an SM has seen so many teams (discrete kernels) that a track for each says nothing; "all SMs" has the spans of a
/// loop. Events stand in the order of their starts.
/// @param backend the context's: it names processors. @throws InvalidInput for Backend::automatic and for an event
/// whose type the report does not have; Error if the file cannot be written
TASKDAG_API void write_chrome_trace(const Report& report, Backend backend, const std::string& path);

/// How the plot is drawn; in pixels.
struct PlotOptions {
  std::string title;
  int width = 1200;     ///< of the bars' area
  int most_rows = 160;  ///< tracks above which a row stands for a whole processor
};

/// Writes a scheduling plot as SVG (MHive, figures 7.1 and 7.2): time from left to right, a row per track, a bar per
/// task in its type's colour, a legend.
///
/// Bars of one type that are closer than a quarter of a pixel are joined. Rows with more events than pixels, and rows
/// that stand for a processor with several tracks, show in each pixel the type that took most time there; the plot says
/// so. So the file's size is bounded by rows times pixels, however many the events.
/// @throws as write_chrome_trace; InvalidInput also for a width or most_rows below 1; Unsupported where
/// libtaskdag_papers, which draws it, is not installed
TASKDAG_API void write_plot(const Report& report, Backend backend, const std::string& path,
                            const PlotOptions& options = {});

}  // namespace taskdag::engine
