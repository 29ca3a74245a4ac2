/// \file
/// Writes the layout of portions, and moves values to it and back.
#include <cub/block/block_scan.cuh>
#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.cuh"
#include "kernels/sptrsv/schedules/blocks/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

/// The entries of a row that are in the triangle.
struct RowEntries {
  Offset first = 0;
  Index count = 0;
};

/// What a pass over the entries does with each, while the layout is made: says what and where the operands are.
struct ListEntries {
  Rows rows;
  const Offset* source_entry;
  std::uint16_t* operand;
  Offset* inner_source;
  Index* outer_place;
  Offset* outer_source;

  [[nodiscard]] __device__ RowEntries entries_of(Index row) const { return {rows.first[row], rows.count[row]}; }
  /// Of the operand, numbered from the portion's first one; outside [0, rows of the portion) elsewhere.
  [[nodiscard]] __device__ Index local(Offset e, const Portion& portion, Index /*first_row*/) const {
    return rows.number[rows.col_indices[e]] - portion.first;
  }
  __device__ void inner(Offset at, Index local, Offset e) const {
    operand[at] = static_cast<std::uint16_t>(local);
    inner_source[at] = source(e);
  }
  __device__ void idle(Offset at, const Portion& portion) const {
    operand[at] = static_cast<std::uint16_t>(portion.rows);
  }
  __device__ void outer(Offset at, Index local, const Portion& portion, Offset e) const {
    outer_place[at] = portion.first + local;
    outer_source[at] = source(e);
  }

 private:
  [[nodiscard]] __device__ Offset source(Offset e) const { return source_entry ? source_entry[e] : e; }
};

/// The same with the layout made, for portions of consecutive rows: moves values. Value: of the layout; kBack: to
/// entries.
template <class Value, bool kBack>
struct MoveValues {
  TriangleRows rows;
  std::conditional_t<kBack, double, const double>* entry;
  Value* inner_value;
  Value* outer_value;

  [[nodiscard]] __device__ RowEntries entries_of(Index row) const {
    const Offset begin = rows.pattern.row_offsets[row];
    const Offset end = rows.pattern.row_offsets[row + 1];
    const Offset split = cuda::first_not_below(rows.pattern.col_indices, begin, end, rows.lower ? row : row + 1);
    return rows.lower ? RowEntries{begin, split - begin} : RowEntries{split, end - split};
  }
  /// Not used here: any number will do.
  [[nodiscard]] __device__ Index local(Offset e, const Portion& /*portion*/, Index first_row) const {
    return rows.pattern.col_indices[e] - first_row;
  }
  __device__ void inner(Offset at, Index /*local*/, Offset e) const { move(inner_value[at], e); }
  __device__ void idle(Offset /*at*/, const Portion& /*portion*/) const {}
  __device__ void outer(Offset at, Index /*local*/, const Portion& /*portion*/, Offset e) const {
    move(outer_value[at], e);
  }

 private:
  __device__ void move(Value& value, Offset e) const {
    if constexpr (kBack) {
      entry[e] = double{value};
    } else if constexpr (std::is_same_v<Value, float>) {
      value = __double2float_rn(entry[e]);
    } else {
      value = entry[e];
    }
  }
};

/// Which rows a layout's places have.
struct PlaceRows {
  const Index* row = nullptr;             ///< by place; null: what follows says it
  const Index* first = nullptr;           ///< by portion: its rows are consecutive ones from here on
  const std::uint16_t* by_row = nullptr;  ///< place of each of them in the portion, as UserRows::local
};

/// Visits the entries with which the calling thread's row is started, a row of the group `in`.
template <class Visit>
__device__ __forceinline__ void visit_outer(const Visit& visit, const Portion& mine, const Group& in, Index row_at,
                                            Index first_row) {
  const auto t = static_cast<Index>(threadIdx.x);
  const RowEntries row = visit.entries_of(row_at);
  const Index lanes = Index{1} << in.log2_lanes;
  const Offset place = mine.outer + in.offset + (t - in.first) * lanes;
  Index used = 0;
  for (Offset e = row.first; e < row.first + row.count; ++e) {
    const Index other = visit.local(e, mine, first_row);
    if (other >= 0 && other < mine.rows) continue;
    visit.outer(place + used / lanes * kLanes + used % lanes, other, mine, e);
    ++used;
  }
}

