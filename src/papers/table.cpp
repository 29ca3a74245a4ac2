/// \file
/// The one function that leaves libtaskdag_papers.
#include "kernels/papers/papers.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "papers/pichler/rcm/rcm_tasks.hpp"
#include "taskdag/export.hpp"

namespace taskdag::kernels {
namespace {

constexpr Papers kPapers{
    .build = TASKDAG_BUILD, .superstep_schedule = make_superstep_schedule, .reverse_cuthill_mckee = order_by_tasks};

}  // namespace
}  // namespace taskdag::kernels

extern "C" TASKDAG_API const taskdag::kernels::Papers* taskdag_papers() { return &taskdag::kernels::kPapers; }
