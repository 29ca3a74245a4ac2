/// \file
/// The plot of a trace, which libtaskdag_papers draws.
#include "kernels/papers/papers.hpp"
#include "taskdag/engine/trace.hpp"

namespace taskdag::engine {

void write_plot(const Report& report, Backend backend, const std::string& path, const PlotOptions& options) {
  kernels::papers("the plot of a trace").plot(report, backend, path, options);
}

}  // namespace taskdag::engine
