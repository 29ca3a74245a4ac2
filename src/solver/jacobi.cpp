#include "taskdag/jacobi.hpp"

#include <cmath>

#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag {

namespace {

void check_matrix(const CsrView& a, MemorySpace space) {
  check_pattern(a.pattern, space, false, "Jacobi");
  if (space == MemorySpace::host) require_array(a.values, a.pattern.entries(), "values");
}

}  // namespace

Jacobi::Jacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options,
               Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (options.sweeps < 1) throw InvalidInput("Jacobi needs at least one sweep");
  if (!std::isfinite(options.damping) || options.damping == 0.0) {
    throw InvalidInput("the damping of Jacobi must be finite and not 0");
  }
  check_matrix(a, space);
  const MemorySpace from = space_of(a.pattern, space);
  impl_ = with_memory_errors("Jacobi", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::make_jacobi(context, a, from, options, stream)
                                              : host::make_jacobi(context, a, options);
  });
  impl_->size = a.pattern.rows;
  impl_->has_values = true;
}

Jacobi::~Jacobi() = default;
Jacobi::Jacobi(Jacobi&&) noexcept = default;
Jacobi& Jacobi::operator=(Jacobi&&) noexcept = default;

void Jacobi::update_values(const CsrView& a, MemorySpace space, Stream stream) {
  if (a.pattern.rows != impl_->size) {
    throw InvalidInput("new values for " + std::to_string(a.pattern.rows) + " rows, Jacobi was made for " +
                       std::to_string(impl_->size));
  }
  require_array(a.pattern.row_offsets, a.pattern.rows, "row_offsets");
  if (space == MemorySpace::host) {
    require_array(a.pattern.col_indices, a.pattern.entries(), "col_indices");
    require_array(a.values, a.pattern.entries(), "values");
  }
  impl_->check_space(space);
  impl_->refuse_capture(stream, "new values for Jacobi");
  impl_->has_values = false;
  with_memory_errors("Jacobi", impl_->size, [&] { impl_->update_values(a, space_of(a.pattern, space), stream); });
  impl_->has_values = true;
}
void Jacobi::apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) {
  if (!impl_->has_values) throw InvalidInput("the last update_values() failed: Jacobi needs another one first");
  require_array(b, impl_->size, "b");
  require_array(x, impl_->size, "x");
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "Jacobi with vectors in host memory");
  with_memory_errors("Jacobi", impl_->size, [&] { impl_->apply(b, x, space, transposed, stream); });
}
Index Jacobi::zero_diagonals() const { return impl_->zero_diagonals; }
std::int64_t Jacobi::bytes() const { return impl_->bytes; }

}  // namespace taskdag
