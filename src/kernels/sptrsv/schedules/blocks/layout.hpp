/// \file
/// What a portion is made of in device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <climits>
#include <cstdint>

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/schedules/blocks/cover.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::supersteps {

inline constexpr int kLanes = 32;
/// Rows are numbered in 16 bits inside a portion, and packing takes a thread a row.
inline constexpr Index kMostPortionRows = 1024;
/// With up to this many rows a portion, packing takes blocks of as many threads.
inline constexpr Index kFewPortionRows = 256;
/// Where no row has more inner entries, all rows have equally many.
inline constexpr Index kLeastRowEntries = 2;
inline constexpr Index kMostRowEntries = 3;
/// Portions begin at multiples of it in every array, so that copies to shared memory can take 16 bytes at a time.
inline constexpr Index kAlign = 8;

/// Rows of a run: UserRows::run.
inline constexpr Index kRun = 8;
static_assert(kAlign % kRun == 0);

/// Instead of a number that says where an operand is: there is none.
inline constexpr Index kNone = INT_MIN;

/// Rows of a portion, in the order of its steps, and where its arrays begin. Inner entries have both ends in the
/// portion. Portions whose rows are coupled alike have the lists that say so in common (share_patterns()), and values
/// of their own. So these lists hold differences: to the portion's first row, or to its `rhs_base` or `x_base`.
struct Portion {
  Index first;  ///< place of its first row
  Index rows;
  Index steps;
  Index groups;
  Offset inner;                ///< its first inner entry
  Index inner_entries;         ///< with those that only fill up
  Offset outer;                ///< its first outer entry; there its list of portions to wait for begins, too
  Index outer_entries;         ///< with those that only fill up
  Index started;               ///< rows with outer entries
  Index waits;                 ///< other portions that hold operands of its rows
  Index inner_pattern;         ///< place where its steps and its lists of rows (UserRows) begin in their arrays
  Offset inner_pattern_entry;  ///< where its operands begin
  Index outer_pattern;         ///< place where its groups and started rows begin
  Offset outer_pattern_entry;  ///< where its list of operands in other portions begins
  Index rhs_base;              ///< an element of the right-hand side, which its list of these counts from
  Index x_base;                ///< the same of x
};

/// Up to 32 / lanes rows of one level of the portion, the next ones, `lanes` lanes each; a lane has `entries` inner
/// entries, some of them only to fill up. Entry k of lane l lies at k · rows · lanes + l from the step's first one. In
/// layouts with few entries a row (Layout::row_entries) a lane is a row, and its entries lie together.
struct Step {
  std::uint16_t rows;
  std::uint8_t log2_lanes;
  std::uint8_t entries;
};

/// Rows that a warp starts at once: up to 32 / lanes, `lanes` lanes each, the next ones of `started`. Their outer
/// entries, equally many a lane and at least one, lie interleaved by lane from the portion's first one + offset to the
/// next group's.
struct Group {
  std::uint16_t first;
  std::uint8_t rows;
  std::uint8_t log2_lanes;
  Index offset;
};

/// Where the rows of portions are in a vector, as portions with the same pattern have it. Each row of a portion once,
/// so that neighbours in the vector are neighbours in the list: a warp then reads and writes runs.
struct UserRows {
  const Index* index;          ///< of the element, counted from the portion's base
  const std::uint16_t* local;  ///< which row of the portion that is; null: they come as in the portion
  const Index* run;            ///< the first `index` of each kRun, from the portion's place / kRun on: see has_runs()
  bool of_x;                   ///< which base: x's, or the right-hand side's
  [[nodiscard]] __device__ Index base(const Portion& portion) const { return of_x ? portion.x_base : portion.rhs_base; }
  [[nodiscard]] __device__ Index element(const Portion& portion, Index r) const {
    return base(portion) + __ldg(index + portion.inner_pattern + r);
  }
  [[nodiscard]] __device__ Index in_portion(const Portion& portion, Index r) const {
    return local ? Index{__ldg(local + portion.inner_pattern + r)} : r;
  }
};

/// A triangle by portions. Arrays in device memory; sources name entries of what load_values() takes, −1: none.
/// A *place* is a row's number in the arrays: portion by portion, in a portion step by step, some places idle.
struct Layout {
  bool single = false;  ///< values in float, and pivots scale right-hand sides: SweepInput::precision
  Index rows = 0;
  Index places = 0;
  Index supersteps = 0;
  Index most_rows = 0;           ///< of any portion
  Index row_entries = 0;         ///< inner entries of each row, with those that only fill up; 0: as the steps say
  std::size_t shared_bytes = 0;  ///< shared memory in which a block can run any of the portions
  std::size_t shared_pivots_bytes = 0;  ///< the same with pivots
  Offset inner_entries = 0;
  Offset outer_entries = 0;
  std::vector<Index> superstep_offsets{0};  ///< in portions, host
  cuda::DeviceArray<Index> row;             ///< place → row, −1: idle
  cuda::DeviceArray<Index> place;           ///< row → place
  cuda::DeviceArray<Portion> portion;
  cuda::DeviceArray<Step> step;
  cuda::DeviceArray<std::uint16_t> operand;  ///< of an inner entry, numbered from the portion's first row; `rows`: none
  cuda::DeviceArray<double> inner_value;     ///< this or the next one
  cuda::DeviceArray<float> inner_single;
  cuda::DeviceArray<Offset> inner_source;
  cuda::DeviceArray<Group> group;
  cuda::DeviceArray<std::uint16_t> started;  ///< rows with outer entries by group, numbered as operands are
  /// Of the operand; −1: none. LayoutSweep puts in its place where its result is, less the portion's first place, or
  /// kNone.
  cuda::DeviceArray<Index> outer_place;
  cuda::DeviceArray<double> outer_value;  ///< this or the next one
  cuda::DeviceArray<float> outer_single;
  cuda::DeviceArray<Offset> outer_source;
  cuda::DeviceArray<Index> wait;  ///< portions that a portion waits for
  Index wait_stride = 0;          ///< Queue::wait_stride

  [[nodiscard]] Index portions() const { return superstep_offsets.back(); }
  [[nodiscard]] std::int64_t bytes() const;
};

}  // namespace taskdag::kernels::supersteps
