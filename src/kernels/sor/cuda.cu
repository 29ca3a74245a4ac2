#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/seam.cuh"
#include "csr/row_lanes.cuh"
#include "kernels/sor/cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

__device__ Index at(const Index* index, Index i) { return index != nullptr ? index[i] : i; }
__device__ SorRow row_of(const SorRows& rows, Index i) { return {rows.diagonal[i], rows.omega}; }

__global__ void diagonal_kernel(Index rows, const Offset* position, const double* values, double omega, double shift,
                                double* diagonal, SorFindings* findings) {
  const auto i = static_cast<Index>(element());
  if (i >= rows) return;
  const double d = shifted_diagonal(values[position[i]], omega, shift);
  diagonal[i] = d;
  if (d == 0.0) {
    atomicMin(&findings->first_zero, i);
    atomicMax(&findings->last_zero, i);
  } else if (!isfinite(d)) {
    atomicMin(&findings->first_non_finite, i);
  }
}

template <int Lanes>
__global__ void sweep_values_kernel(DevicePattern a, const double* values, SorRows rows, double* entries,
                                    double* second_pivot) {
  const auto row = static_cast<Index>(element() / Lanes);
  const int rank = static_cast<int>(threadIdx.x) % Lanes;
  if (row >= a.rows) return;
  const double rest = 2.0 - rows.omega;
  for (Offset e = a.row_offsets[row] + rank; e < a.row_offsets[row + 1]; e += Lanes) {
    const Index column = a.col_indices[e];
    entries[e] = column < row ? values[e] * row_of(rows, column).inverse() : values[e] / rest;
  }
  if (rank == 0) second_pivot[row] = rest * row_of(rows, row).inverse();
}

__global__ void from_first_kernel(SorRows rows, const double* v, double* x, int* non_finite) {
  const auto i = static_cast<Index>(element());
  if (i >= rows.rows) return;
  const double value = v[at(rows.middle, i)] * row_of(rows, i).inverse();
  x[at(rows.order, i)] = value;
  if (!isfinite(value)) *non_finite = 1;
}

__global__ void to_second_kernel(SorRows rows, const double* r, double* m) {
  const auto i = static_cast<Index>(element());
  if (i < rows.rows) m[at(rows.middle, i)] = r[at(rows.order, i)] / (2.0 - rows.omega);
}

__global__ void between_kernel(SorRows rows, const double* b, const double* r, const double* v, double* m) {
  const auto i = static_cast<Index>(element());
  if (i >= rows.rows) return;
  const SorRow row = row_of(rows, i);
  const Index mine = at(rows.order, i);
  const Index index = at(rows.middle, i);
  m[index] = row.next(b[mine], r[mine], v[index] * row.inverse()) / (2.0 - rows.omega);
}

__global__ void next_kernel(SorRows rows, const double* b, const double* m, const double* x, double* r) {
  const auto i = static_cast<Index>(element());
  if (i >= rows.rows) return;
  const Index mine = at(rows.order, i);
  r[mine] = row_of(rows, i).next(b[mine], (2.0 - rows.omega) * m[at(rows.middle, i)], x[mine]);
}

__global__ void pivots_kernel(SorRows rows, double* e) {
  const auto i = static_cast<Index>(element());
  if (i < rows.rows) e[at(rows.order, i)] = 1.0 / row_of(rows, i).inverse();
}

/// Ends of a product with a triangle: finish(i, sum) is called once for each row.
struct Start {
  SorRows rows;
  const double* b;
  const double* x;
  double* out;
  bool second;
  __device__ void operator()(Index i, double sum) const {
    const Index mine = at(rows.order, i);
    const double r = row_of(rows, i).start(b[mine], x[mine]) - sum;
    if (second) {
      out[at(rows.middle, i)] = r / (2.0 - rows.omega);
    } else {
      out[mine] = r;
    }
  }
};
struct UpperProduct {
  SorRows rows;
  const double* x;
  double* y;
  __device__ void operator()(Index i, double sum) const {
    const Index mine = at(rows.order, i);
    y[mine] = x[mine] / row_of(rows, i).inverse() + sum;
  }
};
struct FactorProduct {
  const Offset* position;
  const double* values;
  const Index* order;
  const double* x;
  double* y;
  __device__ void operator()(Index i, double sum) const {
    const Index mine = at(order, i);
    y[mine] = values[position[i]] * x[mine] + sum;
  }
};

