#include "taskdag/jacobi.hpp"

#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "solver/checks.hpp"
#include "solver/impl.hpp"

namespace taskdag {

namespace {

void check_matrix(const CsrView& a, MemorySpace space) {
  check_pattern(a.pattern, space, false, "Jacobi");
  if (space == MemorySpace::host) require_array(a.values, a.pattern.entries(), "values");
}

void check_outside(const std::vector<double>& outside, Index rows) {
  if (outside.empty() || outside.size() == static_cast<std::size_t>(rows)) return;
  throw InvalidInput("what rows hold outside is given for " + std::to_string(outside.size()) + " rows, Jacobi has " +
                     std::to_string(rows));
}

}  // namespace

void require_no_long_rows(std::span<const Offset> row_offsets, const JacobiOptions& options) {
  if (options.long_row == 0) return;
  for (std::size_t i = 0; i + 1 < row_offsets.size(); ++i) {
    if (row_offsets[i + 1] - row_offsets[i] <= options.long_row) continue;
    throw Unsupported("Jacobi sweeps by tiles do not take rows of more than " + std::to_string(options.long_row) +
                      " entries, such as row " + std::to_string(i) + ": use another form");
  }
}

void require_valid(const JacobiOptions& options) {
  if (options.sweeps < 1) throw InvalidInput("Jacobi needs at least one sweep");
  if (!std::isfinite(options.damping) || options.damping == 0.0) {
    throw InvalidInput("the damping of Jacobi must be finite and not 0");
  }
  if (!(options.l1_scale >= 0.0 && options.l1_scale <= 1.0)) throw InvalidInput("l1_scale of Jacobi must be 0 to 1");
  const bool by_kernels = options.form == JacobiForm::automatic || options.form == JacobiForm::kernels ||
                          options.form == JacobiForm::turning;
  if (options.weights == JacobiWeights::chebyshev && options.sweeps > 1 && !by_kernels) {
    throw InvalidInput(std::string("Jacobi sweeps with Chebyshev's weights have the forms kernels and turning, not ") +
                       to_string(options.form));
  }
  if (options.part_entries < 1) throw InvalidInput("a part of a Jacobi sweep has at least one entry");
  if (options.long_row < 0) throw InvalidInput("rows are long from some number of entries on, or never: 0");
}

Jacobi::Jacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options,
               Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  require_valid(options);
  check_matrix(a, space);
  check_outside(options.outside, a.pattern.rows);
  const MemorySpace from = space_of(a.pattern, space);
  impl_ = with_memory_errors("Jacobi", a.pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::make_jacobi(context, a, from, options, stream)
                                              : host::make_jacobi(context, a, options);
  });
  impl_->facade.size = a.pattern.rows;
  impl_->facade.automatic = options.form == JacobiForm::automatic;
  impl_->facade.keeps_matrix = options.sweeps > 1 || options.keep_matrix;
  impl_->facade.has_constant_weights = options.weights == JacobiWeights::constant;
  impl_->facade.has_values = true;
}

Jacobi::~Jacobi() = default;
Jacobi::Jacobi(Jacobi&&) noexcept = default;
Jacobi& Jacobi::operator=(Jacobi&&) noexcept = default;

void Jacobi::set_outside(std::vector<double> outside) {
  check_outside(outside, impl_->facade.size);
  impl_->set_outside(std::move(outside));
}

void Jacobi::update_values(const CsrView& a, MemorySpace space, Stream stream) {
  if (a.pattern.rows != impl_->facade.size) {
    throw InvalidInput("new values for " + std::to_string(a.pattern.rows) + " rows, Jacobi was made for " +
                       std::to_string(impl_->facade.size));
  }
  require_array(a.pattern.row_offsets, a.pattern.rows, "row_offsets");
  if (space == MemorySpace::host) {
    require_array(a.pattern.col_indices, a.pattern.entries(), "col_indices");
    require_array(a.values, a.pattern.entries(), "values");
  }
  impl_->check_space(space);
  impl_->refuse_capture(stream, "new values for Jacobi");
  impl_->facade.has_values = false;
  with_memory_errors("Jacobi", impl_->facade.size,
                     [&] { impl_->update_values(a, space_of(a.pattern, space), stream); });
  impl_->facade.has_values = true;
}
void Jacobi::apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) {
  if (!impl_->facade.has_values) throw InvalidInput("the last update_values() failed: Jacobi needs another one first");
  require_array(b, impl_->facade.size, "b");
  require_array(x, impl_->facade.size, "x");
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "Jacobi with vectors in host memory");
  with_memory_errors("Jacobi", impl_->facade.size, [&] { impl_->apply(b, x, space, transposed, stream); });
}

void Jacobi::iterate(const double* b, double* x, MemorySpace space, Stream stream) {
  if (!impl_->facade.has_values) throw InvalidInput("the last update_values() failed: Jacobi needs another one first");
  if (!impl_->facade.keeps_matrix)
    throw InvalidInput("Jacobi with one sweep has not kept the matrix: ask for keep_matrix");
  require_array(b, impl_->facade.size, "b");
  require_array(x, impl_->facade.size, "x");
  if (impl_->facade.size > 0 && b == x) throw InvalidInput("b and x of Jacobi sweeps from a vector are two arrays");
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "Jacobi with vectors in host memory");
  with_memory_errors("Jacobi", impl_->facade.size, [&] { impl_->iterate(b, x, space, stream); });
}

JacobiOutcome Jacobi::solve(const double* b, double* x, MemorySpace space, const JacobiStop& stop, Stream stream) {
  if (!impl_->facade.has_values) throw InvalidInput("the last update_values() failed: Jacobi needs another one first");
  if (!impl_->facade.keeps_matrix)
    throw InvalidInput("Jacobi with one sweep has not kept the matrix: ask for keep_matrix");
  if ((impl_->form == JacobiForm::resident || impl_->form == JacobiForm::tiles) && !impl_->facade.automatic) {
    throw InvalidInput(std::string("Jacobi sweeps of the form ") + to_string(impl_->form) +
                       " are of a fixed number: a tolerance needs another form");
  }
  if (!impl_->facade.has_constant_weights) {
    throw InvalidInput("Chebyshev's weights are for a fixed number of Jacobi sweeps: a tolerance needs constant ones");
  }
  if (!(stop.tolerance >= 0.0)) throw InvalidInput("the tolerance of Jacobi must be 0 or more");
  if (stop.max_sweeps < 1 || stop.check_every < 1) throw InvalidInput("Jacobi needs at least one sweep");
  require_array(b, impl_->facade.size, "b");
  require_array(x, impl_->facade.size, "x");
  impl_->check_space(space);
  impl_->refuse_capture(stream, "Jacobi to a tolerance");
  if (impl_->facade.size == 0) return {0, 0.0, true};
  return with_memory_errors("Jacobi", impl_->facade.size, [&] { return impl_->solve(b, x, space, stop, stream); });
}

const double* Jacobi::diagonal() const { return impl_->diagonal(); }
JacobiForm Jacobi::form() const { return impl_->form; }
std::vector<EngineRun> Jacobi::engine_runs() const { return impl_->engine_runs(); }
Index Jacobi::zero_diagonals() const { return impl_->zero_diagonals; }
std::int64_t Jacobi::bytes() const { return impl_->bytes; }

}  // namespace taskdag
