/// \file
/// The one function that leaves libtaskdag_papers.
#include <taskdag_build/name.hpp>

#include "kernels/papers/papers.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "papers/chen/colouring/program.hpp"
#include "papers/cuda_functions.hpp"
#include "papers/library/memory.hpp"
#include "papers/pichler/jacobi/program.hpp"
#include "papers/pichler/plot/plot.hpp"
#include "papers/pichler/rcm/rcm_tasks.hpp"
#include "taskdag/export.hpp"

namespace taskdag::kernels {
namespace {

Papers make_table() {
  Papers papers{};
  papers.build = TASKDAG_BUILD;
  papers.superstep_schedule = make_superstep_schedule;
  papers.reverse_cuthill_mckee = order_by_tasks;
  papers.colour = colour_by_tasks;
  papers.jacobi = make_jacobi_program;
  papers.plot = engine::draw_plot;
  add_cuda_functions(papers);
  return papers;
}

}  // namespace
}  // namespace taskdag::kernels

extern "C" TASKDAG_API const taskdag::kernels::Papers* taskdag_papers(const taskdag::cuda::MemoryFunctions* memory) {
  if (taskdag::cuda::use_memory != nullptr) taskdag::cuda::use_memory(memory);
  static const taskdag::kernels::Papers table = taskdag::kernels::make_table();
  return &table;
}
