/// \file
/// The Mandelbrot set by subdivision (Mariani and Silver): a rectangle whose border is of one dwell is filled with it.
#pragma once

#include <cstdint>
#include <vector>

#include "common/engine_options.hpp"
#include "plane.hpp"

namespace mandelbrot {

struct Image {
  taskdag::engine::Report report;
  std::vector<std::uint16_t> dwells;  ///< row by row
  std::uint64_t computed = 0;         ///< pixels that were not filled
};

Image subdivide(const taskdag::Context& context, const example::EngineOptions& options, const View& view);

}  // namespace mandelbrot
