/// \file
/// Writes a trace as a scheduling plot in SVG (MHive, figures 7.1 and 7.2).
#pragma once

#include <string>

#include "taskdag/engine/trace.hpp"

namespace taskdag::engine {

/// See write_plot().
void draw_plot(const Report& report, Backend backend, const std::string& path, const PlotOptions& options);

}  // namespace taskdag::engine
