#include <algorithm>
#include <climits>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/functional>

#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "kernels/gather.hpp"
#include "kernels/sptrsv/supersteps/pack.hpp"
#include "kernels/sptrsv/supersteps/run_cell.cuh"
#include "taskdag/error.hpp"

namespace taskdag::kernels::supersteps {
namespace {

using cuda::kElementBlock;

/// Packing sorts by one key a thread: the row's number in its cell below, what is sorted by above.
constexpr int kRowBits = 10;
static_assert(kMostCellRows == 1 << kRowBits);
constexpr unsigned kRowMask = kMostCellRows - 1;
/// Lanes for a row: so many that none has more entries than this, 32 at most. Of a start and of a step.
constexpr int kOuterPerLane = 8;
constexpr int kInnerPerLane = 4;
constexpr unsigned kMostLog2Lanes = 5;

__device__ unsigned log2_lanes_for(int entries, int per_lane) {
  unsigned log2_lanes = 0;
  while (log2_lanes < kMostLog2Lanes && entries > per_lane << log2_lanes) ++log2_lanes;
  return log2_lanes;
}

/// Entries of a row's lane that has most.
__device__ int per_lane(int entries, unsigned log2_lanes) { return (entries + (1 << log2_lanes) - 1) >> log2_lanes; }

/// What packing reads of the matrix. `number`: of a row, by position while cells are measured, by place after.
struct Rows {
  const Index* col_indices;
  const Offset* first;
  const Index* count;
  const Index* number;
};

Rows rows_of(const SweepInput& input, const Index* number) {
  return {input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(), number};
}

/// Operand of entry k of a row that begins at `first`, numbered from `cell_first`; outside [0, rows) elsewhere.
__device__ Index local_operand(const Rows& rows, Offset first, Index k, Index cell_first) {
  return rows.number[rows.col_indices[first + k]] - cell_first;
}

/// What measuring writes, by place.
struct Measured {
  Index* row;
  Index* place;
  Step* step;
  Group* group;
  std::uint16_t* started;
};

/// The steps' entries and rows in a block's shared memory, indexed by step; and the like of groups.
template <int kThreads>
struct Widths {
  int rows[kThreads];
  int entries[kThreads];
  int start[kThreads];
};

/// Cuts sorted rows into runs of one key and these into pieces of `most` rows. Returns the calling thread's piece;
/// `widths.rows` and `widths.entries` (largest `entries` of a piece) are filled. Every thread of the block calls it,
/// with present = false for those without a row, which come last.
template <int kThreads>
__device__ int cut(bool present, unsigned key, unsigned most, int entries, Widths<kThreads>& widths, int& pieces) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ unsigned keys[kThreads];
  __shared__ int total;
  const unsigned t = threadIdx.x;
  keys[t] = key;
  widths.rows[t] = 0;
  widths.entries[t] = 0;
  __syncthreads();
  const bool opens = present && (t == 0 || keys[t - 1] != key);
  int begin = 0;
  Scan(scratch).InclusiveScan(opens ? static_cast<int>(t) : 0, begin, ::cuda::maximum<>{});
  __syncthreads();
  const bool starts = present && (t - static_cast<unsigned>(begin)) % most == 0;
  int piece = 0;
  Scan(scratch).InclusiveSum(starts ? 1 : 0, piece);
  if (t == kThreads - 1) total = piece;
  --piece;
  if (present) {
    atomicAdd(&widths.rows[piece], 1);
    atomicMax(&widths.entries[piece], entries);
    if (starts) widths.start[piece] = static_cast<int>(t);
  }
  __syncthreads();
  pieces = total;
  return piece;
}

/// What packing counts of a cell.
struct CellSize {
  Index steps;
  Index groups;
  Index inner;
  Index outer;
  Index step_entries;  ///< of the step that has most
};

/// A block a cell: levels inside the cell, steps, groups. `fault` gets a row that waits for one of its own superstep
/// or of a later one.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    measure_cell(Rows rows, const Index* order, const CellRange* range, const Index* first_place,
                 const Index* superstep_of, Measured out, CellSize* size, Index* fault) {
  using Sort = cub::BlockRadixSort<unsigned, kThreads, 1, cub::NullType, kThreads <= kFewCellRows ? 4 : 2>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } scratch;
  __shared__ int level[kThreads];
  __shared__ int inner_count[kThreads];
  __shared__ int outer_count[kThreads];
  __shared__ Widths<kThreads> widths;
  const CellRange mine = range[blockIdx.x];
  const auto t = static_cast<Index>(threadIdx.x);
  const Index begin = first_place[blockIdx.x];
  const bool present = t < mine.rows;
  const Index row = present ? order[mine.first + t] : 0;
  const Offset first = present ? rows.first[row] : 0;
  const Index count = present ? rows.count[row] : 0;
  const Index superstep = superstep_of[mine.first];

  int inner = 0;
  for (Index k = 0; k < count; ++k) {
    const Index operand = local_operand(rows, first, k, mine.first);
    if (operand >= 0 && operand < mine.rows) {
      ++inner;
    } else if (superstep_of[mine.first + operand] >= superstep) {
      *fault = row;
    }
  }
  level[t] = -1;
  inner_count[t] = inner;
  outer_count[t] = count - inner;
  __syncthreads();

  // Row by row as soon as all operands have their levels: a round a level.
  int own = 0;
  Index next = 0;
  bool done = !present;
  do {
    while (!done && next < count) {
      const Index operand = local_operand(rows, first, next, mine.first);
      if (operand >= 0 && operand < mine.rows) {
        const int other = level[operand];
        if (other < 0) break;
        own = max(own, other + 1);
      }
      ++next;
    }
    const bool ready = !done && next == count;
    __syncthreads();
    if (ready) level[t] = own;
    done = done || ready;
  } while (__syncthreads_or(done ? 0 : 1) != 0);

  constexpr unsigned kAbsent = 1U << (2 * kRowBits);
  unsigned key[1] = {present ? static_cast<unsigned>(own) << kRowBits | static_cast<unsigned>(t) : kAbsent};
  Sort(scratch.sort).Sort(key, kRowBits, 2 * kRowBits + 1);
  const unsigned local = key[0] & kRowMask;
  const unsigned of_level = present ? key[0] >> kRowBits : 0;
  // Rows of a level get equally many lanes, so that as many as possible share a step.
  int* const longest = level;  // the keys hold the levels now
  longest[t] = 0;
  __syncthreads();
  if (present) atomicMax(&longest[of_level], inner_count[local]);
  __syncthreads();
  const unsigned step_log2 = log2_lanes_for(longest[of_level], kInnerPerLane);
  int steps = 0;
  const int of_step = cut<kThreads>(present, key[0] >> kRowBits, kLanes >> step_log2,
                                    present ? per_lane(inner_count[local], step_log2) : 0, widths, steps);
  __shared__ std::uint16_t new_number[kThreads];
  if (present) {
    const Index its_row = order[mine.first + static_cast<Index>(local)];
    out.row[begin + t] = its_row;
    out.place[its_row] = begin + t;
    new_number[local] = static_cast<std::uint16_t>(t);
  }
  if (present && t == widths.start[of_step]) {
    out.step[begin + of_step] = {static_cast<std::uint16_t>(widths.rows[of_step]), static_cast<std::uint8_t>(step_log2),
                                 static_cast<std::uint8_t>(widths.entries[of_step])};
    widths.rows[of_step] <<= step_log2;
  }
  __syncthreads();
  int step_entries = t < steps ? widths.rows[t] * widths.entries[t] : 0;
  __shared__ int most;
  if (t == 0) most = 0;
  __syncthreads();
  if (t < steps) atomicMax(&most, widths.entries[t]);
  int inner_entries = 0;
  Scan(scratch.scan).ExclusiveSum(step_entries, step_entries, inner_entries);
  __syncthreads();

  const int outer = outer_count[t];
  const unsigned log2_lanes = log2_lanes_for(outer, kOuterPerLane);
  const unsigned kind = outer == 0 ? kMostLog2Lanes + 1 : kMostLog2Lanes - log2_lanes;
  constexpr unsigned kNoKind = kMostLog2Lanes + 2;
  key[0] = (present ? kind : kNoKind) << kRowBits | static_cast<unsigned>(t);
  Sort(scratch.sort).Sort(key, kRowBits, kRowBits + 3);
  const unsigned sorted_kind = key[0] >> kRowBits;
  const unsigned sorted = key[0] & kRowMask;
  const unsigned lanes_log2 = sorted_kind > kMostLog2Lanes ? 0 : kMostLog2Lanes - sorted_kind;
  const int lane_entries = present ? per_lane(outer_count[sorted], lanes_log2) : 0;
  int groups = 0;
  const int piece = cut<kThreads>(present, sorted_kind, kLanes >> lanes_log2, lane_entries, widths, groups);
  if (present) out.started[begin + t] = new_number[sorted];
  int outer_entries = 0;
  int offset = t < groups ? kLanes * widths.entries[t] : 0;
  Scan(scratch.scan).ExclusiveSum(offset, offset, outer_entries);
  if (present && t == widths.start[piece]) {
    out.group[begin + piece] = {static_cast<std::uint16_t>(t), static_cast<std::uint8_t>(widths.rows[piece]),
                                static_cast<std::uint8_t>(lanes_log2), 0};
  }
  __syncthreads();
  if (t < groups) out.group[begin + t].offset = offset;
  if (t == 0) size[blockIdx.x] = {steps, groups, inner_entries, outer_entries, most};
}

