// Compiled as a CUDA source where CUDA is: MHive's program with a probe, which the library's does not have.
#include "rcm_tasks_traced.hpp"

#include "papers/pichler/rcm/permutation/program.hpp"

namespace taskdag::benchmark {

std::unique_ptr<kernels::rcm_tasks::PermutationProgram> make_traced_phase_program(
    const Context& context, const engine::RunnerOptions& options) {
  using Program = kernels::rcm_tasks::Permutation<kernels::rcm_tasks::ByPhases, engine::TraceProbe>;
  return std::make_unique<Program>(context, options);
}

}  // namespace taskdag::benchmark
