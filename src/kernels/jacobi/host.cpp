#include "kernels/jacobi/host.hpp"

#include <atomic>

#include "kernels/jacobi/host_rows.hpp"
#include "kernels/jacobi/task.hpp"

namespace taskdag::kernels {

namespace {

template <class Body>
void for_rows(Index rows, host::ThreadPool& pool, const Body& body) {
  for_chunks_of_rows(rows, pool, [&](Index first, Index last) {
    for (Index i = first; i < last; ++i) body(i);
  });
}

}  // namespace

Index host_jacobi_scale(const CsrView& a, const JacobiOptions& options, host::ThreadPool& pool, double* scale) {
  std::atomic<Index> zeros{0};
  for_rows(a.pattern.rows, pool, [&](Index i) {
    JacobiRow row = jacobi_share(a, options.diagonal, i, 0, 1);
    if (!options.outside.empty()) row.add_outside(options.outside[static_cast<std::size_t>(i)]);
    const double d = row.term(options.diagonal, options.l1_scale);
    if (d == 0.0) zeros.fetch_add(1, std::memory_order_relaxed);
    scale[i] = options.damping * jacobi_inverse(d, options.absolute);
  });
  return zeros.load(std::memory_order_relaxed);
}

void host_jacobi_sweep(const CsrView& a, const double* scale, double weight, const double* b, const double* x,
                       double* y, const RowCut& cut, bool backward, host::ThreadPool& pool) {
  const Index last = a.pattern.rows - 1;
  for_rows(a.pattern.rows, pool, [&](Index k) {
    const Index i = backward ? last - k : k;
    y[i] = jacobi_row_in_pieces(a, i, x, b[i], weight * scale[i], cut);
  });
}

void host_jacobi_residual(const CsrView& a, const double* b, const double* x, double* r, host::ThreadPool& pool) {
  for_rows(a.pattern.rows, pool, [&](Index i) { r[i] = residual_row(host::SingleThread(), a, i, x, b[i]); });
}

}  // namespace taskdag::kernels