/// A block a cell: places of the entries.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    fill_cell(Rows rows, const Index* row_at, const Cell* cell, const Step* step, const Group* group,
              const std::uint16_t* started, const Offset* source_entry, std::uint16_t* operand, Offset* inner_source,
              Index* outer_place, Offset* outer_source) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ int owner[kThreads];
  __shared__ int begin[kThreads];
  __shared__ int entry[kThreads];
  const Cell mine = cell[blockIdx.x];
  const auto t = static_cast<Index>(threadIdx.x);
  const auto source = [&](Offset e) { return source_entry ? source_entry[e] : e; };

  const Step own = t < mine.steps ? step[mine.first + t] : Step{};
  Scan(scratch).ExclusiveSum(own.rows, begin[t]);
  __syncthreads();
  int filled = 0;
  Scan(scratch).ExclusiveSum((own.rows << own.log2_lanes) * own.entries, entry[t], filled);
  for (int k = 0; k < own.rows; ++k) owner[begin[t] + k] = t;
  __syncthreads();
  if (t < mine.rows) {
    const int at_step = owner[t];
    const Step in = step[mine.first + at_step];
    const Index row = row_at[mine.first + t];
    const Index lanes = Index{1} << in.log2_lanes;
    const Index apart = in.rows * lanes;
    const Offset place = mine.inner + entry[at_step] + (t - begin[at_step]) * lanes;
    Index used = 0;
    for (Index k = 0; k < rows.count[row]; ++k) {
      const Index other = local_operand(rows, rows.first[row], k, mine.first);
      if (other < 0 || other >= mine.rows) continue;
      const Offset at_lane = place + used / lanes * apart + used % lanes;
      operand[at_lane] = static_cast<std::uint16_t>(other);
      inner_source[at_lane] = source(rows.first[row] + k);
      ++used;
    }
    for (; used < in.entries * lanes; ++used) {
      operand[place + used / lanes * apart + used % lanes] = static_cast<std::uint16_t>(mine.rows);
    }
  }
  for (Index e = filled + t; e < mine.inner_entries; e += kThreads) {
    operand[mine.inner + e] = static_cast<std::uint16_t>(mine.rows);
  }
  __syncthreads();

  const Group pack = t < mine.groups ? group[mine.first + t] : Group{};
  if (t < mine.groups) {
    for (int k = 0; k < pack.rows; ++k) owner[pack.first + k] = t;
  }
  __syncthreads();
  if (t < mine.rows) {
    const Group in = group[mine.first + owner[t]];
    const Index row = row_at[mine.first + started[mine.first + t]];
    const Index lanes = Index{1} << in.log2_lanes;
    const Offset place = mine.outer + in.offset + (t - in.first) * lanes;
    Index used = 0;
    for (Index k = 0; k < rows.count[row]; ++k) {
      const Index other = local_operand(rows, rows.first[row], k, mine.first);
      if (other >= 0 && other < mine.rows) continue;
      const Offset at_lane = place + used / lanes * kLanes + used % lanes;
      outer_place[at_lane] = mine.first + other;
      outer_source[at_lane] = source(rows.first[row] + k);
      ++used;
    }
  }
}

