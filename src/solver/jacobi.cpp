#include "taskdag/jacobi.hpp"

#include <cmath>

#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag {

Jacobi::Jacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options,
               Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (options.sweeps < 1) throw InvalidInput("Jacobi needs at least one sweep");
  if (!std::isfinite(options.damping) || options.damping == 0.0) {
    throw InvalidInput("the damping of Jacobi must be finite and not 0");
  }
  if (a.pattern.rows != a.pattern.cols) throw InvalidInput("Jacobi needs a square matrix");
  if (space == MemorySpace::host) validate(a.pattern, {.square = true});
  impl_ = context.backend() == Backend::cuda ? cuda::make_jacobi(context, a, space, options, stream)
                                             : host::make_jacobi(context, a, options);
}

Jacobi::~Jacobi() = default;
Jacobi::Jacobi(Jacobi&&) noexcept = default;
Jacobi& Jacobi::operator=(Jacobi&&) noexcept = default;

void Jacobi::update_values(const CsrView& a, MemorySpace space, Stream stream) {
  impl_->update_values(a, space, stream);
}
void Jacobi::apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) {
  impl_->apply(b, x, space, transposed, stream);
}
Index Jacobi::zero_diagonals() const { return impl_->zero_diagonals; }
std::int64_t Jacobi::bytes() const { return impl_->bytes; }

}  // namespace taskdag
