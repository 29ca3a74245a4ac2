#include <cub/block/block_scan.cuh>

#include "csr/gather.hpp"
#include "kernels/sptrsv/schedules/supersteps/pack.cuh"
#include "kernels/sptrsv/schedules/supersteps/pack.hpp"

namespace taskdag::kernels::supersteps {
namespace {

/// A block a cell: places of the entries.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    fill_cell(Rows rows, Index row_entries, const Index* row_at, const Cell* cell, const Step* step, const Group* group,
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
    const bool together = row_entries > 0;
    const Index lanes = together ? 1 : Index{1} << in.log2_lanes;
    const Index apart = together ? 1 : in.rows * lanes;
    const Index entries = together ? row_entries : in.entries * lanes;
    const Offset place = mine.inner + (together ? t * row_entries : entry[at_step] + (t - begin[at_step]) * lanes);
    Index used = 0;
    for (Index k = 0; k < rows.count[row]; ++k) {
      const Index other = local_operand(rows, rows.first[row], k, mine.first);
      if (other < 0 || other >= mine.rows) continue;
      const Offset at_lane = place + used / lanes * apart + used % lanes;
      operand[at_lane] = static_cast<std::uint16_t>(other);
      inner_source[at_lane] = source(rows.first[row] + k);
      ++used;
    }
    for (; used < entries; ++used) {
      operand[place + used / lanes * apart + used % lanes] = static_cast<std::uint16_t>(mine.rows);
    }
  }
  if (row_entries > 0) filled = mine.rows * row_entries;
  for (Index e = filled + t; e < mine.inner_entries; e += kThreads) {
    operand[mine.inner + e] = static_cast<std::uint16_t>(mine.rows);
  }
  __syncthreads();

  const Group pack = t < mine.groups ? group[mine.first + t] : Group{};
  if (t < mine.groups) {
    for (int k = 0; k < pack.rows; ++k) owner[pack.first + k] = t;
  }
  __syncthreads();
  if (t < mine.started) {
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

}  // namespace

void fill(const SweepInput& input, Layout& layout, cudaStream_t stream) {
  const auto inner = static_cast<std::size_t>(layout.inner_entries);
  const auto outer = static_cast<std::size_t>(layout.outer_entries);
  layout.operand = {inner, stream};
  layout.inner_source = {inner, stream};
  layout.outer_place = {outer, stream};
  layout.outer_source = {outer, stream};
  if (layout.single) {
    layout.inner_single = {inner, stream};
    layout.outer_single = {outer, stream};
  } else {
    layout.inner_value = {inner, stream};
    layout.outer_value = {outer, stream};
  }
  set_bytes(layout.inner_source, 0xff, stream);
  set_bytes(layout.outer_source, 0xff, stream);
  set_bytes(layout.outer_place, 0xff, stream);
  const auto blocks = static_cast<unsigned>(layout.cell.size());
  if (blocks == 0) return;
  const auto launch = [&](auto kernel, int threads) {
    kernel<<<blocks, threads, 0, stream>>>(
        rows_of(input, layout.place.data()), layout.row_entries, layout.row.data(), layout.cell.data(),
        layout.step.data(), layout.group.data(), layout.started.data(), input.source_entry, layout.operand.data(),
        layout.inner_source.data(), layout.outer_place.data(), layout.outer_source.data());
    cuda::check_launch("fill_cell");
  };
  if (layout.most_rows <= kFewCellRows) {
    launch(fill_cell<kFewCellRows>, kFewCellRows);
  } else {
    launch(fill_cell<kMostCellRows>, kMostCellRows);
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

}  // namespace taskdag::kernels::supersteps