/// A block a portion: visits its entries, each with its place.
template <int kThreads, class Visit>
__global__ void __launch_bounds__(kThreads)
    visit_portion(Visit visit, Index row_entries, PlaceRows rows, const Portion* portion, const Step* step,
                  const Group* group, const std::uint16_t* started) {
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ int owner[kThreads];
  __shared__ int begin[kThreads];
  __shared__ int entry[kThreads];
  __shared__ Index row_at[kThreads];
  const Portion mine = portion[blockIdx.x];
  const auto t = static_cast<Index>(threadIdx.x);
  const Index first_row = rows.row ? 0 : rows.first[blockIdx.x];
  if (t < mine.rows) {
    if (rows.row) {
      row_at[t] = rows.row[mine.first + t];
    } else {
      row_at[rows.by_row[mine.inner_pattern + t]] = first_row + t;
    }
  }

  const Step own = t < mine.steps ? step[mine.inner_pattern + t] : Step{};
  Scan(scratch).ExclusiveSum(own.rows, begin[t]);
  __syncthreads();
  int filled = 0;
  Scan(scratch).ExclusiveSum((own.rows << own.log2_lanes) * own.entries, entry[t], filled);
  for (int k = 0; k < own.rows; ++k) owner[begin[t] + k] = t;
  __syncthreads();
  if (t < mine.rows) {
    const int at_step = owner[t];
    const Step in = step[mine.inner_pattern + at_step];
    const RowEntries row = visit.entries_of(row_at[t]);
    const bool together = row_entries > 0;
    const Index lanes = together ? 1 : Index{1} << in.log2_lanes;
    const Index apart = together ? 1 : in.rows * lanes;
    const Index entries = together ? row_entries : in.entries * lanes;
    const Offset place = mine.inner + (together ? t * row_entries : entry[at_step] + (t - begin[at_step]) * lanes);
    Index used = 0;
    for (Offset e = row.first; e < row.first + row.count; ++e) {
      const Index other = visit.local(e, mine, first_row);
      if (other < 0 || other >= mine.rows) continue;
      visit.inner(place + used / lanes * apart + used % lanes, other, e);
      ++used;
    }
    for (; used < entries; ++used) visit.idle(place + used / lanes * apart + used % lanes, mine);
  }
  if (row_entries > 0) filled = mine.rows * row_entries;
  for (Index e = filled + t; e < mine.inner_entries; e += kThreads) visit.idle(mine.inner + e, mine);
  __syncthreads();

  const Group pack = t < mine.groups ? group[mine.outer_pattern + t] : Group{};
  if (t < mine.groups) {
    for (int k = 0; k < pack.rows; ++k) owner[pack.first + k] = t;
  }
  __syncthreads();
  if (t < mine.started) {
    const Group in = group[mine.outer_pattern + owner[t]];
    visit_outer(visit, mine, in, row_at[started[mine.outer_pattern + t]], first_row);
  }
}

template <class Visit>
void visit(const Layout& layout, const Visit& with, const PlaceRows& rows, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(layout.portion.size());
  if (blocks == 0) return;
  const auto launch = [&](auto kernel, int threads) {
    kernel<<<blocks, threads, 0, stream>>>(with, layout.row_entries, rows, layout.portion.data(), layout.step.data(),
                                           layout.group.data(), layout.started.data());
    cuda::check_launch("visit_portion");
  };
  if (layout.most_rows <= kFewPortionRows) {
    launch(visit_portion<kFewPortionRows, Visit>, kFewPortionRows);
  } else {
    launch(visit_portion<kMostPortionRows, Visit>, kMostPortionRows);
  }
}

