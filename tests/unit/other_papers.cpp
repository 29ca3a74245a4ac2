// A libtaskdag_papers of another build, as an upgrade of libtaskdag alone leaves one behind.
#include "kernels/papers/papers.hpp"
#include "taskdag/export.hpp"

extern "C" TASKDAG_API const taskdag::kernels::Papers* taskdag_papers(
    const taskdag::cuda::MemoryFunctions* /*memory*/) {
  static taskdag::kernels::Papers papers{};
  papers.build = "version 0.0.0, another build";
  return &papers;
}