__global__ void count_supersteps(const CellRange* range, const Index* superstep_of_cell, Index* superstep) {
  const CellRange mine = range[blockIdx.x];
  for (auto k = static_cast<Index>(threadIdx.x); k < mine.rows; k += static_cast<Index>(blockDim.x)) {
    superstep[mine.first + k] = superstep_of_cell[blockIdx.x];
  }
}

Index aligned(Index n) { return (n + kAlign - 1) / kAlign * kAlign; }

[[noreturn]] void throw_too_large() { throw Unsupported("a triangle whose cells need more than 2^31 places"); }

template <class T>
void set_bytes(const cuda::DeviceArray<T>& array, int byte, cudaStream_t stream) {
  if (array.size() > 0) {
    cuda::check(cudaMemsetAsync(array.data(), byte, array.size() * sizeof(T), stream), "filling an array");
  }
}

}  // namespace

std::int64_t Layout::bytes() const {
  return row.bytes() + place.bytes() + cell.bytes() + step.bytes() + operand.bytes() + inner_value.bytes() +
         inner_source.bytes() + group.bytes() + started.bytes() + outer_place.bytes() + outer_value.bytes() +
         outer_source.bytes();
}

std::size_t Layout::shared_bytes() const { return SharedCell::bytes(most); }

Layout measure(const SweepInput& input, const Cover& cover, const Index* order, cudaStream_t stream) {
  Layout layout;
  layout.rows = input.pattern.rows;
  layout.supersteps = cover.supersteps();
  layout.superstep_offsets = cover.superstep_offsets;
  const std::size_t cells = cover.cells.size();
  std::vector<Index> superstep_of_cell(cells);
  for (Index s = 0; s < layout.supersteps; ++s) {
    for (Index c = cover.superstep_offsets[at(s)]; c < cover.superstep_offsets[at(s + 1)]; ++c) {
      superstep_of_cell[at(c)] = s;
    }
  }
  std::vector<Index> first_place(cells);
  std::int64_t places = 0;
  for (std::size_t c = 0; c < cells; ++c) {
    first_place[c] = static_cast<Index>(places);
    places += aligned(cover.cells[c].rows);
    layout.most.rows = std::max(layout.most.rows, cover.cells[c].rows);
    if (places > INT_MAX) throw_too_large();
  }
  layout.places = static_cast<Index>(places);
  const auto rows = static_cast<std::size_t>(layout.rows);
  layout.place = {rows, stream};
  layout.row = {at(layout.places), stream};
  layout.step = {at(layout.places), stream};
  layout.group = {at(layout.places), stream};
  layout.started = {at(layout.places), stream};
  if (cells == 0) return layout;
  set_bytes(layout.row, 0xff, stream);

  const cuda::ScratchArray<Index> position(rows, stream);
  invert(layout.rows, order, position.data(), stream);
  const auto ranges = cuda::upload(cover.cells, stream);
  const auto places_of_cells = cuda::upload(first_place, stream);
  const auto numbers = cuda::upload(superstep_of_cell, stream);
  const cuda::ScratchArray<Index> superstep(rows, stream);
  const cuda::ScratchArray<CellSize> size(cells, stream);
  const cuda::ScratchArray<Index> fault(1, stream);
  cuda::check(cudaMemsetAsync(fault.data(), 0xff, sizeof(Index), stream), "clearing a flag");
  const auto blocks = static_cast<unsigned>(cells);
  count_supersteps<<<blocks, kElementBlock, 0, stream>>>(ranges.data(), numbers.data(), superstep.data());
  cuda::check_launch("count_supersteps");
  const auto launch = [&](auto kernel, int threads) {
    kernel<<<blocks, threads, 0, stream>>>(
        rows_of(input, position.data()), order, ranges.data(), places_of_cells.data(), superstep.data(),
        {layout.row.data(), layout.place.data(), layout.step.data(), layout.group.data(), layout.started.data()},
        size.data(), fault.data());
    cuda::check_launch("measure_cell");
  };
  if (layout.most.rows <= kFewCellRows) {
    launch(measure_cell<kFewCellRows>, kFewCellRows);
  } else {
    launch(measure_cell<kMostCellRows>, kMostCellRows);
  }
  const std::vector<CellSize> sizes = cuda::fetch_array(size.data(), cells, stream);
  const Index row = cuda::fetch(fault.data(), stream);
  if (row >= 0) {
    throw InvalidInput("row " + std::to_string(row) +
                       " waits for a row of another block of its own colour, or of a later one");
  }

  std::vector<Cell> cell(cells);
  std::int64_t inner = 0;
  std::int64_t outer = 0;
  for (std::size_t c = 0; c < cells; ++c) {
    const Index padded = aligned(sizes[c].inner);
    cell[c] = {first_place[c], cover.cells[c].rows,        sizes[c].steps, sizes[c].groups, static_cast<Offset>(inner),
               padded,         static_cast<Offset>(outer), sizes[c].outer};
    inner += padded;
    outer += sizes[c].outer;
    if (inner > INT_MAX || outer > INT_MAX) throw_too_large();
    layout.most.steps = std::max(layout.most.steps, sizes[c].steps);
    layout.most.groups = std::max(layout.most.groups, sizes[c].groups);
    layout.most.inner_entries = std::max(layout.most.inner_entries, padded);
    layout.most.outer_entries = std::max(layout.most.outer_entries, sizes[c].outer);
    layout.most_step_entries = std::max(layout.most_step_entries, sizes[c].step_entries);
  }
  layout.inner_entries = static_cast<Offset>(inner);
  layout.outer_entries = static_cast<Offset>(outer);
  layout.cell = cuda::upload(cell, stream);
  cuda::synchronize(stream);
  return layout;
}

