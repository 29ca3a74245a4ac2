// Compiled as a CUDA source where CUDA is.
#include "papers/pichler/rcm/permutation/program.hpp"

namespace taskdag::kernels::rcm_tasks {

std::unique_ptr<PermutationProgram> make_phase_program(const Context& context, const engine::RunnerOptions& options) {
  return std::make_unique<Permutation<ByPhases>>(context, options);
}

}  // namespace taskdag::kernels::rcm_tasks
