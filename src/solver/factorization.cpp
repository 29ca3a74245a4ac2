#include "taskdag/factorization.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "dag/row_blocks.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "solver/checks.hpp"
#include "solver/choice/factor_schedule.hpp"
#include "solver/choice/require_schedule.hpp"
#include "solver/impl.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {
namespace {

void check_blocks(const FactorOptions& options, Index rows) {
  if (kernels::row_of(options.schedule).needs_blocks) {
    if (!options.blocks) {
      throw InvalidInput(std::string("the schedule ") + to_string(options.schedule) +
                         " needs an ordering by blocks: FactorOptions::blocks is empty");
    }
    if (!independent_blocks(options)) {
      throw InvalidInput(
          "the schedule blocks is for fill level 0 and for FillScope::blocks: other fill couples blocks");
    }
  }
  if (!options.blocks && options.levels > 0 && options.fill == FillScope::blocks) {
    throw InvalidInput("FillScope::blocks needs an ordering by blocks: FactorOptions::blocks is empty");
  }
  if (!options.blocks) return;
  if (const auto fault = find_shape_fault(*options.blocks, rows)) {
    throw InvalidInput("FactorOptions::blocks: " + *fault);
  }
}

void check_point_blocks(const FactorOptions& options) {
  if (options.block_size < 1 || options.block_size > largest_point_block) {
    throw InvalidInput("point blocks have 1 to " + std::to_string(largest_point_block) + " rows, not " +
                       std::to_string(options.block_size));
  }
  if (options.complex_blocks && options.block_size % 2 != 0) {
    throw InvalidInput("blocks of complex numbers have an even number of rows, not " +
                       std::to_string(options.block_size));
  }
  if (options.block_size == 1) return;
  const bool numbers = options.complex_blocks && options.block_size == 2;
  if (numbers && options.shift == ShiftType::scaled) {
    throw InvalidInput("complex numbers are factored with all shifts but scaled");
  }
  if (!numbers && options.shift != ShiftType::none && options.shift != ShiftType::inblocks) {
    throw InvalidInput("point blocks are factored with the shifts none and inblocks alone");
  }
  if (!numbers && options.shift == ShiftType::inblocks && options.shift_amount < 0) {
    throw InvalidInput("the shift of pivots in point blocks is negative");
  }
  if (options.diagonal_only && !numbers) throw InvalidInput("point blocks are not factored on the diagonal alone");
  if (options.levels > 0 && options.fill == FillScope::blocks) {
    throw InvalidInput("point blocks have no fill inside FactorOptions::blocks");
  }
  if (options.schedule != SolveSchedule::automatic || options.factor_schedule != FactorSchedule::automatic ||
      options.tune) {
    throw InvalidInput("point blocks have one schedule, which is neither chosen nor tuned");
  }
  if (options.precision == Precision::in_single) throw InvalidInput("point blocks are factored in double alone");
}

void check_device_order(const Context& context, const FactorOptions& options, Index rows, bool orders_given) {
  const DeviceOrder* const order = options.device_order.get();
  if (order == nullptr) return;
  if (context.backend() != Backend::cuda || order->device() != context.device()) {
    throw InvalidInput("FactorOptions::device_order is not on the device of the context");
  }
  if (order->rows() != rows) {
    throw InvalidInput("FactorOptions::device_order has " + std::to_string(order->rows()) + " entries for " +
                       std::to_string(rows) + " rows");
  }
  if (orders_given) throw InvalidInput("FactorOptions::device_order takes the place of row_order and col_order");
  if (options.block_size > 1) throw InvalidInput("FactorOptions::device_order is not for point blocks");
}

void check_pivoting(double shift_amount, double zero_pivot) {
  if (!std::isfinite(shift_amount) || !(zero_pivot >= 0) || !std::isfinite(zero_pivot)) {
    throw InvalidInput("shift_amount must be finite, zero_pivot finite and not negative");
  }
}

void require_factor(const Factorization::Impl& impl) {
  if (impl.facade.factored) return;
  throw InvalidInput(impl.facade.tried ? "the last factor() failed: an application needs another one first"
                                       : "a factorisation is applied before its first factor()");
}

}  // namespace

