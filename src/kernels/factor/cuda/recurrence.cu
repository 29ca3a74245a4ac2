#include <algorithm>
#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "csr/entry.cuh"
#include "csr/gather.hpp"
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
    partner[e] = entry_of(pattern, pattern.row_offsets[other], other, row);
  }
}

__global__ void load_diagonal(Index rows, const Offset* diagonal, FactorInput input, const Index* index, double* rhs,
                              int* lost) {
  const auto row = static_cast<Index>(element());
  if (row == 0) *lost = 0;
  if (row < rows) rhs[index ? index[row] : row] = input.shift.applied_to(input.value(diagonal[row]));
}

// Entries of a row that a lane has at hand.
constexpr int kWalkBatch = 4;
// Warps in flight per multiprocessor: as for longest paths.
constexpr int kWalkWarps = 32;

struct WalkArguments {
  DevicePattern pattern;
  const Offset* diagonal;
  const Index* order;  ///< row at each position; null: the same
  FactorInput input;
  cuda::Slots inverse;  ///< by row
  cuda::TicketCounter tickets;
};

__global__ void begin_walk(Index rows, double* inverse, int* lost, int* ticket) {
  const auto row = static_cast<Index>(element());
  if (row == 0) *lost = *ticket = 0;
  if (row < rows) inverse[row] = not_yet();
}

/// A row and what a lane has read of it. Pivots are taken in the order of the entries, so sums repeat bit by bit.
struct WalkedRow {
  Index row = -1;  ///< −1: none, or done
  Offset next = 0;
  Offset end = 0;
  double sum = 0.0;
  int count = 0;  ///< entries at hand
  int taken = 0;  ///< of these
  Index from[kWalkBatch];
  double left[kWalkBatch];
  double right[kWalkBatch];

  __device__ WalkedRow(const WalkArguments& a, Index position) {
    if (position >= a.pattern.rows) return;
    row = a.order ? a.order[position] : position;
    next = a.pattern.row_offsets[row];
    end = a.diagonal[row];
    sum = a.input.shift.applied_to(a.input.value(end));
  }
  /// One look at what is missing; publishes the row where nothing is.
  __device__ void go_on(const WalkArguments& a) {
    if (row < 0) return;
    if (taken == count) read(a);
    double inverse[kWalkBatch];
#pragma unroll
    for (int k = 0; k < kWalkBatch; ++k) inverse[k] = k >= taken && k < count ? a.inverse.peek(from[k]) : not_yet();
#pragma unroll
    for (int k = 0; k < kWalkBatch; ++k) {
      if (k != taken || k >= count || !is_ready(inverse[k])) continue;
      if (left[k] != 0.0) sum -= left[k] * inverse[k] * right[k];  // a zero stays one, whatever the pivot
      ++taken;
    }
    if (taken < count || next < end) return;
    a.inverse.publish(row, 1.0 / sum);
    row = -1;
  }

 private:
  __device__ void read(const WalkArguments& a) {
    count = min(kWalkBatch, end - next);
    taken = 0;
#pragma unroll
    for (int k = 0; k < kWalkBatch; ++k) {
      if (k >= count) continue;
      from[k] = a.pattern.col_indices[next + k];
      left[k] = a.input.value(next + k);
      const Offset partner = entry_of(a.pattern, a.diagonal[from[k]] + 1, from[k], row);
      right[k] = partner < 0 ? 0.0 : a.input.value(partner);
    }
    next += count;
  }
};

/// Warps take 32 rows after the other. A row waits for rows of earlier tickets and of its own warp: no lane waits for
/// one value before it looks at the others', so the least unfinished row can always go on.
__global__ void __launch_bounds__(kElementBlock) walk_rows(const WalkArguments a) {
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarpSize;
  for (;;) {
    const Index base = cuda::TicketCounter::receive(a.tickets.request(lane)) * cuda::kWarpSize;
    if (base >= a.pattern.rows) return;
    WalkedRow mine(a, base + lane);
    while (__any_sync(cuda::kFullWarp, mine.row >= 0)) mine.go_on(a);
  }
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
                       const Index* index, cudaStream_t stream, RowWalk walk)
    : kind_(kind),
      pattern_(pattern),
      diagonal_(diagonal),
      index_(index),
      sweep_(sweep.capabilities().solves_reciprocals) {
  if (sweep_ == nullptr && kind == FactorKind::ilu) walk_ = walk;
  if (pattern.rows == 0 || (sweep_ == nullptr && !walks())) return;
  if (walk_ == RowWalk::by_levels) order_by_levels(stream);
  flags_ = {3, stream};
}

