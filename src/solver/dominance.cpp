#include "taskdag/dominance.hpp"

#include "context/state.hpp"
#include "kernels/jacobi/dominance.hpp"
#include "kernels/jacobi/settling.hpp"
#include "kernels/jacobi/symmetry.hpp"
#include "solver/checks.hpp"
#include "solver/dominance_impl.hpp"

namespace taskdag {
namespace {

/// What all functions here ask of their matrix.
void check_input(const Context& context, const CsrView& a, MemorySpace space, const char* what) {
  if (context.backend() == Backend::host) require_host_memory(space);
  check_pattern(a.pattern, space, false, what);
  if (space == MemorySpace::host) require_array(a.values, a.pattern.entries(), "values");
}

}  // namespace

DiagonalDominance diagonal_dominance(const Context& context, const CsrView& a, MemorySpace space,
                                     const DominanceLimits& limits, Stream stream) {
  if (!(limits.strict >= 0.0 && limits.strict <= limits.poor)) {
    throw InvalidInput("the limits of dominance must be 0 or more, that of strict rows not above that of poor ones");
  }
  check_input(context, a, space, "the dominance of a diagonal");
  if (a.pattern.rows == 0) return {};
  return with_memory_errors("the dominance of a diagonal", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::diagonal_dominance(context, a, space, limits, stream)
                                              : kernels::host_dominance(a, limits, *context.state()->pool);
  });
}

bool jacobi_settles(const Context& context, const CsrView& a, MemorySpace space, Stream stream) {
  constexpr double kAtRest = 1e-6;
  check_input(context, a, space, "the sweeps of Jacobi");
  if (a.pattern.rows == 0) return true;
  const double change = with_memory_errors("the sweeps of Jacobi", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::settling(context, a, space, stream)
                                              : kernels::host_settling(a, *context.state()->pool);
  });
  return change <= kAtRest * a.pattern.rows;
}

bool is_symmetric(const Context& context, const CsrView& a, MemorySpace space, Stream stream) {
  check_input(context, a, space, "the symmetry of a matrix");
  if (a.pattern.rows == 0) return true;
  return with_memory_errors("the symmetry of a matrix", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::symmetric(context, a, space, stream)
                                              : kernels::host_symmetric(a, *context.state()->pool);
  });
}

}  // namespace taskdag
