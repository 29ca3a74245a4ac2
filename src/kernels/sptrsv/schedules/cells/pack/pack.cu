/// \file
/// Packs the rows of cells in the order in which the kernels consume them.
#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/cells/pack/entries.cuh"
#include "kernels/sptrsv/schedules/cells/pack/steps.hpp"
#include "kernels/sptrsv/schedules/cells/pack/values.cuh"
#include "kernels/sptrsv/schedules/cells/run/shared.cuh"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

__device__ std::byte* pair_row_at(std::byte* stream, const Step& step) {
  return stream + std::size_t{step.pair_row} * kPairRowBytes;
}

/// A step's entries for the compute warp. A pair row holds the values of all lanes, then their operands: byte offsets
/// into the ring.
struct PairRows {
  std::byte* rows;
  __device__ double& value(std::uint32_t k, unsigned lane) const {
    return reinterpret_cast<double*>(rows + k / 2 * kPairRowBytes)[lane * 2 + k % 2];
  }
  __device__ std::uint32_t& operand(std::uint32_t k, unsigned lane) const {
    return reinterpret_cast<std::uint32_t*>(rows + k / 2 * kPairRowBytes +
                                            kPairRowValues * sizeof(double))[lane * 2 + k % 2];
  }
};

/// The index of the source of value k of a lane in Storage::inside_source.
__device__ std::size_t source_at(const Step& step, std::uint32_t k, unsigned lane) {
  return (std::size_t{step.pair_row} + k / 2) * kPairRowValues + lane * 2 + k % 2;
}

/// Where the entries of an outside row are among those of all batches: they alternate between its lanes.
struct OutsideEntries {
  std::size_t first;  ///< entry 0
  std::uint32_t log2_lanes;
  std::uint32_t entries;  ///< that the batch has room for
  __device__ std::size_t operator()(std::uint32_t e) const {
    return first + (e >> log2_lanes) * kLanes + (e & ((1U << log2_lanes) - 1));
  }
};

/// The entries of the outside row at `at`, which is 32 · batch + first lane.
__device__ OutsideEntries outside_of(const Batch* batch, const OutsideRow* outside_row, Index at) {
  const Batch& mine = batch[at / kLanes];
  const std::uint32_t log2_lanes = outside_row[at].log2_lanes();
  return {std::size_t{mine.first_row} * kLanes + at % kLanes, log2_lanes, mine.width() << log2_lanes};
}

struct PackArguments {
  EntriesOfRows entries;
  const Offset* source_entry;
  const Index* row_at;
  const Cell* cell;
  int cells;
  Index steps;
  int ways;
  const Step* step;
  const Batch* batch;
  const OutsideRow* outside_row;
  const Index* outside_row_at;
  std::byte* stream;
  Offset* inside_source;
  Index* outside_position;
  Offset* outside_source;
  Index* outside_matrix_row;
  bool lower;
};

/// The entries of a short row in the order in which their operands are published, as far as levels tell: by ascending
/// level, then column. Each call selects the next one, so nothing is stored.
class ByLevel {
 public:
  __device__ ByLevel(const EntriesOfRows& entries, Index row) : entries_(entries), row_(row) {}
  /// The next entry, or −1.
  __device__ Offset next() {
    Offset best = -1;
    Index best_level = 0;
    for (Index e = 0; e < entries_.count[row_]; ++e) {
      const Offset entry = entries_.first[row_] + e;
      const Index level = entries_.level[entries_.col_indices[entry]];
      const bool taken = level < level_ || (level == level_ && entry <= entry_);
      if (!taken && (best < 0 || level < best_level)) {
        best = entry;
        best_level = level;
      }
    }
    level_ = best_level;
    entry_ = best;
    return best;
  }

 private:
  const EntriesOfRows& entries_;
  Index row_;
  Index level_ = -1;
  Offset entry_ = -1;
};

/// The entries of a long row, for which selection would take too long, by column: nearly the order in which their
/// operands are published.
class ByColumn {
 public:
  __device__ ByColumn(const EntriesOfRows& entries, Index row, bool lower)
      : next_(lower ? entries.first[row] : entries.first[row] + entries.count[row] - 1),
        remaining_(entries.count[row]),
        stride_(lower ? 1 : -1) {}
  __device__ Offset next() {
    if (remaining_-- <= 0) return -1;
    const Offset entry = next_;
    next_ += stride_;
    return entry;
  }

 private:
  Offset next_;
  Index remaining_;
  Offset stride_;
};

constexpr Index kShortRow = 32;

