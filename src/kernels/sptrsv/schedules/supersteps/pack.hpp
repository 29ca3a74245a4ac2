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

/// rhs_index (device): place → place of `before`. Asynchronous.
Sources find_sources(const Layout& layout, const Index* rhs_index, const Layout& before, cudaStream_t stream);

/// Gathers the entries' values. Asynchronous.
void load_values(const Layout& layout, const double* source, cudaStream_t stream);

}  // namespace taskdag::kernels::supersteps
