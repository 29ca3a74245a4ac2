#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.cuh"
#include "kernels/sptrsv/schedules/joined/join.hpp"

namespace taskdag::kernels::joined {
namespace {

struct Values {
  const Offset* row_offsets;
  const Offset* term_begin;
  const Offset* factor;
  const Offset* second_factor;
  const Index* through;
  const Offset* substituted_begin;
  const Offset* substituted_entry;
  const double* source;
  const double* pivot;  // null: all 1
};

__global__ void compare_rows(Index rows, const Values v, double* growth) {
  const auto i = static_cast<Index>(cuda::element());
  if (i >= rows) return;
  double plain = v.pivot ? 1.0 / fabs(v.pivot[i]) : 1.0;  // Σ_j |a_ij|
  double moved = 0.0;                                     // Σ_s |a_is| (1 + Σ_j |p_s a_sj|)
  for (Offset e = v.row_offsets[i]; e < v.row_offsets[i + 1]; ++e) {
    for (Offset k = v.term_begin[e]; k < v.term_begin[e + 1]; ++k) {
      const double first = fabs(v.source[v.factor[k]]);
      const Index s = v.through[k];
      if (s < 0) {
        plain += first;
      } else {
        moved += first * (v.pivot ? fabs(v.pivot[s]) : 1.0) * fabs(v.source[v.second_factor[k]]);
      }
    }
  }
  for (Offset k = v.substituted_begin[i]; k < v.substituted_begin[i + 1]; ++k) {
    const double entry = fabs(v.source[v.substituted_entry[k]]);
    plain += entry;
    moved += entry;
  }
  growth[i] = 1.0 + moved / plain;
}

}  // namespace

double growth(const JoinedTriangle& triangle, const double* source, const double* pivot, cudaStream_t stream) {
  if (triangle.entries == 0) return 1.0;
  const cuda::ScratchArray<double> of_row(static_cast<std::size_t>(triangle.rows), stream);
  compare_rows<<<cuda::element_blocks(triangle.rows), cuda::kElementBlock, 0, stream>>>(
      triangle.rows,
      {triangle.row_offsets.data(), triangle.term_begin.data(), triangle.factor.data(), triangle.second_factor.data(),
       triangle.through.data(), triangle.substituted_begin.data(), triangle.substituted_entry.data(), source, pivot},
      of_row.data());
  cuda::check_launch("compare_rows");
  return cuda::largest(of_row.data(), triangle.rows, stream);
}

}  // namespace taskdag::kernels::joined