void Recurrence::order_by_levels(cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(pattern_.rows);
  const RowLevels levels =
      compute_levels(pattern_, find_triangle(pattern_, Triangle::lower, stream), Triangle::lower, stream);
  const cuda::ScratchArray<Index> identity(rows, stream);
  const cuda::ScratchArray<Index> sorted(rows, stream);
  order_ = {rows, stream};
  number(pattern_.rows, identity.data(), stream);
  cuda::sort_pairs(levels.level.data(), sorted.data(), identity.data(), order_.data(), pattern_.rows,
                   std::bit_width(static_cast<std::uint32_t>(levels.levels)), stream);
}

void Recurrence::name_partners(ValueProducts& products, Offset* room, cudaStream_t stream) const {
  if (sweep_->finds_partners()) {
    products.mirrored = pattern_;
    return;
  }
  find_partners<<<element_blocks(pattern_.rows), kElementBlock, 0, stream>>>(pattern_, diagonal_, room);
  cuda::check_launch("find_partners");
  products.partner = room;
}

// Rows that are numbered as their right-hand sides are solved in place. What else is needed is where the factor goes,
// which is written after; in single precision of a small grid it may be more.
void Recurrence::run_sweep(const FactorInput& input, const FactorTarget& target, cudaStream_t stream) {
  int* const lost = flags_.data() + 1;
  const cuda::ScratchArray<double> apart(index_ != nullptr ? at(pattern_.rows) : 0, stream);
  double* const rhs = index_ != nullptr ? apart.data() : target.inverse_pivots;
  load_diagonal<<<element_blocks(pattern_.rows), kElementBlock, 0, stream>>>(pattern_.rows, diagonal_, input, index_,
                                                                             rhs, lost);
  cuda::check_launch("load_diagonal");
  const std::size_t places = sweep_->product_places();
  const cuda::ScratchArray<double> more(places > at(pattern_.entries) ? places : 0, stream);
  ValueProducts products{.values = input.values,
                         .source = input.source,
                         .lost = lost,
                         .room = more.size() > 0 ? more.data() : target.entries};
  if (kind_ == FactorKind::ilu) name_partners(products, reinterpret_cast<Offset*>(target.entries), stream);
  sweep_->load_products(products, stream);
  sweep_->solve_reciprocals(rhs, target.inverse_pivots, flags_.data(), stream);
}

void Recurrence::run_walk(const FactorInput& input, const FactorTarget& target, cudaStream_t stream) {
  int* const ticket = flags_.data() + 2;
  begin_walk<<<element_blocks(pattern_.rows), kElementBlock, 0, stream>>>(pattern_.rows, target.inverse_pivots,
                                                                          flags_.data() + 1, ticket);
  cuda::check_launch("begin_walk");
  const Index chunks = pieces_of(pattern_.rows, cuda::kWarpSize);
  const int warps = std::min(chunks, cuda::device_limits().multiprocessors * kWalkWarps);
  walk_rows<<<element_blocks(std::int64_t{warps} * cuda::kWarpSize), kElementBlock, 0, stream>>>(
      {pattern_, diagonal_, order_.data(), input, {target.inverse_pivots}, {ticket}});
  cuda::check_launch("walk_rows");
}

void Recurrence::factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                        cudaStream_t stream) {
  if (walks()) {
    run_walk(input, target, stream);
  } else {
    run_sweep(input, target, stream);
  }
  const int blocks = element_blocks(pattern_.rows);
  const FillArguments fill{pattern_, input, rule, target, flags_.data() + 1};
  if (kind_ == FactorKind::ic) {
    fill_factor<FactorKind::ic><<<blocks, kElementBlock, 0, stream>>>(fill);
  } else {
    fill_factor<FactorKind::ilu><<<blocks, kElementBlock, 0, stream>>>(fill);
  }
  cuda::check_launch("fill_factor");
}

}  // namespace taskdag::kernels
