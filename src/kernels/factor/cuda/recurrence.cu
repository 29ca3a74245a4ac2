#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "kernels/factor/cuda/recurrence.hpp"
#include "kernels/factor/cuda/reporter.cuh"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

/// A thread a row, left of the diagonal.
__global__ void find_partners(DevicePattern pattern, const Offset* diagonal, Offset* partner) {
  const auto row = static_cast<Index>(element());
  if (row >= pattern.rows) return;
  for (Offset e = pattern.row_offsets[row]; e < diagonal[row]; ++e) {
    const Index other = pattern.col_indices[e];
    const Offset end = pattern.row_offsets[other + 1];
    const Offset found = cuda::first_not_below(pattern.col_indices, pattern.row_offsets[other], end, row);
    partner[e] = found < end && pattern.col_indices[found] == row ? found : -1;
  }
}

__global__ void load_diagonal(Index rows, const Offset* diagonal, FactorInput input, const Index* index, double* rhs,
                              int* lost) {
  const auto row = static_cast<Index>(element());
  if (row == 0) *lost = 0;
  if (row < rows) rhs[index ? index[row] : row] = input.shift.applied_to(input.value(diagonal[row]));
}

struct FillArguments {
  DevicePattern pattern;
  FactorInput input;
  PivotRule rule;
  FactorTarget target;
  const int* lost;
};

// Entries that a block has in shared memory at once: most blocks of short rows need no more.
constexpr int kTile = 2048;
// Entries of a thread, so that many loads are on their way.
constexpr int kPerThread = 4;
constexpr int kPerBlock = kPerThread * kElementBlock;

/// Entries of a block, kPerThread a thread. All loads come before the first store, which they could not pass.
template <FactorKind Kind>
struct FillBatch {
  static constexpr bool kIlu = Kind == FactorKind::ilu;
  int owner[kPerThread];
  Index column[kPerThread];
  double value[kPerThread];
  double inverse[kPerThread];  // of the row; ilu, left of the diagonal: of the column

  /// Entries `first`, first + kElementBlock, … of the `entries` from `begin` on; owners count from row `base`.
  __device__ void load(const FillArguments& a, Offset begin, int first, int entries, Index base,
                       const unsigned char* owners, const double* inverses) {
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      const int at = first + k * kElementBlock;
      owner[k] = -1;
      if (at >= entries) continue;
      const Offset e = begin + at;
      owner[k] = owners[at];
      column[k] = a.pattern.col_indices[e];
      value[k] = a.input.value(e);
    }
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (owner[k] < 0) continue;
      const bool left = kIlu && column[k] < base + owner[k];
      inverse[k] = left ? a.target.inverse_pivots[column[k]] : inverses[owner[k]];
    }
  }
  __device__ void store(const FillArguments& a, Offset begin, int first, Index base, double* magnitude) {
#pragma unroll
    for (int k = 0; k < kPerThread; ++k) {
      if (owner[k] < 0) continue;
      const int at = first + k * kElementBlock;
      const Offset e = begin + at;
      const Index row = base + owner[k];
      const bool diagonal = column[k] == row;
      double scaled = value[k] * inverse[k];
      if (diagonal) {
        value[k] = 1.0 / inverse[k];
        scaled = value[k] * inverse[k];
      } else if (kIlu && column[k] < row) {
        if (value[k] != 0.0) value[k] = scaled;  // a zero stays one, whatever the pivot
      }
      if (!kIlu) a.target.unit[e] = scaled;
      a.target.entries[e] = value[k];
      magnitude[at] = diagonal ? 0.0 : fabs(value[k]);
    }
  }
};

