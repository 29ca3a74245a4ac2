/// \file
/// The elimination of ILU(0) and IC(0) on CUDA as lists: which pivot rows a row takes, in which order, and which of
/// their entries update which of its own. Made once for a pattern, so that a factorisation need not search.
///
/// Only what updates can change has a slot for hand-over: inverse pivots and the changed entries right of the diagonal.
/// All other entries that a row needs of its pivot rows are entries of the matrix and are read there, without waiting.
///
/// A row without updates is a sum over its pivot rows. One with updates has *targets*: for ilu its pivot rows'
/// multipliers, in the order of the pivot rows, then the changed entries; for ic only those. If they and the pivot
/// rows are few enough for the lanes of a warp, lane t may work on target t. Where most rows have updates and are not
/// long, all entries right of the diagonal have slots, and rows are in *registers*, an entry or a few a lane, whether
/// they are targets or not: a list of bytes says which entry of a pivot row meets which of the row. Else many updates
/// are dealt out to *rounds*: at most one update a lane, no two of the same target, and only by pivot rows whose
/// multiplier earlier rounds have finished, so that pivot rows of one level are taken side by side. A row without room
/// for that is a long row: one pivot row after the other.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>

#include "backends/cuda/memory.hpp"
#include "base/macros.hpp"
#include "csr/device_csr.hpp"
#include "kernels/sptrsv/analysis/warp_tasks.hpp"

namespace taskdag::kernels {

/// Where a value is that a row needs of a pivot row: slot `v` for v >= 0, else entry ~v of the values to factorise.
using ValueReference = Index;
inline constexpr ValueReference kNoValue = std::numeric_limits<Index>::min();  ///< a zero that is nowhere

/// A pivot row of a row. Rows with updates take them in level order, so that the latest come last.
struct alignas(16) PivotRow {
  Index inverse;            ///< slot of its inverse pivot
  ValueReference mirrored;  ///< its entry in the row's own column, or kNoValue; registers: the slot of its first entry
                            ///< right of its diagonal
  Index index;              ///< which of the row's pivot rows it is; ilu: the entry that becomes the multiplier
  Index first_update;       ///< long rows: where its updates begin, counted from the row's first
};

enum class RowForm : std::uint8_t {
  sum,              ///< no updates
  targets,          ///< a target a lane
  registers,        ///< an entry a lane, of a warp's 32
  two_registers,    ///< two
  three_registers,  ///< three
  rounds,           ///< an update a lane and round
  long_row,         ///< one that does not fit into shared memory
  searched,         ///< so many updates that they are not listed
};

/// A row of the form `registers` has a list of offsets, a byte each: of its pivot rows the entry that updates an entry
/// of the row, counted among those right of the pivot row's diagonal. A word has the offsets of four pivot rows for one
/// entry; it is followed by those of the next 31 entries, these by the other registers of the lanes.
inline constexpr Index kPivotsPerWord = 4;
inline constexpr unsigned kNoOffset = 0xFF;
inline constexpr Index kMostRegisters = 3;
/// Pivot rows fill up words from the last one on: so many are missing in the first word.
TASKDAG_HD constexpr Index padding_of(Index pivots) {
  static_assert((kPivotsPerWord & (kPivotsPerWord - 1)) == 0);
  return -pivots & (kPivotsPerWord - 1);
}
/// Of a lane, for a row with so many entries and pivot rows.
TASKDAG_HD constexpr Index registers_of(Index entries, Index pivots) {
  return ((entries > pivots ? entries : pivots) + padding_of(pivots) + 31) / 32;
}
/// Of the row's list.
TASKDAG_HD constexpr Index words_of_registers(Index entries, Index pivots) {
  return (pivots + kPivotsPerWord - 1) / kPivotsPerWord * registers_of(entries, pivots) * 32;
}
TASKDAG_HD constexpr bool is_in_registers(RowForm form) {
  return form >= RowForm::registers && form <= RowForm::three_registers;
}
/// Of rows that need so many.
TASKDAG_HD constexpr RowForm form_of_registers(Index registers) {
  return RowForm{static_cast<std::uint8_t>(static_cast<Index>(RowForm::registers) + registers - 1)};
}
static_assert(form_of_registers(kMostRegisters) == RowForm::three_registers);

/// What a lane does in a round: target −= multiplier · value.
struct alignas(8) RoundUpdate {
  ValueReference value;
  std::int32_t elements;  ///< RowElement of the multiplier (lower half) and of the target (upper); < 0: nothing
};

/// A row of the form `rounds` has this many 16-byte elements in shared memory, for each of its lanes: one an entry, one
/// a pivot row, for ic one more a pivot row.
inline constexpr Index kElementsPerLane = 8;

/// A row of the schedule.
struct alignas(16) EliminationRow {
  Index row;
  Index entries;
  Index diagonal;  ///< which of them is the diagonal
  Index pivot_count;
  Offset begin;  ///< of its entries
  Offset first_pivot;
  Offset first_update;
  Index update_count;
  Offset first_changed;
  Index changed_count;
  RowForm form;
  std::uint8_t late_pivots;    ///< rounds: pivot rows of the highest level, the last of the list; at most a lane each
  std::uint16_t early_rounds;  ///< those before any by a late pivot row
  std::uint16_t rounds;
};

/// What kernels take by value.
struct EliminationView {
  TaskList::View tasks;
  const EliminationRow* rows;
  const PivotRow* pivots;
  const unsigned* masks;  ///< per pivot row, for rows of the form `targets`: which of them it updates
  /// By row, from its first_update on. Registers: offsets. Rounds: RoundUpdate, a round after the other, one a lane.
  /// Long rows: by pivot row the values of its updates, then all targets, as entries of the row. Searched rows: for
  /// each pivot row its first entry that may update, and the end of its entries.
  const ValueReference* updates;
  const Offset* changed;  ///< slot − rows → entry
  const Index* slots;     ///< entry → slot, or −1
  const Index* columns;   ///< of the pattern's entries, which the caller keeps
};

/// Where no row has updates, a recurrence can do without lists: then they are made when they are first needed, without
/// counting again. Other methods never need them.
enum class MakeLists : std::uint8_t { always, where_updates, never, known_without_updates };

/// The lists, in device memory. Rows share warps as tasks() says, those of the form `sum` and others never. The pattern
/// must outlive it.
class Elimination {
 public:
  Elimination() = default;
  /// ILU(0) of `pattern`, whose diagonal entries are at `diagonal`; `source` maps its entries to those of the values to
  /// factorise (null: the same). diagonal_only: see FactorOptions. most_updates: words of all lists together; beyond it
  /// updates are searched for. Synchronises. @throws InvalidInput where that is too much, too
  static Elimination ilu(const DevicePattern& pattern, const Offset* diagonal, bool diagonal_only,
                         const RowLevels& levels, const Offset* source, MakeLists which, cudaStream_t stream,
                         std::int64_t most_updates = kMostUpdates);
  /// IC(0): `upper` holds the diagonal entry first in each row; `above` is its transpose with source = entry of upper
  /// (the last entry of a row of `above` is the diagonal). Synchronises.
  static Elimination ic(const DevicePattern& upper, const DeviceCsr& above, bool diagonal_only, const RowLevels& levels,
                        const Offset* source, MakeLists which, cudaStream_t stream,
                        std::int64_t most_updates = kMostUpdates);

