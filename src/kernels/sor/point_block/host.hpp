/// \file
/// D⁻¹ A and D⁻¹ b on host threads, D being the diagonal blocks of A.
#pragma once

#include <vector>

#include "backends/host/thread_pool.hpp"
#include "kernels/jacobi/blocks/inverse.hpp"
#include "kernels/sor/point_block/rows.hpp"

namespace taskdag::kernels::point_block {

struct HostScaledPattern {
  std::vector<Offset> row_offsets;
  std::vector<Index> col_indices;
};
HostScaledPattern host_scaled_pattern(const ScaledRows& a);

/// The values of D⁻¹ A and the inverses of D. Blocks without an inverse leave infinities and NaNs.
BlockFindings host_scale_rows(const ScaledRows& a, const double* blocks, double omega, double shift,
                              host::ThreadPool& pool, double* inverses, double* values);

/// x = D⁻¹ b, two different arrays.
void host_multiply_inverses(Index rows, int block_size, const double* inverses, const double* b, double* x,
                            host::ThreadPool& pool);

}  // namespace taskdag::kernels::point_block
