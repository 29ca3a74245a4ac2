#include "taskdag/sor.hpp"

#include <cmath>
#include <string>

#include "dag/row_blocks.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "solver/checks.hpp"
#include "solver/choice/require_schedule.hpp"
#include "solver/impl.hpp"

namespace taskdag {

const char* to_string(SorSweep sweep) {
  switch (sweep) {
    case SorSweep::forward:
      return "forward";
    case SorSweep::backward:
      return "backward";
    case SorSweep::symmetric:
      break;
  }
  return "symmetric";
}

namespace {

/// `rows`: of the pattern.
void check_options(const SorOptions& options, Index rows) {
  if (!(options.omega > 0.0 && options.omega < 2.0)) throw InvalidInput("omega of SOR must lie between 0 and 2");
  if (!std::isfinite(options.shift)) throw InvalidInput("the shift of SOR's diagonal must be finite");
  if (kernels::row_of(options.schedule).needs_blocks && !options.blocks) {
    throw InvalidInput(std::string("the schedule ") + to_string(options.schedule) +
                       " needs an ordering by blocks: SorOptions::blocks is empty");
  }
  if (options.block_size < 1 || options.block_size > largest_point_block) {
    throw InvalidInput("point blocks have 1 to " + std::to_string(largest_point_block) + " rows, not " +
                       std::to_string(options.block_size));
  }
  const Offset elements = checked_offset(std::int64_t{rows} * options.block_size, "a vector of SOR");
  if (!options.blocks) return;
  if (const auto fault = find_shape_fault(*options.blocks, elements))
    throw InvalidInput("SorOptions::blocks: " + *fault);
}

void require_values(const Sor::Impl& impl) {
  if (impl.facade.has_values) return;
  throw InvalidInput(impl.facade.tried ? "the last update_values() failed: SOR needs another one first"
                                       : "SOR is run before its first update_values()");
}

}  // namespace

Sor::Sor(const Context& context, const CsrPattern& pattern, MemorySpace space, const SorOptions& options,
         std::span<const Index> order, Stream stream) {
  const bool cuda = context.backend() == Backend::cuda;
  if (!cuda) require_host_memory(space);
  require_schedule(context.backend(), options.schedule);
  check_pattern(pattern, space, false, "SOR");
  check_order(order, pattern.rows, context.backend(), "row");
  check_options(options, pattern.rows);
  impl_ = with_memory_errors("SOR", pattern.rows, [&] {
    if (options.block_size > 1) {
      return cuda ? cuda::make_point_block_sor(context, pattern, space_of(pattern, space), options, order, stream)
                  : host::make_point_block_sor(context, pattern, options, order);
    }
    return cuda ? cuda::make_sor(context, pattern, space_of(pattern, space), options, order, stream)
                : host::make_sor(context, pattern, options, order);
  });
}

Sor::~Sor() = default;
Sor::Sor(Sor&&) noexcept = default;
Sor& Sor::operator=(Sor&&) noexcept = default;

FactorStatus Sor::update_values(const double* values, MemorySpace space, Stream stream) {
  require_array(values, info().rows, "values");
  impl_->check_space(space);
  impl_->refuse_capture(stream, "SOR's update_values()");
  impl_->facade.has_values = false;
  impl_->facade.has_diagonal = false;
  impl_->facade.tried = true;
  const FactorStatus status =
      with_memory_errors("SOR", info().rows, [&] { return impl_->update_values(values, space, stream); });
  impl_->facade.has_values = true;
  return status;
}

void Sor::iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
                  Stream stream) {
  require_values(*impl_);
  if (iterations < 1) throw InvalidInput("SOR needs at least one iteration");
  require_array(b, info().rows, "b");
  require_array(x, info().rows, "x");
  if (b == x && info().rows > 0) throw InvalidInput("b and x of SOR are one array");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "SOR with vectors in host memory");
  with_memory_errors("SOR", info().rows, [&] { impl_->iterate(sweep, iterations, start, b, x, space, stream); });
}

void Sor::multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) {
  require_values(*impl_);
  require_array(x, info().rows, "x");
  require_array(y, info().rows, "y");
  if (x == y && info().rows > 0) throw InvalidInput("x and y of SOR are one array");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "SOR with vectors in host memory");
  with_memory_errors("SOR", info().rows, [&] { impl_->multiply_upper(x, y, space, stream); });
}
void Sor::pivots(double* e, MemorySpace space, Stream stream) const {
  require_values(*impl_);
  require_array(e, info().rows, "e");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "SOR with vectors in host memory");
  impl_->pivots(e, space, stream);
}

void Sor::set_diagonal(const double* d, MemorySpace space, Stream stream) {
  require_values(*impl_);
  require_array(d, info().rows, "d");
  impl_->check_space(space);
  impl_->refuse_capture(stream, "SOR's set_diagonal()");
  impl_->facade.has_diagonal = false;
  with_memory_errors("Eisenstat's trick", info().rows, [&] { impl_->set_diagonal(d, space, stream); });
  impl_->facade.has_diagonal = true;
}
void Sor::multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) {
  require_values(*impl_);
  if (!impl_->facade.has_diagonal) {
    throw InvalidInput("multiply_transformed() of SOR needs set_diagonal() after each update_values()");
  }
  require_array(v, info().rows, "v");
  require_array(y, info().rows, "y");
  if (v == y && info().rows > 0) throw InvalidInput("v and y of SOR are one array");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "SOR with vectors in host memory");
  with_memory_errors("Eisenstat's trick", info().rows, [&] { impl_->multiply_transformed(v, y, space, stream); });
}

SolveOutcome Sor::outcome() { return impl_->outcome(); }
const SorInfo& Sor::info() const { return impl_->info; }
std::vector<EngineRun> Sor::engine_runs() const { return impl_->engine_runs(); }

}  // namespace taskdag