Factorization::Factorization(const Context& context, const CsrPattern& pattern, MemorySpace space,
                             const FactorOptions& options, std::span<const Index> row_order,
                             std::span<const Index> col_order, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  require_schedule(context.backend(), options.schedule);
  require_factor_schedule(context.backend(), options.factor_schedule);
  if (options.precision == Precision::in_single) {
    require_precision(context.backend(), options.schedule, options.precision);
  }
  if (options.levels < 0) throw InvalidInput("the fill level is negative");
  if (options.one_block_applications < applications_that_pay) {
    throw InvalidInput("the number of applications by one thread block is negative");
  }
  if (options.diagonal_only && options.levels > 0) throw InvalidInput("diagonal_only is for fill level 0");
  check_pattern(pattern, space, false, "a factorisation");
  check_pivoting(options.shift_amount, options.zero_pivot);
  check_point_blocks(options);
  if (options.shift == ShiftType::scaled && options.kind != FactorKind::ic) {
    throw InvalidInput("ShiftType::scaled is for ic only");
  }
  check_order(row_order, pattern.rows, context.backend(), "row");
  const bool one_order = row_order.data() == col_order.data() && row_order.size() == col_order.size();
  if (!one_order) check_order(col_order, pattern.rows, context.backend(), "column");
  check_device_order(context, options, pattern.rows, !row_order.empty() || !col_order.empty());
  // Where that is no number of rows, point blocks are too large for a factorisation anyway.
  const auto rows = std::int64_t{pattern.rows} * options.block_size;
  check_blocks(options, static_cast<Index>(std::min<std::int64_t>(rows, std::numeric_limits<Index>::max())));
  if (options.kind == FactorKind::ic && !one_order && !std::ranges::equal(row_order, col_order)) {
    throw InvalidInput("ic needs the same order for rows and columns");
  }
  const MemorySpace from = space_of(pattern, space);
  impl_ = with_memory_errors("a factorisation", pattern.rows, [&] {
    const bool cuda = context.backend() == Backend::cuda;
    if (options.block_size > 1) {
      return cuda ? cuda::make_point_block_factorization(context, pattern, from, options, row_order, col_order, stream)
                  : host::make_point_block_factorization(context, pattern, options, row_order, col_order);
    }
    if (!cuda) return host::make_factorization(context, pattern, options, row_order, col_order);
    auto small = cuda::make_one_block_factorization(context, pattern, from, options, row_order, col_order, stream);
    return small ? std::move(small)
                 : cuda::make_factorization(context, pattern, from, options, row_order, col_order, stream);
  });
  impl_->facade.kind = options.kind;
  impl_->facade.always_double = options.precision == Precision::in_double;
  impl_->facade.one_order = one_order || std::ranges::equal(row_order, col_order);
}

Factorization::~Factorization() = default;
Factorization::Factorization(Factorization&&) noexcept = default;
Factorization& Factorization::operator=(Factorization&&) noexcept = default;

void Factorization::set_pivoting(double shift_amount, double zero_pivot) {
  check_pivoting(shift_amount, zero_pivot);
  impl_->set_pivoting(shift_amount, zero_pivot);
}

FactorStatus Factorization::factor(const double* values, MemorySpace space, Stream stream) {
  require_array(values, impl_->info.rows, "values");
  impl_->check_space(space);
  impl_->refuse_capture(stream, "a factorisation");
  impl_->facade.factored = false;
  impl_->facade.has_diagonal = false;
  impl_->facade.tried = true;
  const FactorStatus status =
      with_memory_errors("a factorisation", impl_->info.rows, [&] { return impl_->factor(values, space, stream); });
  impl_->facade.factored = true;
  return status;
}

void Factorization::apply(Apply operation, const double* b, double* x, MemorySpace space, Stream stream) {
  apply_many(operation, 1, b, impl_->info.rows, x, impl_->info.rows, space, stream);
}

bool Factorization::prepare_replays(std::int64_t replays, Stream stream) {
  impl_->refuse_capture(stream, "prepare_replays()");
  return impl_->prepare_replays(replays, stream);
}

void Factorization::apply_many(Apply operation, Index count, const double* b, std::int64_t ldb, double* x,
                               std::int64_t ldx, MemorySpace space, Stream stream) {
  if (impl_->facade.kind != FactorKind::ic &&
      (operation == Apply::symmetric_left || operation == Apply::symmetric_right)) {
    throw InvalidInput("the symmetric parts of an application exist for ic only");
  }
  require_factor(*impl_);
  require_columns(count, impl_->info.rows, b, ldb, x, ldx);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "an application to vectors in host memory");
  with_memory_errors("several right-hand sides", impl_->info.rows,
                     [&] { impl_->apply(operation, count, b, ldb, x, ldx, space, stream); });
}

