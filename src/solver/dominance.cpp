#include "taskdag/dominance.hpp"

#include <cstdint>
#include <vector>

#include "base/index.hpp"
#include "context/state.hpp"
#include "kernels/jacobi/dominance.hpp"
#include "solver/checks.hpp"
#include "solver/dominance_impl.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag {
namespace {

/// Numbers between -1 and 1 without a pattern that a matrix could share.
std::vector<double> scattered(Index rows) {
  std::vector<double> v(at(rows));
  std::uint64_t state = 1;
  for (double& value : v) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    value = static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
  }
  return v;
}

}  // namespace

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

bool jacobi_settles(const Context& context, const CsrView& a, MemorySpace space, Stream stream) {
  constexpr int kSweeps = 10;
  constexpr double kAtRest = 1e-6;
  if (a.pattern.rows == 0 && a.pattern.cols == 0) return true;
  Jacobi sweeps(context, a, space, {.keep_matrix = true, .form = JacobiForm::kernels}, stream);
  return with_memory_errors("the sweeps of Jacobi", a.pattern.rows, [&] {
    const std::vector<double> zeros(at(a.pattern.rows), 0.0);
    std::vector<double> x = scattered(a.pattern.rows);
    const JacobiStop stop{.tolerance = kAtRest * a.pattern.rows, .max_sweeps = kSweeps, .check_every = kSweeps};
    return sweeps.solve(zeros.data(), x.data(), MemorySpace::host, stop, stream).converged;
  });
}

}  // namespace taskdag
