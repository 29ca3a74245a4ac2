/// \file
/// The "one-block" schedule as the host lays it out: levels, one after the other, as steps of one thread block.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/csr.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels::one_block {

inline constexpr int kWarp = 32;
inline constexpr int kMostThreads = 512;
/// Entries of a record, which a lane fetches at once; rows get so many lanes that one record each is all of them, where
/// 32 lanes do.
inline constexpr int kRecord = 4;
inline constexpr int kMostLanesLog = 5;

/// What has to be waited for after a step, for the next one to read its results.
enum class Barrier : std::uint8_t {
  none,   ///< the next step is of the same level
  warp,   ///< both steps are the first warp's alone
  block,  ///< all threads
};

/// Rows of one level, up to one for each 2^lanes_log threads. Thread t has the row at first_row + (t >> lanes_log) and
/// of it the records first_record + t + k · width for k < records. All threads of `width` belong to whole warps, and
/// have a row or padding.
struct alignas(16) Step {
  Offset first_record = 0;
  Index first_row = 0;  ///< place in Plan::row
  std::uint16_t width = 0;
  std::uint8_t lanes_log = 0;
  Barrier barrier = Barrier::none;
  std::int32_t records = 0;
};
static_assert(sizeof(Step) == 16);

/// The strict triangle of a square pattern, as rows begin and end in `columns`. The caller keeps the arrays.
struct StrictTriangle {
  Index rows = 0;
  const Offset* begin = nullptr;
  const Offset* end = nullptr;
  const Index* columns = nullptr;
  Triangle triangle = Triangle::lower;
};

/// One sweep, or several one after the other on the same vector. x is by row and worked on in place.
struct Plan {
  /// Where a sweep begins.
  struct Sweep {
    std::size_t first_row = 0;  ///< in `row`
    std::size_t first_entry = 0;
    Index levels = 0;
  };
  int threads = kWarp;
  std::vector<Step> steps;
  std::vector<Index> row;      ///< in the order in which steps take them; −1: padding
  std::vector<Index> column;   ///< kRecord of each record; −1: padding
  std::vector<Offset> source;  ///< of each record: entry of the triangle's columns; −1: padding
  std::vector<Sweep> sweeps;
};

/// The sweeps of the triangles in a row. @pre all have the same number of rows, and only entries of their triangle
/// @throws Unsupported where entries with their padding are more than an Offset counts
Plan make_plan(const std::vector<StrictTriangle>& triangles);

/// How many runs of a plan take as much longer than other schedules would as it takes to set these up: at least 1.
Index runs_that_pay(const Plan& plan);

}  // namespace taskdag::kernels::one_block
