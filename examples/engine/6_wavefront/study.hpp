/// \file
/// Runs the wavefront on one kind of queue: cells or tiles, worker size and probe from the settings.
#pragma once

#include <algorithm>
#include <string_view>

#include "check.hpp"
#include "taskdag/engine/queue/locked_queue.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"
#include "taskdag/engine/runner.hpp"
#include "tile.hpp"

namespace wavefront {

namespace detail {

/// Room for all tasks that are ready at the same time, at most a diagonal, in each ring where a hash may send them all
/// to one. Scanning has a mark per task.
template <class Queue>
std::uint32_t capacity(const Settings& settings) {
  constexpr bool scans = Queue::name == std::string_view("scanning");
  const std::uint32_t given = settings.engine.runner.queue_capacity;
  if (settings.own_capacity && !scans) return given;
  const std::uint64_t diagonal = std::min(settings.tile_rows(), settings.tile_columns()) + std::uint64_t{1};
  const std::uint64_t items = scans ? settings.tasks() : Queue::any_worker_may_claim ? 4 * diagonal : diagonal * 256U;
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(items, given));
}

template <template <class, class> class Queue, class Data, class Task, class Probe>
void run(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  using Program = engine::Program<Data, engine::PhaseQueue<engine::Phaseless<Task>>, Queue, Probe>;
  constexpr bool tiled = !std::is_same_v<Data, Grid>;
  const std::uint32_t rows = settings.tile_rows();
  const std::uint32_t columns = settings.tile_columns();
  const bool has_values = tiled || settings.work != 0;
  const std::size_t places =
      settings.by_diagonals ? (std::size_t{rows} + columns - 1) * rows : std::size_t{rows} * columns;
  engine::Array<std::uint32_t> state(context, (places + 3) / 4);
  engine::Array<float> values(context, has_values ? settings.cells() : 0);

  Data data{};
  data.rows = settings.rows;
  data.columns = settings.columns;
  data.by_diagonals = settings.by_diagonals ? 1 : 0;
  data.steps = settings.work / 2;
  data.factor = -1.0F;
  data.summand = 1.0F;
  data.state = state.data();
  data.values = has_values ? values.data() : nullptr;
  if constexpr (tiled) {
    data.tile = settings.tile;
    data.tile_rows = rows;
    data.tile_columns = columns;
  }

  engine::RunnerOptions options = settings.engine.runner;
  options.queue_capacity = capacity<typename Program::template Queue<Task>>(settings);
  if constexpr (Probe::traces) options.trace_events = static_cast<std::uint32_t>(settings.tasks());
  engine::Runner<Program> runner(context, options);
  for (int k = 0; k < settings.repeat; ++k) {
    if (k > 0) {
      state.clear();
      if (has_values) values.clear();
    }
    runner.template enqueue<Task>(0U);
    const engine::Report report = runner.run(data, settings.engine.run);
    check(settings, report, state.download(), has_values ? values.download() : std::vector<float>());
    sink(report);
  }
}

template <template <class, class> class Queue, class Data, class Task>
void choose_probe(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  switch (settings.measure) {
    case Measure::time:
      return run<Queue, Data, Task, engine::NoProbe>(context, settings, sink);
    case Measure::counts:
      return run<Queue, Data, Task, engine::CountingProbe>(context, settings, sink);
    case Measure::trace:
      return run<Queue, Data, Task, engine::TraceProbe>(context, settings, sink);
  }
}

}  // namespace detail

template <template <class, class> class Queue>
void study(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  if (settings.warp_workers) {
    detail::choose_probe<Queue, Grid, Cell<32>>(context, settings, sink);
  } else {
    detail::choose_probe<Queue, Grid, Cell<1>>(context, settings, sink);
  }
}

/// Tiles, always a warp each.
template <template <class, class> class Queue>
void study_tiles(const taskdag::Context& context, const Settings& settings, const Sink& sink) {
  detail::choose_probe<Queue, TiledGrid, Tile<32>>(context, settings, sink);
}

}  // namespace wavefront
