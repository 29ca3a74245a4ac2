/// \file
/// Applications of a factor on the device, and what they need beside the two sweeps.
#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.hpp"
#include "csr/gather.hpp"
#include "solver/cuda/factorization.hpp"
#include "solver/cuda/input.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

void CudaFactorization::apply(Apply operation, Index count, const double* b, std::int64_t ldb, double* x,
                              std::int64_t ldx, MemorySpace space, Stream stream) {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  StreamOrder::Call call(order_, s);
  prepare(operation, s);
  for (Index k = 0; k < count;) {
    const Index together = columns_together(operation, count - k);
    with_device_columns(host_.staging, host_.vectors, info.rows, {together, b + k * ldb, ldb, x + k * ldx, ldx},
                        space == MemorySpace::device, s,
                        [&](const CudaColumns& columns) { run(operation, columns, s); });
    k += together;
  }
  if (space == MemorySpace::host) call.waited();
}

SolveOutcome CudaFactorization::outcome() {
  const DeviceGuard guard(device_);
  return flag_.take();
}

SolveOutcome CudaFactorization::outcome(Stream stream) {
  const DeviceGuard guard(device_);
  StreamOrder::Call call(order_, native(stream));
  const SolveOutcome result = flag_.take(native(stream));
  call.waited();
  return result;
}

void CudaFactorization::refuse_capture(Stream stream, const char* what) const {
  cuda::refuse_capture(native(stream), what);
}

SweepPair CudaFactorization::make_transposed(cudaStream_t s) const {
  const DeviceCsr transposed = kernels::transpose_pattern(layout_.pattern.pattern(), s);
  const DevicePattern p = transposed.pattern();
  SweepPair sweeps(request_, AnalysedTriangle(p, Triangle::lower, s), transposed.source.data(), layout_.column_order(),
                   AnalysedTriangle(p, Triangle::upper, s), transposed.source.data(), layout_.row_order.data(),
                   blocks(), false, s);
  load_transposed(sweeps, s);
  return sweeps;
}

void CudaFactorization::load_transposed(const SweepPair& sweeps, cudaStream_t s) const {
  const double* const inverse = factor_.inverse_pivots();
  const bool single = sweeps.single();
  sweeps.load({second_values(sweeps), single ? nullptr : inverse}, {factor_.entries(), single ? inverse : nullptr}, s);
}

void CudaFactorization::prepare_symmetric(cudaStream_t s) {
  if (info.rows > 0) {
    if (smallest(factor_.inverse_pivots(), info.rows, s) < 0.0) {
      throw InvalidInput("a symmetric part of the factor needs pivots that are not negative; one is");
    }
  }
  reserve_second_rhs(s);
  second_alone_.symmetric_ready = true;
}

void CudaFactorization::reserve_second_rhs(cudaStream_t s) {
  if (second_alone_.rhs.size() > 0) return;
  second_alone_.rhs = {extent(sweeps_.first->result_index(), info.rows, s), s};
  count_bytes();
}

void CudaFactorization::prepare(Apply operation, cudaStream_t s) {
  const bool symmetric = operation == Apply::symmetric_left || operation == Apply::symmetric_right;
  if (symmetric && !second_alone_.symmetric_ready) {
    cuda::refuse_capture(s, "the first symmetric application of a factor");
    prepare_symmetric(s);
  }
  if (runs_transposed(operation) && !transposed_.first.sweep) {
    cuda::refuse_capture(s, "the first transposed application");
    require_entries(s);
    transposed_ = make_transposed(s);
    if (rewrites_rows()) measure_loss(s);
    keep_rows_if_needed(s);
    count_bytes();
  }
}

bool CudaFactorization::runs_transposed(Apply operation) const {
  return operation == Apply::transposed && options_.kind == FactorKind::ilu;
}

Index CudaFactorization::columns_together(Apply operation, Index remaining) const {
  const SweepPair& single = runs_transposed(operation) ? transposed_ : sweeps_;
  const Index most = std::min(remaining, kernels::many::kMostColumns);
  return info.rows > 0 && many_pays(single.first, single.second, most) ? most : 1;
}

