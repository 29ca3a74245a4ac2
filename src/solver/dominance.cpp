#include "taskdag/dominance.hpp"

#include "context/state.hpp"
#include "kernels/jacobi/dominance.hpp"
#include "solver/checks.hpp"
#include "solver/dominance_impl.hpp"

namespace taskdag {

DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                     const DominanceLimits& limits, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (!(limits.strict >= 0.0 && limits.strict <= limits.poor)) {
    throw InvalidInput("the limits of dominance must be 0 or more, that of strict rows not above that of poor ones");
  }
  check_pattern(a.pattern, space, false, "the dominance of a diagonal");
  if (space == MemorySpace::host) require_array(a.values, a.pattern.entries(), "values");
  if (a.pattern.rows == 0) return {};
  return with_memory_errors("the dominance of a diagonal", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::diagonal_dominance(context, a, space, limits, stream)
                                              : kernels::host_dominance(a, limits, *context.state()->pool);
  });
}

}  // namespace taskdag
