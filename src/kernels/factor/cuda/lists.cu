#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/scan.hpp"
#include "kernels/factor/cuda/deal_out.cuh"
#include "kernels/factor/cuda/lists.hpp"
#include "kernels/factor/cuda/make_lists.cuh"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using namespace elimination;
using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

// A row whose updates are more than this many times its entries has them searched for in each factorisation.
constexpr std::int64_t kListedPerEntry = 64;
// Levels of rows that should have warps at once.
constexpr std::int64_t kLevelsAtOnce = 4;
// Warps per multiprocessor that the elimination can have, about.
constexpr int kWarps = 24;

__global__ void widest_form(Index rows, const EliminationRow* row, Index* widest) {
  const auto p = static_cast<Index>(element());
  const Index form = p < rows ? static_cast<Index>(row[p].form) : 0;
  const Index most = __reduce_max_sync(kFullWarp, form);
  if (threadIdx.x % kWarpSize == 0) atomicMax(widest, most);
}

/// The last of RowForm that occurs. Asynchronous.
void find_widest(Index rows, const EliminationRow* row, Index* widest, cudaStream_t stream) {
  cuda::check(cudaMemsetAsync(widest, 0, sizeof(Index), stream), "resetting the widest form");
  widest_form<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, row, widest);
  cuda::check_launch("widest_form");
}

/// Sizes of `rows` rows to where each begins; in place. @returns their sum
std::int64_t add_up(std::int64_t* sizes, Index rows, cudaStream_t stream) {
  cuda::exclusive_sum(sizes, sizes, rows + 1, stream);
  return cuda::fetch(sizes + rows, stream);
}

}  // namespace

/// What is known of the rows before there are lists.
struct Elimination::Counted {
  elimination::RowCounts rows;
  const Offset* source;
  bool registers;  ///< whether rows may have that form
  std::int64_t most_updates;
};

/// How the rows are taken.
struct Elimination::Chosen {
  const Index* lanes;             ///< by row
  const RowForm* form;            ///< by row
  elimination::RowOffsets first;  ///< by position
};

template <class Pattern>
Elimination::Elimination(const Pattern& view, const RowLevels& levels, const Offset* source, MakeLists which,
                         cudaStream_t stream, std::int64_t most_updates)
    : row_count_(view.pattern.rows) {
  const DevicePattern& pattern = view.pattern;
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const auto entries = static_cast<std::size_t>(pattern.entries);
  columns_ = pattern.col_indices;
  if (rows == 0) return;
  slots_ = {entries, stream};
  ScratchArray<std::int64_t> counted_updates(rows, stream);
  ScratchArray<Index> counted_changed(rows, stream);
  cuda::check(cudaMemsetAsync(slots_.data(), 0xFF, entries * sizeof(Index), stream), "resetting slots");
  const RowCounts counts{counted_updates.data(), counted_changed.data()};
  if (which == MakeLists::known_without_updates) {
    cuda::check(cudaMemsetAsync(counts.updates, 0, rows * sizeof(std::int64_t), stream), "clearing counts");
    cuda::check(cudaMemsetAsync(counts.changed, 0, rows * sizeof(Index), stream), "clearing counts");
  } else {
    count_updates(view, slots_.data(), counts, stream);
  }
  const bool all = which == MakeLists::always || which == MakeLists::known_without_updates;
  const bool updated = all || has_updates(pattern.rows, counts.updates, stream);
  if (which == MakeLists::never || !updated) {
    slots_ = {};
    listed_ = false;
    if (updated) widest_ = RowForm::searched;
    return;
  }

  const bool registers = !view.diagonal_only && mark_registers(view, slots_.data(), counts, stream);
  const Counted counted{counts, source, registers, most_updates};
  // Lists that need wider offsets than there are: then no row's updates are listed.
  if (!make_lists(view, levels, counted, false, stream) && !make_lists(view, levels, counted, true, stream)) {
    throw InvalidInput("the lists of updates of a factorisation are too long for 32-bit offsets");
  }
}

