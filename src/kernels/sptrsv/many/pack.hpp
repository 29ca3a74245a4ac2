/// \file
/// The places of a sweep over several right-hand sides: rows and parts of rows, in the order in which they run.
#pragma once

#include "kernels/sptrsv/many/many.hpp"

namespace taskdag::kernels::many {

struct Packed {
  Index slots = 0;  ///< rows and parts; places
  Offset entries = 0;
  cuda::DeviceArray<Place> place;
  cuda::DeviceArray<Index> column;
  cuda::DeviceArray<Offset> source;
  cuda::DeviceArray<Index> gate;
};

/// Synchronises `stream`.
Packed pack(const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels::many
