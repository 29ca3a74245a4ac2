#include "taskdag/triangular.hpp"

#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "solver/checks.hpp"
#include "solver/choice/require_schedule.hpp"
#include "solver/impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

TriangularSolver::TriangularSolver(const Context& context, const CsrView& a, MemorySpace space,
                                   const TriangularOptions& options, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  require_schedule(context.backend(), options.schedule);
  if (options.columns < 1) throw InvalidInput("a triangular solver is for one column at least");
  if (kernels::row_of(options.schedule).needs_blocks) {
    throw InvalidInput(std::string("the schedule ") + to_string(options.schedule) +
                       " needs an ordering by blocks, which a triangular solver is not given");
  }
  check_pattern(a.pattern, space, !options.unit_diagonal, "a triangular solve");
  if (space == MemorySpace::host) require_array(a.values, a.pattern.entries(), "values");
  const MemorySpace from = space_of(a.pattern, space);
  impl_ = with_memory_errors("a triangular system", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::make_triangular(context, a, from, options, stream)
                                              : host::make_triangular(context, a, options);
  });
  impl_->facade.reads_values = !options.unit_diagonal || info().entries > 0;
  impl_->facade.has_values = true;
}

TriangularSolver::~TriangularSolver() = default;
TriangularSolver::TriangularSolver(TriangularSolver&&) noexcept = default;
TriangularSolver& TriangularSolver::operator=(TriangularSolver&&) noexcept = default;

void TriangularSolver::update_values(const double* values, MemorySpace space, Stream stream) {
  if (impl_->facade.reads_values) require_array(values, info().rows, "values");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "new values from host memory");
  if (impl_->looks_at_values()) impl_->refuse_capture(stream, "new values for a schedule that rewrites rows");
  impl_->facade.has_values = false;
  with_memory_errors("new values", info().rows, [&] { impl_->update_values(values, space, stream); });
  impl_->facade.has_values = true;
}

void TriangularSolver::solve(const double* b, double* x, MemorySpace space, Stream stream) {
  solve_many(1, b, info().rows, x, info().rows, space, stream);
}

void TriangularSolver::solve_many(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                                  MemorySpace space, Stream stream) {
  if (!impl_->facade.has_values) throw InvalidInput("the last update_values() failed: a solve needs another one first");
  require_columns(count, info().rows, b, ldb, x, ldx);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "a solve with vectors in host memory");
  with_memory_errors("several right-hand sides", info().rows,
                     [&] { impl_->solve(count, b, ldb, x, ldx, space, stream); });
}

SolveOutcome TriangularSolver::outcome() { return impl_->outcome(); }
SolveOutcome TriangularSolver::outcome(Stream stream) {
  impl_->refuse_capture(stream, "outcome()");
  return impl_->outcome(stream);
}
const TriangularInfo& TriangularSolver::info() const { return impl_->info; }

}  // namespace taskdag