/// Writes a row's entries in the order in which their operands are published, because the row waits for the last one.
/// The lanes of a row take them alternately. Where a lane would have more than 2 · kMaxPairs entries for the compute
/// warp, the first of the row go to the fetchers. Both kinds of entries fill their room up to its end; what remains
/// free is at its beginning.
template <class Order>
__device__ void pack_row(const PackArguments& a, const Step& step, const PairRows& pairs, const Cell& cell, Index row,
                         Index t, int lane, Order order) {
  const Index inside = count_inside(a.entries, row, t, cell.first_step);
  const auto ways = static_cast<std::uint32_t>(a.ways);
  Index surplus = max(0, inside - 2 * kMaxPairs * a.ways);
  std::uint32_t in = 2 * step.pairs * ways - static_cast<std::uint32_t>(inside - surplus);
  std::uint32_t out = 0;
  OutsideEntries outside{};
  if (const Index at = a.outside_row_at[std::int64_t{t} * kLanes + lane]; at >= 0) {
    outside = outside_of(a.batch, a.outside_row, at);
    out = outside.entries - static_cast<std::uint32_t>(a.entries.count[row] - inside + surplus);
  }
  for (Offset entry = order.next(); entry >= 0; entry = order.next()) {
    const Index position = a.entries.position[a.entries.col_indices[entry]];
    const Offset source = a.source_entry ? a.source_entry[entry] : entry;
    if (is_inside(position / kLanes, t, cell.first_step) && surplus-- <= 0) {
      const Index from = position - cell.first_step * kLanes;
      const std::uint32_t of_row = static_cast<std::uint32_t>(lane) + in % ways;
      pairs.operand(in / ways, of_row) =
          static_cast<std::uint32_t>(from % (kHistory * kLanes)) * static_cast<std::uint32_t>(sizeof(double));
      a.inside_source[source_at(step, in / ways, of_row)] = source;
      ++in;
    } else {
      a.outside_position[outside(out)] = position;
      a.outside_source[outside(out)] = source;
      a.outside_matrix_row[outside(out)] = row;
      ++out;
    }
  }
}

/// Each warp packs one step; the first lane of a row packs the row. clear_outside() has run before.
__global__ void pack_kernel(PackArguments a) {
  const auto t = static_cast<Index>(element() / kLanes);
  if (t >= a.steps) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const Step step = a.step[t];
  const Cell* cells = a.cell;
  const Cell& cell = cells[cell_of_step([=](int c) { return cells[c].first_step; }, a.cells, t)];
  const Index row = a.row_at[std::int64_t{t} * kLanes + lane];
  const PairRows pairs{pair_row_at(a.stream, step)};
  for (std::uint32_t k = 0; k < 2 * step.pairs; ++k) {
    const auto own = static_cast<unsigned>(lane);
    pairs.value(k, own) = 0.0;
    pairs.operand(k, own) = static_cast<std::uint32_t>(kZeroOperand);
    a.inside_source[source_at(step, k, own)] = -1;
  }
  __syncwarp();  // a row's first lane writes entries of its other lanes
  if (row < 0) return;
  if (a.entries.count[row] <= kShortRow) {
    pack_row(a, step, pairs, cell, row, t, lane, ByLevel(a.entries, row));
  } else {
    pack_row(a, step, pairs, cell, row, t, lane, ByColumn(a.entries, row, a.lower));
  }
}

__global__ void clear_outside(std::int64_t entries, Index absent, Index* position, double* value, Offset* source,
                              Index* row) {
  const std::int64_t e = element();
  if (e >= entries) return;
  position[e] = absent;
  value[e] = 0.0;
  source[e] = -1;
  row[e] = -1;
}

template <class Values>
struct LoadArguments {
  Values values;
  Index steps;
  int ways;
  const Step* step;
  const Index* row_at;
  const Index* outside_row_at;
  const Offset* inside_source;
  const double* pivot;
  std::byte* stream;
  Target* target;  // null: pivots are not loaded
  OutsideRow* outside_row;
};