template <int Lanes, class Finish>
__global__ void triangle_kernel(DevicePattern a, const Offset* position, const double* values, SorOther triangle,
                                const Index* order, const double* x, Finish finish) {
  const auto row = static_cast<Index>(element() / Lanes);
  if (row >= a.rows) return;  // a whole group: a row belongs to one group
  const cuda::LaneGroup group(static_cast<int>(threadIdx.x) % cuda::kWarpSize, Lanes);
  const Offset first = triangle == SorOther::upper ? position[row] + 1 : a.row_offsets[row];
  const Offset last = triangle == SorOther::upper ? a.row_offsets[row + 1] : position[row];
  double sum = 0.0;
  for (Offset e = first + group.rank(); e < last; e += Lanes) sum += values[e] * x[at(order, a.col_indices[e])];
  sum = group.sum(sum);
  if (group.rank() == 0) finish(row, sum);
}

template <class Finish>
void run_triangle(const DevicePattern& a, const Offset* position, const double* values, SorOther triangle,
                  const Index* order, const double* x, const Finish& finish, cudaStream_t stream) {
  if (a.rows == 0) return;
  with_row_lanes(lanes_of_average_row(a.rows, (a.entries - a.rows) / 2), a.rows, [&](auto lanes, int blocks) {
    triangle_kernel<decltype(lanes)::value>
        <<<blocks, kElementBlock, 0, stream>>>(a, position, values, triangle, order, x, finish);
  });
  cuda::check_launch("triangle_kernel");
}

}  // namespace

void sor_diagonal(const DevicePattern& pattern, const Offset* position, const double* values, double omega,
                  double shift, double* diagonal, SorFindings* findings, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  diagonal_kernel<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern.rows, position, values, omega,
                                                                              shift, diagonal, findings);
  cuda::check_launch("diagonal_kernel");
}

void sor_sweep_values(const DevicePattern& pattern, const double* values, const SorRows& rows, double* entries,
                      double* second_pivot, cudaStream_t stream) {
  if (pattern.rows == 0) return;
  with_row_lanes(lanes_of_average_row(pattern.rows, pattern.entries), pattern.rows, [&](auto lanes, int blocks) {
    sweep_values_kernel<decltype(lanes)::value>
        <<<blocks, kElementBlock, 0, stream>>>(pattern, values, rows, entries, second_pivot);
  });
  cuda::check_launch("sweep_values_kernel");
}

void sor_from_first(const SorRows& rows, const double* v, double* x, int* non_finite, cudaStream_t stream) {
  if (rows.rows == 0) return;
  from_first_kernel<<<element_blocks(rows.rows), kElementBlock, 0, stream>>>(rows, v, x, non_finite);
  cuda::check_launch("from_first_kernel");
}

void sor_to_second(const SorRows& rows, const double* r, double* m, cudaStream_t stream) {
  if (rows.rows == 0) return;
  to_second_kernel<<<element_blocks(rows.rows), kElementBlock, 0, stream>>>(rows, r, m);
  cuda::check_launch("to_second_kernel");
}

void sor_between(const SorRows& rows, const double* b, const double* r, const double* v, double* m,
                 cudaStream_t stream) {
  if (rows.rows == 0) return;
  between_kernel<<<element_blocks(rows.rows), kElementBlock, 0, stream>>>(rows, b, r, v, m);
  cuda::check_launch("between_kernel");
}

void sor_next(const SorRows& rows, const double* b, const double* m, const double* x, double* r, cudaStream_t stream) {
  if (rows.rows == 0) return;
  next_kernel<<<element_blocks(rows.rows), kElementBlock, 0, stream>>>(rows, b, m, x, r);
  cuda::check_launch("next_kernel");
}

void sor_start(const DevicePattern& pattern, const Offset* position, const double* values, const SorRows& rows,
               SorOther other, const double* b, const double* x, double* out, cudaStream_t stream) {
  run_triangle(pattern, position, values, other, rows.order, x, Start{rows, b, x, out, other == SorOther::lower},
               stream);
}

void sor_multiply_upper(const DevicePattern& pattern, const Offset* position, const double* values, const SorRows& rows,
                        const double* x, double* y, cudaStream_t stream) {
  run_triangle(pattern, position, values, SorOther::upper, rows.order, x, UpperProduct{rows, x, y}, stream);
}

void factor_multiply_upper(const DevicePattern& pattern, const Offset* position, const double* values,
                           const Index* order, const double* x, double* y, cudaStream_t stream) {
  run_triangle(pattern, position, values, SorOther::upper, order, x, FactorProduct{position, values, order, x, y},
               stream);
}

void sor_pivots(const SorRows& rows, double* e, cudaStream_t stream) {
  if (rows.rows == 0) return;
  pivots_kernel<<<element_blocks(rows.rows), kElementBlock, 0, stream>>>(rows, e);
  cuda::check_launch("pivots_kernel");
}

}  // namespace taskdag::kernels
