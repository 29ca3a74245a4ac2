/// \file
/// Making a layout on the device.
#pragma once

#include "kernels/sptrsv/schedules/supersteps/layout.hpp"

namespace taskdag::kernels::supersteps {

/// Orders the rows of each cell into steps and groups and counts entries; no arrays of entries yet. order (device):
/// row at each position of the cover. Synchronises `stream`.
/// @throws InvalidInput where a row waits for one that does not run earlier, Unsupported where 32 bits do not suffice
Layout measure(const SweepInput& input, const Cover& cover, const Index* order, cudaStream_t stream);

/// Gives the entries their places. Asynchronous.
void fill(const SweepInput& input, Layout& layout, cudaStream_t stream);

/// Lists for each cell the cells that it has to wait for, all of them earlier. Asynchronous.
void find_waits(Layout& layout, cudaStream_t stream);

/// Which cells of the sweep before hold a cell's right-hand side.
struct Sources {
  cuda::DeviceArray<Index> cell;   ///< from the cell's first place on
  cuda::DeviceArray<Index> count;  ///< by cell
  [[nodiscard]] std::int64_t bytes() const { return cell.bytes() + count.bytes(); }
};

/// rhs_rows: in a vector by places of `before`; index (device): place → place of `before`. Asynchronous.
Sources find_sources(const Layout& layout, const UserRows& rhs_rows, const Layout& before, cudaStream_t stream);
Sources find_sources(const Layout& layout, const Index* index, const Layout& before, cudaStream_t stream);

/// What else patterns are made of, by place or by outer entry: see UserRows and CellArguments.
struct PatternLists {
  const Index* rhs_rows;
  const Index* x_rows;
  const std::uint16_t* local;
  const Index* outer_element;
};

/// Lets cells of equal patterns read the lists of the first of them: then these come from caches. All lists hold
/// differences by now. Asynchronous.
void share_patterns(Layout& layout, const PatternLists& lists, cudaStream_t stream);

/// Gathers the entries' values. Asynchronous.
void load_values(const Layout& layout, const double* source, cudaStream_t stream);

}  // namespace taskdag::kernels::supersteps
