/// \file
/// How cells lie in memory: what cutting into steps, packing and solving share.
///
/// A *position* is 32 · step + lane over all cells, 2³¹ − 1 at most; positions without a row are *idle*. Where rows
/// have many entries and levels are narrow, a row has 2 or 4 lanes (`ways`) that share its entries; its position is
/// that of the first, the others are idle but for that. Entries of the compute warp are stored in *pair rows*: for each
/// lane two values and where in the ring their two operands are, 768 bytes. A *chunk* is some consecutive
/// steps of a cell that are copied at once; all its steps have the same number of pair rows. The rows of a cell that
/// have outside operands are its *outside rows*, in the order of their positions; each has as many lanes as it takes to
/// hold its outside entries, and a warp of the fetchers takes a *batch* of them at once (batches.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "base/macros.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::kernels::cells {

inline constexpr int kLanes = 32;
inline constexpr int kHistory = 128;  ///< steps whose results the ring holds
inline constexpr int kAhead = 64;     ///< steps that feeders and fetchers may be ahead of the compute warp
inline constexpr int kGroup = 4;      ///< steps that the compute warp takes at once where all are fed
inline constexpr int kStages = 3;     ///< chunks that are on their way or in use
inline constexpr int kStageBytes = 32768;
inline constexpr int kPairRowBytes = kLanes * (2 * 8 + 2 * 4);
inline constexpr int kPairRowValues = kLanes * 2;
inline constexpr int kMaxPairs = 10;  ///< of a step; further entries of a row go to the fetchers
inline constexpr int kMaxChunkSteps = 32;
inline constexpr int kHeld = 4;                ///< entries of an outside row that a fetcher's lane holds in registers
inline constexpr int kStepBytes = kLanes * 8;  ///< of one step in the ring
inline constexpr int kRingBytes = kHistory * kStepBytes;
/// The operand of absent entries: the ring always has 0 there (a byte offset).
inline constexpr int kZeroOperand = kRingBytes;
static_assert(kGroup * kMaxPairs * kPairRowBytes <= kStageBytes && kAhead < kHistory);
static_assert(kAhead % kMaxChunkSteps == 0 && kMaxChunkSteps % kGroup == 0);

struct Cell {
  Index first_step;  ///< its steps: [first_step, first_step + steps)
  Index steps;
  Index rhs_begin;  ///< its right-hand side lies in [rhs_begin, rhs_end), empty if that is scattered
  Index rhs_end;
  Index first_batch;  ///< of its fetchers: [first_batch, first_batch + batches)
  Index batches;
};

/// A position: where its right-hand side and result are (−1: idle; the index maps of the sweep are in here) and its
/// pivot. rhs is kOutsideRow where a fetcher computes the start value.
struct alignas(16) Target {
  Index rhs;
  Index x;
  double pivot;
};
inline constexpr Index kOutsideRow = -2;

/// What a lane of a fetcher's batch does. The lanes of an outside row are neighbours, the first at a multiple of their
/// number.
struct alignas(16) OutsideRow {
  Index rhs;  ///< of the first lane; −1 for the others
  std::uint32_t
      position;  ///< (32 · step in the cell + lane) · 8 + log2 of its lanes; kNoOutsideRow where there is none
  double pivot;  ///< of the first lane
  [[nodiscard]] TASKDAG_HD int step() const { return static_cast<int>(position / (8 * kLanes)); }
  [[nodiscard]] TASKDAG_HD std::uint32_t log2_lanes() const { return position % 8; }
};
inline constexpr std::int64_t kMostCellPositions = (std::int64_t{1} << 29) - 1;  ///< of a cell
inline constexpr std::uint32_t kNoOutsideRow = kMostCellPositions * 8;

/// What the warp of a batch fetches: for each lane width() entries, entry k in row first_row + k of 32. Entry e of an
/// outside row is entry e / lanes of its lane e % lanes.
struct Batch {
  std::uint32_t first_row;
  std::uint32_t shape;  ///< 8 · width + log2 of the lanes that the longest outside row has
  [[nodiscard]] TASKDAG_HD std::uint32_t width() const { return shape / 8; }
  [[nodiscard]] TASKDAG_HD std::uint32_t log2_lanes() const { return shape % 8; }
};

/// A step's entries for the compute warp: `pairs` pair rows from pair_row.
struct Step {
  std::uint32_t pair_row;
  std::uint32_t pairs;
};

/// The schedule of a triangle as cells, in device memory.
struct Layout {
  int cells = 0;
  Index rows = 0;
  Index steps = 0;
  Index batches = 0;
  int chunk_steps = 1;  ///< steps per chunk (the last one of a cell may have fewer)
  int ways = 1;         ///< lanes of a row
  std::size_t pair_rows = 0;
  std::size_t outside_entry_rows = 0;  ///< of 32 entries, see Batch
  cuda::DeviceArray<Cell> cell;
  cuda::DeviceArray<Step> step;
  cuda::DeviceArray<Batch> batch;             ///< one more: where the entries end
  cuda::DeviceArray<OutsideRow> outside_row;  ///< 32 a batch, by lane; the sweep fills rhs, load_values pivots
  cuda::DeviceArray<Index> row;               ///< position → row, −1 idle
  cuda::DeviceArray<Index> position;          ///< row → position
  cuda::DeviceArray<Index> outside_row_at;    ///< position → 32 · batch + first lane of its outside row, −1 none

  [[nodiscard]] std::size_t positions() const { return static_cast<std::size_t>(steps) * kLanes; }
  [[nodiscard]] std::int64_t bytes() const {
    return cell.bytes() + step.bytes() + batch.bytes() + outside_row.bytes() + row.bytes() + position.bytes() +
           outside_row_at.bytes();
  }
};

}  // namespace taskdag::kernels::cells
