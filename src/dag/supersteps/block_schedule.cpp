#include "dag/supersteps/block_schedule.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag {

namespace {

/// The block boundary that is nearest to `row` from below, of those of one colour.
Index boundary(const RowBlocks& blocks, Index colour, std::int64_t row) {
  const auto first = blocks.block_offsets.begin() + blocks.colour_offsets[at(colour)];
  const auto last = blocks.block_offsets.begin() + blocks.colour_offsets[at(colour) + 1] + 1;
  return *(std::upper_bound(first, last, row) - 1);
}

}  // namespace

SuperstepSchedule make_block_schedule(const RowBlocks& blocks, Triangle triangle, int cores) {
  SuperstepSchedule schedule;
  schedule.cores = cores;
  schedule.supersteps = blocks.colours();
  schedule.order.resize(at(blocks.rows()));
  schedule.offsets.assign(1, 0);
  schedule.offsets.reserve(at(schedule.supersteps) * static_cast<std::size_t>(cores) + 1);
  // The upper triangle runs everything backwards: colours, portions, rows.
  for (Index position = 0; position < blocks.rows(); ++position) {
    schedule.order[at(position)] = triangle == Triangle::lower ? position : blocks.rows() - 1 - position;
  }
  for (Index superstep = 0; superstep < schedule.supersteps; ++superstep) {
    const Index colour = triangle == Triangle::lower ? superstep : schedule.supersteps - 1 - superstep;
    const std::int64_t begin = blocks.block_offsets[at(blocks.colour_offsets[at(colour)])];
    const std::int64_t end = blocks.block_offsets[at(blocks.colour_offsets[at(colour) + 1])];
    for (int core = 1; core <= cores; ++core) {
      const int portion = triangle == Triangle::lower ? core : cores - core;
      const Index cut = boundary(blocks, colour, begin + (end - begin) * portion / cores);
      schedule.offsets.push_back(triangle == Triangle::lower ? cut : blocks.rows() - cut);
    }
  }
  return schedule;
}

}  // namespace taskdag
