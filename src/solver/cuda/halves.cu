// The halves of a factorisation on CUDA: each is one of the sweeps of an application.
#include "backends/cuda/device.hpp"
#include "csr/gather.hpp"
#include "kernels/sor/cuda.hpp"
#include "solver/cuda/factorization.hpp"
#include "solver/cuda/input.hpp"

namespace taskdag::cuda {

template <class Work>
void CudaFactorization::with_vectors(const double* from, double* to, MemorySpace space, Stream stream,
                                     const Work& work) {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  StreamOrder::Call call(order_, s);
  with_device_vectors(host_.staging, host_.vectors, static_cast<std::size_t>(info.rows), from, to,
                      space == MemorySpace::device, s,
                      [&](const double* device_from, double* device_to) { work(device_from, device_to, s); });
  if (space == MemorySpace::host) call.waited();
}

// The first sweep has made v = E x of (E + L) x = b.
void CudaFactorization::solve_lower(const double* b, double* x, MemorySpace space, Stream stream) {
  with_vectors(b, x, space, stream, [&](const double* from, double* to, cudaStream_t s) {
    const ChosenSweep& first = sweeps_.first;
    first->solve(from, nullptr, flag_.data(), s);
    kernels::move_scaled(info.rows, first->result(), first->result_index(), factor_.inverse_pivots(),
                         layout_.row_order.data(), to, s);
  });
}

void CudaFactorization::solve_upper(const double* b, double* x, MemorySpace space, Stream stream) {
  if (second_alone_.rhs.size() == 0 && info.rows > 0) {
    refuse_capture(stream, "the first solution with the upper half of a factor");
    const DeviceGuard guard(device_);
    reserve_second_rhs(native(stream));
  }
  with_vectors(b, x, space, stream, [&](const double* from, double* to, cudaStream_t s) {
    kernels::move_scaled(info.rows, from, layout_.row_order.data(), nullptr, sweeps_.first->result_index(),
                         second_alone_.rhs.data(), s);
    sweeps_.second->solve(second_alone_.rhs.data(), to, flag_.data(), s);
  });
}

void CudaFactorization::multiply_upper(const double* x, double* y, MemorySpace space, Stream stream) {
  with_vectors(x, y, space, stream, [&](const double* from, double* to, cudaStream_t s) {
    require_entries(s);
    kernels::factor_multiply_upper(layout_.pattern.pattern(), layout_.diagonal.data(), factor_.entries(),
                                   layout_.row_order.data(), from, to, s);
  });
}

void CudaFactorization::take_balanced(const double* e, const double* d, cudaStream_t s) {
  const Index bad = kernels::find_not_positive(info.rows, factor_, s);
  if (bad >= 0) refuse_pivot(layout_.callers_row(bad, s), fetch(e + bad, s));
  require_entries(s);
  const ScratchArray<double> entries(static_cast<std::size_t>(layout_.pattern.entries), s);
  kernels::balance(layout_.pattern.pattern(), factor_, entries.data(), s);
  if (!eisenstat_.balanced.first.sweep) eisenstat_.balanced = make_sweeps(s);
  const SweepPair::Values values{entries.data()};  // both have unit diagonals
  eisenstat_.balanced.load(values, values, s);
  for (const SweepPair& pair : retired_.balanced) pair.load(values, values, s);
  if (eisenstat_.balanced.rewrites_rows()) keep_balanced_rows_if_needed(entries.data(), s);
  eisenstat_.balanced_product.take(eisenstat_.balanced, retired_.balanced,
                                   {info.rows, layout_.row_order.data(), 1.0, true}, e, d, s);
}

void CudaFactorization::keep_balanced_rows_if_needed(const double* entries, cudaStream_t s) {
  if (!eisenstat_.balanced.loses_with(entries, nullptr, s)) return;
  request_.keep_rows = true;
  SweepPair keeping = make_sweeps(s);
  keeping.load({entries}, {entries}, s);
  std::swap(eisenstat_.balanced, keeping);
  if (order_.captured()) retired_.balanced.push_back(std::move(keeping));  // graphs of them go on
}

void CudaFactorization::set_diagonal(const double* d, MemorySpace space, Stream stream, TransformScaling scaling) {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  StreamOrder::Call call(order_, s);
  const auto rows = static_cast<std::size_t>(info.rows);
  const ScratchArray<double> copy(space == MemorySpace::host ? rows : 0, s);
  if (space == MemorySpace::host) {
    host_.staging.upload(copy.data(), d, rows, s);
    d = copy.data();
  }
  const ScratchArray<double> e(rows, s);
  kernels::scatter_inverse(info.rows, factor_.inverse_pivots(), nullptr, e.data(), s);
  if (scaling == TransformScaling::symmetric) {
    take_balanced(e.data(), d, s);
  } else {
    eisenstat_.product.take(sweeps_, retired_.sweeps, {info.rows, layout_.row_order.data(), 1.0}, e.data(), d, s);
  }
  eisenstat_.scaling = scaling;
  count_bytes();
  synchronize(s);
  call.waited();
}

void CudaFactorization::multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream) {
  with_vectors(v, y, space, stream, [&](const double* from, double* to, cudaStream_t s) {
    eisenstat_.run(sweeps_, from, to, flag_.data(), s);
  });
}

void CudaFactorization::pivots(double* e, MemorySpace space, Stream stream) const {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  StreamOrder::Call call(order_, s);
  if (space == MemorySpace::device) {
    kernels::scatter_inverse(info.rows, factor_.inverse_pivots(), layout_.row_order.data(), e, s);
    return;
  }
  const auto rows = static_cast<std::size_t>(info.rows);
  const ScratchArray<double> found(rows, s);
  kernels::scatter_inverse(info.rows, factor_.inverse_pivots(), layout_.row_order.data(), found.data(), s);
  copy_to_host(e, found.data(), rows, s);
  synchronize(s);
  call.waited();
}

}  // namespace taskdag::cuda
