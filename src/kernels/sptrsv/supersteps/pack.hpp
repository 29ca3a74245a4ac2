/// \file
/// Making a layout on the device.
#pragma once

#include "kernels/sptrsv/supersteps/layout.hpp"

namespace taskdag::kernels::supersteps {

/// Orders the rows of each cell into steps and groups and counts entries; no arrays of entries yet. order (device):
/// row at each position of the cover. Synchronises `stream`.
/// @throws InvalidInput where a row waits for one that does not run earlier, Unsupported where 32 bits do not suffice
Layout measure(const SweepInput& input, const Cover& cover, const Index* order, cudaStream_t stream);

/// Gives the entries their places. Asynchronous.
void fill(const SweepInput& input, Layout& layout, cudaStream_t stream);

/// Lists for each cell the cells that it has to wait for, all of them earlier. Asynchronous.
void find_waits(Layout& layout, cudaStream_t stream);

/// Gathers the entries' values. Asynchronous.
void load_values(const Layout& layout, const double* source, cudaStream_t stream);

}  // namespace taskdag::kernels::supersteps