namespace {

void require_double(const Factorization::Impl& impl) {
  if (!impl.facade.always_double) {
    throw InvalidInput("the halves of a factorisation need FactorOptions::precision in_double");
  }
}

void check_half(const Factorization::Impl& impl, const double* in, const double* out, MemorySpace space) {
  require_factor(impl);
  impl.check_space(space);
  require_double(impl);
  if (!impl.facade.one_order) throw InvalidInput("the halves of a factorisation need one order for rows and columns");
  require_array(in, impl.info.rows, "b");
  require_array(out, impl.info.rows, "x");
  if (in == out && impl.info.rows > 0)
    throw InvalidInput("a half of a factorisation is applied to two different arrays");
}

}  // namespace

void Factorization::solve_lower(const double* b, double* x, MemorySpace space, Stream stream) {
  check_half(*impl_, b, x, space);
  with_memory_errors("a half of a factor", impl_->info.rows, [&] { impl_->solve_lower(b, x, space, stream); });
}
void Factorization::solve_upper(const double* b, double* x, MemorySpace space, Stream stream) {
  check_half(*impl_, b, x, space);
  with_memory_errors("a half of a factor", impl_->info.rows, [&] { impl_->solve_upper(b, x, space, stream); });
}
void Factorization::multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) {
  check_half(*impl_, x, y, space);
  with_memory_errors("a half of a factor", impl_->info.rows, [&] { impl_->multiply_upper(x, y, space, stream); });
}
void Factorization::pivots(double* e, MemorySpace space, Stream stream) const {
  require_factor(*impl_);
  impl_->check_space(space);
  require_array(e, impl_->info.rows, "e");
  if (!impl_->facade.one_order) throw InvalidInput("the pivots of a factorisation need one order for rows and columns");
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "pivots in host memory");
  impl_->pivots(e, space, stream);
}

void Factorization::set_diagonal(const double* d, MemorySpace space, Stream stream, TransformScaling scaling) {
  require_factor(*impl_);
  impl_->check_space(space);
  require_array(d, impl_->info.rows, "d");
  require_double(*impl_);
  if (!impl_->facade.one_order) throw InvalidInput("the halves of a factorisation need one order for rows and columns");
  impl_->refuse_capture(stream, "set_diagonal()");
  impl_->facade.has_diagonal = false;
  with_memory_errors("Eisenstat's trick", impl_->info.rows, [&] { impl_->set_diagonal(d, space, stream, scaling); });
  impl_->facade.has_diagonal = true;
}
void Factorization::multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) {
  check_half(*impl_, v, y, space);
  if (!impl_->facade.has_diagonal)
    throw InvalidInput("multiply_transformed() needs set_diagonal() after each factor()");
  with_memory_errors("Eisenstat's trick", impl_->info.rows, [&] { impl_->multiply_transformed(v, y, space, stream); });
}

double Factorization::growth_bound() const {
  require_factor(*impl_);
  return impl_->growth_bound;
}

double Factorization::growth(const double* values, MemorySpace space, Stream stream) {
  require_factor(*impl_);
  impl_->refuse_capture(stream, "growth()");
  return with_memory_errors("the growth of a factor", impl_->info.rows,
                            [&] { return impl_->growth(values, space, stream); });
}

SolveOutcome Factorization::outcome() { return impl_->outcome(); }
SolveOutcome Factorization::outcome(Stream stream) {
  impl_->refuse_capture(stream, "outcome()");
  return impl_->outcome(stream);
}
CsrMatrix Factorization::copy_factor() const {
  return with_memory_errors("a copy of a factor", impl_->info.rows, [&] { return impl_->copy_factor(); });
}
const FactorizationInfo& Factorization::info() const {
  with_memory_errors("levels", impl_->info.rows,
                     [&] { std::call_once(impl_->facade.levels_counted, [&] { impl_->add_levels(); }); });
  return impl_->info;
}
const FactorizationInfo& Factorization::info_without_levels() const { return impl_->info; }

std::vector<EngineRun> Factorization::engine_runs() const { return impl_->engine_runs(); }

}  // namespace taskdag
