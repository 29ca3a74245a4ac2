/// \file
/// The lists of the rows: where each begins, and what is in it.
#pragma once

#include "kernels/factor/cuda/forms.cuh"
#include "kernels/factor/cuda/search.cuh"

namespace taskdag::kernels::elimination {

/// Rows with more pivot rows are not sorted.
inline constexpr Index kMostSorted = 1024;

/// Sizes by position, later where each row's lists begin; one more for the total.
struct RowOffsets {
  Index* pivots;
  std::int64_t* updates;
  Index* changed;
};

template <class Pattern>
__global__ void sizes_by_position(const Pattern view, const Index* order, RowCounts counts, const RowForm* form,
                                  RowOffsets sizes) {
  const auto p = static_cast<Index>(element());
  if (p > view.pattern.rows) return;
  sizes.pivots[p] = sizes.changed[p] = 0;
  sizes.updates[p] = 0;
  if (p == view.pattern.rows) return;
  const Index row = order[p];
  sizes.pivots[p] = view.pivot_count(row);
  sizes.changed[p] = counts.changed[row];
  switch (form[row]) {
    case RowForm::sum:
      break;
    case RowForm::targets:
      sizes.updates[p] = counts.updates[row] + counts.updates[row] % 2;
      break;
    case RowForm::registers:
    case RowForm::two_registers:
    case RowForm::three_registers:
      sizes.updates[p] =
          words_of_registers(view.pattern.row_offsets[row + 1] - view.pattern.row_offsets[row], sizes.pivots[p]);
      break;
    case RowForm::rounds:
    case RowForm::long_row:
      sizes.updates[p] = 2 * counts.updates[row];
      break;
    case RowForm::searched:
      sizes.updates[p] = 2 * std::int64_t{sizes.pivots[p]};
      break;
  }
}

/// One warp a position: the row's header, the numbers of its slots instead of their marks, and what they belong to.
template <class Pattern>
__global__ void fill_rows(const Pattern view, TaskList::View tasks, RowCounts counts, const RowForm* form,
                          RowOffsets offsets, EliminationRow* rows, Index* slots, Offset* changed) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= tasks.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const Index row = tasks.order[p];
  const Offset begin = view.pattern.row_offsets[row];
  const Index entries = view.pattern.row_offsets[row + 1] - begin;
  if (lane == 0) {
    rows[p] = {
        row,
        entries,
        view.diagonal(row),
        view.pivot_count(row),
        begin,
        offsets.pivots[p],
        static_cast<Offset>(offsets.updates[p]),
        form[row] == RowForm::searched || is_in_registers(form[row]) ? 0 : static_cast<Index>(counts.updates[row]),
        offsets.changed[p],
        counts.changed[row],
        form[row],
        0,
        0,
        0};
  }
  Offset next = offsets.changed[p];
  for (Index base = view.diagonal(row) + 1; base < entries; base += kWarpSize) {
    const Index e = base + lane;
    const bool is_changed = e < entries && slots[begin + e] >= 0;
    const unsigned all = __ballot_sync(kFullWarp, is_changed);
    if (is_changed) {
      const Offset at = next + __popc(all & lanes_below(lane));
      slots[begin + e] = tasks.rows + at;
      changed[at] = begin + e;
    }
    next += __popc(all);
  }
}

/// Writes the lists of one row with one warp.
template <class Pattern>
struct RowLists {
  const Pattern view;
  EliminationView lists;
  PivotRow* pivots;  // of all rows, as the rest
  unsigned* masks;
  ValueReference* updates;
  Index* order;  // scratch: pivot row of a row in the pattern's order → in the list's
  const Offset* source;

  __device__ ValueReference reference(Offset e) const {
    const Index slot = lists.slots[e];
    if (slot >= 0) return slot;
    const Offset from = source ? source[e] : e;
    return from >= 0 ? ~from : kNoValue;
  }

  __device__ void list_pivots(const EliminationRow& row, int lane) const {
    const Offset first = view.first_pivot(row.row);
    const bool sorted = row.form != RowForm::sum && row.pivot_count <= kMostSorted;
    for (Index t = lane; t < row.pivot_count; t += kWarpSize) {
      const Index position = lists.tasks.position[view.pivot_row(first + t)];
      Index at = t;
      if (sorted) {
        at = 0;
        for (Index k = 0; k < row.pivot_count; ++k) {
          at += lists.tasks.position[view.pivot_row(first + k)] < position ? 1 : 0;
        }
      }
      order[row.first_pivot + t] = at;
      ValueReference mirrored = kNoValue;
      if (is_in_registers(row.form)) mirrored = lists.tasks.rows + lists.rows[position].first_changed;
      pivots[row.first_pivot + at] = {position, mirrored, t, 0};
    }
    __syncwarp();
  }

