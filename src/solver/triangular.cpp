#include "taskdag/triangular.hpp"

#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag {

TriangularSolver::TriangularSolver(const Context& context, const CsrView& a, MemorySpace space,
                                   const TriangularOptions& options, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (a.pattern.rows != a.pattern.cols) throw InvalidInput("a triangular solve needs a square matrix");
  if (space == MemorySpace::host) {
    validate(a.pattern, {.square = true, .diagonal = !options.unit_diagonal});
    if (a.pattern.entries() > 0) require_array(a.values, a.pattern.rows, "values");
  }
  impl_ = context.backend() == Backend::cuda ? cuda::make_triangular(context, a, space, options, stream)
                                             : host::make_triangular(context, a, options);
}

TriangularSolver::~TriangularSolver() = default;
TriangularSolver::TriangularSolver(TriangularSolver&&) noexcept = default;
TriangularSolver& TriangularSolver::operator=(TriangularSolver&&) noexcept = default;

void TriangularSolver::update_values(const double* values, MemorySpace space, Stream stream) {
  impl_->update_values(values, space, stream);
}

void TriangularSolver::solve(const double* b, double* x, MemorySpace space, Stream stream) {
  require_array(b, info().rows, "b");
  require_array(x, info().rows, "x");
  impl_->solve(b, x, space, stream);
}

SolveOutcome TriangularSolver::outcome() { return impl_->outcome(); }
const TriangularInfo& TriangularSolver::info() const { return impl_->info; }

}  // namespace taskdag