/// Moves the values of a layout. entry: const for kBack = false.
template <bool kBack, class Entry>
void move_values(const Layout& layout, const ConsecutiveRows& rows, Entry* entry, cudaStream_t stream) {
  const TriangleRows of{rows.pattern, rows.triangle == Triangle::lower};
  const PlaceRows places{nullptr, rows.first.data(), rows.by_row};
  if (layout.single) {
    visit(layout, MoveValues<float, kBack>{of, entry, layout.inner_single.data(), layout.outer_single.data()}, places,
          stream);
  } else {
    visit(layout, MoveValues<double, kBack>{of, entry, layout.inner_value.data(), layout.outer_value.data()}, places,
          stream);
  }
}

/// entries[source[p]] = values[p].
template <class Value>
__global__ void scatter_values(std::int64_t n, const Offset* source, const Value* values, double* entries) {
  const std::int64_t p = cuda::element();
  if (p < n && source[p] >= 0) entries[source[p]] = double{values[p]};
}

template <class Value>
void scatter(std::int64_t n, const Offset* source, const Value* values, double* entries, cudaStream_t stream) {
  if (n == 0) return;
  scatter_values<<<cuda::element_blocks(n), cuda::kElementBlock, 0, stream>>>(n, source, values, entries);
  cuda::check_launch("scatter_values");
}

}  // namespace

void fill(const SweepInput& input, Layout& layout, cudaStream_t stream) {
  const auto inner = static_cast<std::size_t>(layout.inner_entries);
  const auto outer = static_cast<std::size_t>(layout.outer_entries);
  layout.operand = {inner, stream};
  layout.inner_source = {inner, stream};
  layout.outer_place = {outer, stream};
  layout.outer_source = {outer, stream};
  set_bytes(layout.inner_source, 0xff, stream);
  set_bytes(layout.outer_source, 0xff, stream);
  set_bytes(layout.outer_place, 0xff, stream);
  visit(layout,
        ListEntries{rows_of(input, layout.place.data()), input.source_entry, layout.operand.data(),
                    layout.inner_source.data(), layout.outer_place.data(), layout.outer_source.data()},
        PlaceRows{.row = layout.row.data()}, stream);
}

void make_values(Layout& layout, cudaStream_t stream) {
  const auto inner = static_cast<std::size_t>(layout.inner_entries);
  const auto outer = static_cast<std::size_t>(layout.outer_entries);
  const auto make = [&](auto& array, std::size_t size) {
    if (array.size() == size) return;
    array = {size, stream};
    set_bytes(array, 0, stream);
  };
  if (layout.single) {
    make(layout.inner_single, inner);
    make(layout.outer_single, outer);
  } else {
    make(layout.inner_value, inner);
    make(layout.outer_value, outer);
  }
}

void load_values(const Layout& layout, const double* source, cudaStream_t stream) {
  if (layout.single) {
    gather_rounded(layout.inner_entries, source, layout.inner_source.data(), layout.inner_single.data(), stream);
    gather_rounded(layout.outer_entries, source, layout.outer_source.data(), layout.outer_single.data(), stream);
    return;
  }
  gather_or_zero(layout.inner_entries, source, layout.inner_source.data(), layout.inner_value.data(), stream);
  gather_or_zero(layout.outer_entries, source, layout.outer_source.data(), layout.outer_value.data(), stream);
}

void load_values(const Layout& layout, const ConsecutiveRows& rows, const double* entries, cudaStream_t stream) {
  move_values<false>(layout, rows, entries, stream);
}

void return_values(const Layout& layout, const ConsecutiveRows& rows, double* entries, cudaStream_t stream) {
  move_values<true>(layout, rows, entries, stream);
}

void return_values(const Layout& layout, double* entries, cudaStream_t stream) {
  if (layout.single) {
    scatter(layout.inner_entries, layout.inner_source.data(), layout.inner_single.data(), entries, stream);
    scatter(layout.outer_entries, layout.outer_source.data(), layout.outer_single.data(), entries, stream);
    return;
  }
  scatter(layout.inner_entries, layout.inner_source.data(), layout.inner_value.data(), entries, stream);
  scatter(layout.outer_entries, layout.outer_source.data(), layout.outer_value.data(), entries, stream);
}

}  // namespace taskdag::kernels::supersteps