void fill(const SweepInput& input, Layout& layout, cudaStream_t stream) {
  const auto inner = static_cast<std::size_t>(layout.inner_entries);
  const auto outer = static_cast<std::size_t>(layout.outer_entries);
  layout.operand = {inner, stream};
  layout.inner_value = {inner, stream};
  layout.inner_source = {inner, stream};
  layout.outer_place = {outer, stream};
  layout.outer_value = {outer, stream};
  layout.outer_source = {outer, stream};
  set_bytes(layout.inner_source, 0xff, stream);
  set_bytes(layout.outer_source, 0xff, stream);
  set_bytes(layout.outer_place, 0xff, stream);
  const auto blocks = static_cast<unsigned>(layout.cell.size());
  if (blocks == 0) return;
  const auto launch = [&](auto kernel, int threads) {
    kernel<<<blocks, threads, 0, stream>>>(rows_of(input, layout.place.data()), layout.row.data(), layout.cell.data(),
                                           layout.step.data(), layout.group.data(), layout.started.data(),
                                           input.source_entry, layout.operand.data(), layout.inner_source.data(),
                                           layout.outer_place.data(), layout.outer_source.data());
    cuda::check_launch("fill_cell");
  };
  if (layout.most.rows <= kFewCellRows) {
    launch(fill_cell<kFewCellRows>, kFewCellRows);
  } else {
    launch(fill_cell<kMostCellRows>, kMostCellRows);
  }
}

void load_values(const Layout& layout, const double* source, cudaStream_t stream) {
  gather_or_zero(layout.inner_entries, source, layout.inner_source.data(), layout.inner_value.data(), stream);
  gather_or_zero(layout.outer_entries, source, layout.outer_source.data(), layout.outer_value.data(), stream);
}

}  // namespace taskdag::kernels::supersteps