/// A thread a row, and the block's entries one after the other.
template <FactorKind Kind>
__global__ void __launch_bounds__(kElementBlock) fill_factor(const FillArguments a) {
  static_assert(kElementBlock <= 256, "rows of a block in a byte");
  __shared__ double magnitude[kTile];
  __shared__ unsigned char owner[kTile];
  __shared__ double inverse_of[kElementBlock];
  const int thread = static_cast<int>(threadIdx.x);
  const Index base = static_cast<Index>(blockIdx.x) * kElementBlock;
  const Index row = base + thread;
  const bool active = row < a.pattern.rows;
  const Offset block_begin = a.pattern.row_offsets[base];
  const Offset block_end = a.pattern.row_offsets[end_of_piece(base, kElementBlock, a.pattern.rows)];
  const Offset begin = active ? a.pattern.row_offsets[row] : block_end;
  const Offset end = active ? a.pattern.row_offsets[row + 1] : block_end;
  const double inverse = active ? a.target.inverse_pivots[row] : 1.0;
  const double pivot = 1.0 / inverse;
  inverse_of[thread] = inverse;
  double absolute_sum = 0.0;
  for (Offset tile = block_begin;; tile += kTile) {
    const int entries = min(kTile, block_end - tile);
    const int mine = max(begin - tile, 0);
    const int mine_end = min(end - tile, entries);
    for (int k = mine; k < mine_end; ++k) owner[k] = static_cast<unsigned char>(thread);
    __syncthreads();
    for (int first = thread; first < entries; first += kPerBlock) {
      FillBatch<Kind> batch;
      batch.load(a, tile, first, entries, base, owner, inverse_of);
      batch.store(a, tile, first, base, magnitude);
    }
    __syncthreads();
    for (int k = mine; k < mine_end; ++k) absolute_sum += magnitude[k];
    if (block_end - tile <= kTile) break;
  }
  if (!active) return;
  if (row == 0) a.target.report->lost_products = *a.lost;
  // The diagonal entry of a row of ic is its first.
  const DiagonalEntry diagonal = Kind == FactorKind::ic ? a.input.diagonal(a.rule, begin) : DiagonalEntry{};
  static_cast<void>(check_pivot(a.rule, row, pivot, absolute_sum, diagonal, elimination::Reporter{a.target.report}));
}

}  // namespace

Recurrence::Recurrence(FactorKind kind, const DevicePattern& pattern, const Offset* diagonal, Sweep& sweep,
                       const Index* index, cudaStream_t stream)
    : kind_(kind), pattern_(pattern), diagonal_(diagonal), index_(index), sweep_(&sweep) {
  if (pattern.rows == 0 || !sweep.has_reciprocals()) return;
  rhs_ = {static_cast<std::size_t>(pattern.rows), stream};
  flags_ = {2, stream};
  if (kind == FactorKind::ic) return;
  partner_ = {static_cast<std::size_t>(pattern.entries), stream};
  find_partners<<<element_blocks(pattern.rows), kElementBlock, 0, stream>>>(pattern, diagonal, partner_.data());
  cuda::check_launch("find_partners");
}

void Recurrence::factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                        cudaStream_t stream) {
  const int blocks = element_blocks(pattern_.rows);
  int* const lost = flags_.data() + 1;
  load_diagonal<<<blocks, kElementBlock, 0, stream>>>(pattern_.rows, diagonal_, input, index_, rhs_.data(), lost);
  cuda::check_launch("load_diagonal");
  const Offset* const partner = kind_ == FactorKind::ilu ? partner_.data() : nullptr;
  sweep_->load_products({input.values, input.source, partner, lost}, stream);
  sweep_->solve_reciprocals(rhs_.data(), target.inverse_pivots, flags_.data(), stream);
  const FillArguments fill{pattern_, input, rule, target, lost};
  if (kind_ == FactorKind::ic) {
    fill_factor<FactorKind::ic><<<blocks, kElementBlock, 0, stream>>>(fill);
  } else {
    fill_factor<FactorKind::ilu><<<blocks, kElementBlock, 0, stream>>>(fill);
  }
  cuda::check_launch("fill_factor");
}

}  // namespace taskdag::kernels