  /// A row of the form `registers`: none of its entries is updated yet.
  __device__ void clear_offsets(const EliminationRow& row, int lane) const {
    const Index words = words_of_registers(row.entries, row.pivot_count);
    auto* const list = reinterpret_cast<unsigned*>(updates + row.first_update);
    for (Index k = lane; k < words; k += kWarpSize) list[k] = ~0U;
    __syncwarp();
  }
  /// Its pivot row number t of the list, row k of the pattern, updates that entry by its entry e.
  __device__ void put_offset(const EliminationRow& row, Index t, Index k, Offset e, Index entry) const {
    const Index empty = padding_of(row.pivot_count);
    Index r = entry;
    if (Pattern::kMultipliersAreTargets) {
      r = empty + (entry < row.diagonal ? order[row.first_pivot + entry] : entry);
    }
    t += empty;
    const Index word =
        (t / kPivotsPerWord * registers_of(row.entries, row.pivot_count) + r / kWarpSize) * kWarpSize + r % kWarpSize;
    reinterpret_cast<std::uint8_t*>(updates + row.first_update + word)[t % kPivotsPerWord] =
        static_cast<std::uint8_t>(e - view.first_right(k));
  }

  /// Which target an entry of the row is.
  __device__ Index target_of(const EliminationRow& row, Index entry) const {
    if (entry < row.diagonal) return order[row.first_pivot + entry];
    const Index changed = lists.slots[row.begin + entry] - lists.tasks.rows - row.first_changed;
    return (Pattern::kMultipliersAreTargets ? row.pivot_count : 0) + changed;
  }

  __device__ void list_updates(const EliminationRow& row, int lane) const {
    const Offset first_pivot = view.first_pivot(row.row);
    PivotRow* const mine = pivots + row.first_pivot;
    Index listed = 0;
    for (Index first = 0; first < row.pivot_count;) {
      const PivotBatch batch(
          view, first, row.pivot_count, [&](Index t) { return first_pivot + mine[t].index; }, lane);
      const auto each = [&](const auto& visit) {
        batch.each(view, view.pattern.col_indices + row.begin, row.entries, lane, visit);
      };
      int count = 0;  // updates by this lane's pivot row
      each([&](int base, int owner, Offset e, Index entry) {
        if (is_in_registers(row.form)) {
          if (entry < 0) return;
          const Index t = first + owner;
          put_offset(row, t, view.pivot_row(first_pivot + mine[t].index), e, entry);
          return;
        }
        const bool is_update = entry >= 0 && entry != row.diagonal && !view.diagonal_only;
        if (entry == row.diagonal) mine[first + owner].mirrored = reference(e);
        count += __popc(batch.mine(__ballot_sync(kFullWarp, is_update), base));
        if (is_update && row.form == RowForm::targets) {
          atomicOr(masks + row.first_pivot + first + owner, 1U << target_of(row, entry));
        }
      });
      if (lane >= batch.pivots) count = 0;
      const int through = inclusive_sum(count, lane);
      if (lane < batch.pivots) mine[first + lane].first_update = listed + through - count;
      __syncwarp();
      if (row.form == RowForm::searched && lane < batch.pivots) {
        ValueReference* const range = updates + row.first_update + 2 * (first + lane);
        range[0] = batch.first;
        range[1] = batch.first + batch.through - batch.before;
      }
      Index next = row.first_update + listed;
      if (row.update_count > 0) {
        each([&](int, int owner, Offset e, Index entry) {
          const bool is_update = entry >= 0 && entry != row.diagonal;
          const unsigned all = __ballot_sync(kFullWarp, is_update);
          if (is_update && row.form == RowForm::targets) {
            // Past the first-level cache, which atomic operations leave as it is.
            const unsigned mask = __ldcg(masks + row.first_pivot + first + owner);
            const Index at = row.first_update + mine[first + owner].first_update;
            updates[at + __popc(mask & lanes_below(target_of(row, entry)))] = reference(e);
          } else if (is_update) {
            const Index at = next + __popc(all & lanes_below(lane));
            updates[at] = reference(e);
            updates[at + row.update_count] = entry;
          }
          next += __popc(all);
        });
      }
      listed += __shfl_sync(kFullWarp, through, kWarpSize - 1);
      first += batch.pivots;
    }
  }
};

/// One warp a position.
template <class Pattern>
__global__ void fill_lists(const RowLists<Pattern> lists) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= lists.view.pattern.rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const EliminationRow row = lists.lists.rows[p];
  lists.list_pivots(row, lane);
  if (is_in_registers(row.form)) lists.clear_offsets(row, lane);
  lists.list_updates(row, lane);
}

}  // namespace taskdag::kernels::elimination