ManyPair& CudaFactorization::many(Apply operation, cudaStream_t s) {
  const bool transposed = runs_transposed(operation);
  ManySweeps& many = transposed ? many_transposed_ : many_;
  require_entries(s);
  if (!many.pair) {
    cuda::refuse_capture(s, "the first application to several columns");
    const DevicePattern p = layout_.pattern.pattern();
    if (single()) {
      many.rounded = {static_cast<std::size_t>(p.entries), s};
      if (options_.kind == FactorKind::ic) many.rounded_second = {static_cast<std::size_t>(p.entries), s};
    }
    if (transposed) {
      const DeviceCsr transposed_pattern = kernels::transpose_pattern(p, s);
      const DevicePattern t = transposed_pattern.pattern();
      many.pair.emplace(AnalysedTriangle(t, Triangle::lower, s), transposed_pattern.source.data(),
                        layout_.column_order(), AnalysedTriangle(t, Triangle::upper, s),
                        transposed_pattern.source.data(), layout_.row_order.data(), s);
    } else if (options_.kind == FactorKind::ic) {
      const DeviceCsr above = kernels::transpose_pattern(p, s);
      many.pair.emplace(AnalysedTriangle(above.pattern(), Triangle::lower, s), above.source.data(),
                        layout_.row_order.data(), AnalysedTriangle(p, Triangle::upper, s), nullptr,
                        layout_.row_order.data(), s);
    } else {
      many.pair.emplace(AnalysedTriangle(p, Triangle::lower, s), nullptr, layout_.row_order.data(),
                        AnalysedTriangle(p, Triangle::upper, s), nullptr, layout_.column_order(), s);
    }
  }
  const bool captured = is_capturing(s);
  many.captured = many.captured || captured;
  if (!many.loaded) {
    load_many(many, transposed, s);
    many.loaded = !captured;
  }
  return *many.pair;
}

// These sweeps hold doubles in any case: in single they load what rounding has made of the factor.
void CudaFactorization::load_many(ManySweeps& many, bool transposed, cudaStream_t s) const {
  const DevicePattern p = layout_.pattern.pattern();
  const double* const inverse = factor_.inverse_pivots();
  const double* first = first_values();
  const double* second = factor_.entries();
  if (single()) {
    const bool ic = options_.kind == FactorKind::ic;
    kernels::round_factor(p, factor_, entries_.unit.data(), !ic, many.rounded.data(), s);
    if (ic) kernels::round_factor(p, factor_, entries_.unit.data(), true, many.rounded_second.data(), s);
    first = many.rounded.data();
    second = ic ? many.rounded_second.data() : many.rounded.data();
  }
  many.pair->first().load_values(first, transposed ? inverse : nullptr, s);
  many.pair->second().load_values(second, transposed ? nullptr : inverse, s);
}

void CudaFactorization::run(Apply operation, const CudaColumns& columns, cudaStream_t s) {
  if (columns.count == 1) {
    run(operation, columns.b, columns.x, s);
    return;
  }
  ManyPair& pair = many(operation, s);
  const std::int64_t bytes = pair.bytes();
  switch (operation) {
    case Apply::symmetric_left:
      pair.solve_first(columns, factor_.inverse_pivots(), flag_.data(), s);
      break;
    case Apply::symmetric_right:
      pair.solve_second(columns, factor_.inverse_pivots(), flag_.data(), s);
      break;
    case Apply::transposed:
    case Apply::full:
      pair.solve(columns, flag_.data(), s);
  }
  if (pair.bytes() != bytes) count_bytes();
}

void CudaFactorization::run(Apply operation, const double* b, double* x, cudaStream_t s) {
  const double* const inverse = factor_.inverse_pivots();
  const ChosenSweep& first = sweeps_.first;
  switch (operation) {
    case Apply::symmetric_left:
      first->solve(b, nullptr, flag_.data(), s);
      kernels::gather_scaled(info.rows, first->result(), first->result_index(), inverse, x, s);
      break;
    case Apply::symmetric_right:  // (D^½ U)⁻¹ = (D U)⁻¹ D^½
      kernels::scatter_scaled(info.rows, b, inverse, first->result_index(), second_alone_.rhs.data(), s);
      sweeps_.second->solve(second_alone_.rhs.data(), x, flag_.data(), s);
      break;
    case Apply::transposed:
    case Apply::full: {
      (runs_transposed(operation) ? transposed_ : sweeps_).solve(b, x, flag_.data(), s);
    }
  }
}

}  // namespace taskdag::cuda