/// Each warp loads one step: its pivots, and two values for each lane and pair row. Absent entries get 0 again.
template <class Values>
__global__ void load_inside(const LoadArguments<Values> a) {
  const auto t = static_cast<Index>(element() / kLanes);
  if (t >= a.steps) return;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const std::int64_t position = std::int64_t{t} * kLanes + lane;
  const Step step = a.step[t];
  const int other = lane % a.ways;  // which lane of its row this is
  const Index row = __ldg(a.row_at + (position - other));
  if (row < 0) return;
  const double pivot = a.pivot ? __ldg(a.pivot + row) : 1.0;
  static_assert(2 * sizeof(Offset) == sizeof(int2));
  const auto* const sources =
      reinterpret_cast<const int2*>(a.inside_source + std::size_t{step.pair_row} * kPairRowValues) + lane;
  std::byte* const values = pair_row_at(a.stream, step) + static_cast<unsigned>(lane) * sizeof(double2);
  const auto value = [&](Offset e) { return e >= 0 ? with_plain_nan(a.values(e) * pivot) : 0.0; };
#pragma unroll 4
  for (std::uint32_t k = 0; k < step.pairs; ++k) {
    const int2 e = __ldg(sources + std::size_t{k} * kLanes);
    *reinterpret_cast<double2*>(values + std::size_t{k} * kPairRowBytes) = {value(e.x), value(e.y)};
  }
  if (other > 0 || a.target == nullptr) return;
  const Index at = __ldg(a.outside_row_at + position);
  a.target[position].pivot = pivot;
  if (at >= 0) a.outside_row[at].pivot = pivot;
}

template <class Values>
__global__ void load_outside(std::int64_t entries, const Offset* outside_source, const Index* outside_matrix_row,
                             Values values, const double* pivot, double* value) {
  const std::int64_t k = element();
  if (k >= entries) return;
  const Offset e = outside_source[k];
  if (e < 0) return;
  value[k] = with_plain_nan(pivot ? values(e) * pivot[outside_matrix_row[k]] : values(e));
}

template <class Values>
void load(const Layout& layout, const Storage& storage, const Values& values, const double* pivot, Target* target,
          cudaStream_t stream) {
  if (layout.steps == 0) return;
  load_inside<<<element_blocks(std::int64_t{layout.steps} * kLanes), kElementBlock, 0, stream>>>(LoadArguments<Values>{
      values, layout.steps, layout.ways, layout.step.data(), layout.row.data(), layout.outside_row_at.data(),
      storage.inside_source.data(), pivot, storage.stream.data(), target, layout.outside_row.data()});
  cuda::check_launch("load_inside");
  const auto entries = static_cast<std::int64_t>(storage.outside_value.size());
  if (entries == 0) return;
  load_outside<<<element_blocks(entries), kElementBlock, 0, stream>>>(entries, storage.outside_source.data(),
                                                                      storage.outside_matrix_row.data(), values, pivot,
                                                                      storage.outside_value.data());
  cuda::check_launch("load_outside");
}

}  // namespace

Storage pack(const SweepInput& input, const Layout& layout, cudaStream_t stream) {
  Storage storage;
  storage.stream = {layout.pair_rows * kPairRowBytes, stream};
  storage.inside_source = {layout.pair_rows * kPairRowValues, stream};
  const std::size_t outside = layout.outside_entry_rows * kLanes;
  storage.outside_position = {outside, stream};
  storage.outside_value = {outside, stream};
  storage.outside_source = {outside, stream};
  storage.outside_matrix_row = {outside, stream};
  if (layout.steps == 0) return storage;
  if (outside > 0) {
    const auto entries = static_cast<std::int64_t>(outside);
    clear_outside<<<element_blocks(entries), kElementBlock, 0, stream>>>(
        entries, layout.steps * kLanes, storage.outside_position.data(), storage.outside_value.data(),
        storage.outside_source.data(), storage.outside_matrix_row.data());
    cuda::check_launch("clear_outside");
  }
  pack_kernel<<<element_blocks(std::int64_t{layout.steps} * kLanes), kElementBlock, 0, stream>>>(
      {entries_of(input, layout), input.source_entry, layout.row.data(), layout.cell.data(), layout.cells, layout.steps,
       layout.ways, layout.step.data(), layout.batch.data(), layout.outside_row.data(), layout.outside_row_at.data(),
       storage.stream.data(), storage.inside_source.data(), storage.outside_position.data(),
       storage.outside_source.data(), storage.outside_matrix_row.data(), input.triangle == Triangle::lower});
  cuda::check_launch("pack_kernel (cells)");
  return storage;
}

void load_values(const Layout& layout, const Storage& storage, const double* source, const double* pivot,
                 Target* target, cudaStream_t stream) {
  load(layout, storage, PlainValues{source}, pivot, target, stream);
}

void load_products(const Layout& layout, const Storage& storage, const ValueProducts& products, cudaStream_t stream) {
  load(layout, storage, Products{products}, nullptr, nullptr, stream);
}

}  // namespace taskdag::kernels::cells
