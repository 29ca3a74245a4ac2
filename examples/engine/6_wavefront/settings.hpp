/// \file
/// What a run of the wavefront is given and what it gives back; no templates.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "common/engine_options.hpp"

namespace wavefront {

enum class Measure { time, counts, trace };

struct Settings {
  example::EngineOptions engine;
  std::uint32_t rows = 1000;
  std::uint32_t columns = 1000;
  std::uint32_t tile = 1;     ///< cells along a tile's side
  std::uint32_t work = 0;     ///< floating-point operations per cell
  bool warp_workers = false;  ///< a warp per task, as in the paper, or a thread
  bool by_diagonals = false;  ///< the dependency matrix is stored diagonal by diagonal, or row by row
  bool own_capacity = false;  ///< --queue-capacity was given
  Measure measure = Measure::time;
  int repeat = 1;

  [[nodiscard]] std::uint64_t cells() const { return std::uint64_t{rows} * columns; }
  [[nodiscard]] std::uint32_t tile_rows() const { return (rows + tile - 1) / tile; }
  [[nodiscard]] std::uint32_t tile_columns() const { return (columns + tile - 1) / tile; }
  [[nodiscard]] std::uint64_t tasks() const { return std::uint64_t{tile_rows()} * tile_columns(); }
};

/// Called with the report of each run, once its result has been checked.
using Sink = std::function<void(const taskdag::engine::Report&)>;

// The variants: each runs the wavefront settings.repeat times.
// @throws std::runtime_error where a run does not end well or a cell is wrong

void run_scanning(const taskdag::Context& context, const Settings& settings, const Sink& sink);
void run_single(const taskdag::Context& context, const Settings& settings, const Sink& sink);
void run_multi_a(const taskdag::Context& context, const Settings& settings, const Sink& sink);
void run_multi_b(const taskdag::Context& context, const Settings& settings, const Sink& sink);
void run_shared(const taskdag::Context& context, const Settings& settings, const Sink& sink);
void run_stealing(const taskdag::Context& context, const Settings& settings, const Sink& sink);

}  // namespace wavefront