  [[nodiscard]] Index rows() const { return row_count_; }
  /// Whether there are lists. If not, all that is known is rows() and widest().
  [[nodiscard]] bool listed() const { return listed_; }
  [[nodiscard]] const TaskList& tasks() const { return tasks_; }
  [[nodiscard]] Index slots() const { return slot_count_; }  ///< inverse pivots by position, then changed entries
  /// The last of RowForm that occurs; without lists: sum, or searched where rows have updates.
  [[nodiscard]] RowForm widest() const { return widest_; }
  /// Whether there are rows in registers: those that fit, if any do.
  [[nodiscard]] bool has_registers() const { return registers_; }
  /// Whether there is an update for every hundredth entry or more.
  [[nodiscard]] bool many_updates() const { return 100 * updates_.size() > slots_.size(); }
  [[nodiscard]] EliminationView view() const {
    return {tasks_.view(),   rows_.data(),    pivots_.data(), masks_.data(),
            updates_.data(), changed_.data(), slots_.data(),  columns_};
  }
  [[nodiscard]] std::int64_t bytes() const {
    return tasks_.bytes() + rows_.bytes() + pivots_.bytes() + updates_.bytes() + masks_.bytes() + changed_.bytes() +
           slots_.bytes();
  }

 private:
  static constexpr std::int64_t kMostUpdates = std::numeric_limits<Offset>::max();
  struct Counted;
  struct Chosen;

  template <class Pattern>
  Elimination(const Pattern& view, const RowLevels& levels, const Offset* source, MakeLists which, cudaStream_t stream,
              std::int64_t most_updates);
  /// searched: all updates are. @returns false where the lists would be too long
  template <class Pattern>
  bool make_lists(const Pattern& view, const RowLevels& levels, const Counted& counted, bool searched,
                  cudaStream_t stream);
  /// The end of make_lists() where there are rows in rounds: deals their `updates` updates out to rounds.
  template <class Pattern>
  bool deal_out_rounds(const Pattern& view, const RowLevels& levels, const Counted& counted, const Chosen& chosen,
                       std::size_t updates, cudaStream_t stream);

  Index row_count_ = 0;
  bool listed_ = true;
  TaskList tasks_;
  Index slot_count_ = 0;
  RowForm widest_ = RowForm::sum;
  bool registers_ = false;
  cuda::DeviceArray<EliminationRow> rows_;
  cuda::DeviceArray<PivotRow> pivots_;
  cuda::DeviceArray<ValueReference> updates_;
  cuda::DeviceArray<unsigned> masks_;
  cuda::DeviceArray<Offset> changed_;
  cuda::DeviceArray<Index> slots_;
  const Index* columns_ = nullptr;
};

}  // namespace taskdag::kernels