template <class Pattern>
bool Elimination::make_lists(const Pattern& view, const RowLevels& levels, const Counted& counted, bool searched,
                             cudaStream_t stream) {
  const DevicePattern& pattern = view.pattern;
  const auto rows = static_cast<std::size_t>(pattern.rows);
  const int warp_each = element_blocks(std::int64_t{pattern.rows} * kWarpSize);
  const int thread_each = element_blocks(std::int64_t{pattern.rows} + 1);
  ScratchArray<Index> lanes(rows, stream);
  ScratchArray<RowForm> form(rows, stream);
  ScratchArray<Index> kind(rows, stream);
  const std::int64_t lanes_at_once = std::int64_t{cuda::device_limits().multiprocessors} * kWarps * kWarpSize;
  Index room = kWarpSize;
  while (room > 1 && std::int64_t{pattern.rows / levels.levels} * kLevelsAtOnce * room > lanes_at_once) room /= 2;
  const bool narrow_levels = pattern.rows / levels.levels < kNarrowLevel;
  ScratchArray<Index> narrow(2 * (rows + 1), stream);
  ScratchArray<std::int64_t> wide(rows + 1, stream);
  const RowOffsets first{narrow.data(), wide.data(), narrow.data() + rows + 1};
  choose_forms<<<thread_each, kElementBlock, 0, stream>>>(view, counted.rows, searched ? 0 : kListedPerEntry, room,
                                                          lanes.data(), form.data(), kind.data(), narrow_levels,
                                                          counted.registers);
  cuda::check_launch("choose_forms");
  registers_ = counted.registers && !searched;
  tasks_ = build_tasks(levels, lanes.data(), Triangle::lower, 1, stream, kind.data());
  sizes_by_position<<<thread_each, kElementBlock, 0, stream>>>(view, tasks_.order.data(), counted.rows, form.data(),
                                                               first);
  cuda::check_launch("sizes_by_position");
  const std::int64_t updates = add_up(first.updates, pattern.rows, stream);
  if (updates > counted.most_updates) return false;
  cuda::exclusive_sum(first.pivots, first.pivots, pattern.rows + 1, stream);
  cuda::exclusive_sum(first.changed, first.changed, pattern.rows + 1, stream);
  Index pivot_total = 0;
  Index changed_total = 0;
  cuda::copy_to_host(&pivot_total, first.pivots + rows, 1, stream);
  cuda::copy_to_host(&changed_total, first.changed + rows, 1, stream);
  cuda::synchronize(stream);
  const auto pivots = static_cast<std::size_t>(pivot_total);
  const auto changed = static_cast<std::size_t>(changed_total);
  slot_count_ = checked_offset(static_cast<std::int64_t>(rows + changed), "the slots of a factorisation");

  rows_ = {rows, stream};
  pivots_ = {pivots, stream};
  changed_ = {changed, stream};
  fill_rows<<<warp_each, kElementBlock, 0, stream>>>(view, tasks_.view(), counted.rows, form.data(), first,
                                                     rows_.data(), slots_.data(), changed_.data());
  cuda::check_launch("fill_rows");
  updates_ = {static_cast<std::size_t>(updates), stream};
  masks_ = {pivots, stream};
  ScratchArray<Index> order(pivots, stream);
  if (pivots > 0) {
    cuda::check(cudaMemsetAsync(masks_.data(), 0, pivots * sizeof(unsigned), stream), "resetting masks");
  }
  fill_lists<<<warp_each, kElementBlock, 0, stream>>>(RowLists<Pattern>{
      view, this->view(), pivots_.data(), masks_.data(), updates_.data(), order.data(), counted.source});
  cuda::check_launch("fill_lists");
  ScratchArray<Index> widest(1, stream);
  find_widest(pattern.rows, rows_.data(), widest.data(), stream);
  widest_ = RowForm{cuda::fetch(widest.data(), stream)};
  if (widest_ < RowForm::rounds) return true;
  return deal_out_rounds(view, levels, counted, {lanes.data(), form.data(), first}, static_cast<std::size_t>(updates),
                         stream);
}

template <class Pattern>
bool Elimination::deal_out_rounds(const Pattern& view, const RowLevels& levels, const Counted& counted,
                                  const Chosen& chosen, std::size_t updates, cudaStream_t stream) {
  const Index rows = view.pattern.rows;
  ScratchArray<std::int32_t> where(updates, stream);
  sizes_by_position<<<element_blocks(std::int64_t{rows} + 1), kElementBlock, 0, stream>>>(
      view, tasks_.order.data(), counted.rows, chosen.form, chosen.first);
  cuda::check_launch("sizes_by_position");
  deal_out({this->view(), levels.level.data(), chosen.lanes, rows_.data(), updates_.data(), where.data(),
            chosen.first.updates, Pattern::kMultipliersAreTargets},
           rows, stream);
  const std::int64_t dealt = add_up(chosen.first.updates, rows, stream);
  if (dealt > counted.most_updates) return false;
  cuda::DeviceArray<ValueReference> placed(static_cast<std::size_t>(dealt), stream);
  place(rows, rows_.data(), chosen.first.updates, chosen.lanes, updates_.data(), where.data(), placed.data(), stream);
  std::swap(updates_, placed);
  return true;
}

Elimination Elimination::ilu(const DevicePattern& pattern, const Offset* diagonal, bool diagonal_only,
                             const RowLevels& levels, const Offset* source, MakeLists which, cudaStream_t stream,
                             std::int64_t most_updates) {
  return {Ilu0Pattern{pattern, diagonal, diagonal_only}, levels, source, which, stream, most_updates};
}

Elimination Elimination::ic(const DevicePattern& upper, const DeviceCsr& above, bool diagonal_only,
                            const RowLevels& levels, const Offset* source, MakeLists which, cudaStream_t stream,
                            std::int64_t most_updates) {
  return {Ic0Pattern{upper, above.row_offsets.data(), above.col_indices.data(), above.source.data(), diagonal_only},
          levels,
          source,
          which,
          stream,
          most_updates};
}

}  // namespace taskdag::kernels
