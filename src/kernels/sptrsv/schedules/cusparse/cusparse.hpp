/// \file
/// The "cusparse" schedule: NVIDIA's cusparseSpSV behind the interface of a sweep.
///
/// libcusparse is no dependency of this library: it is opened with dlopen when the first such sweep is made, so that
/// the library loads where only the driver is installed.
#pragma once

#include <memory>

#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// Makes a sweep that calls cusparseSpSV on a copy of the triangle. Analysis happens with the first values, because
/// SpSV looks at them; later values are handed over by cusparseSpSV_updateMatrix. Synchronises `stream`.
/// @throws DeviceError if libcusparse cannot be opened (the message names what was tried) or refuses the matrix;
///         OutOfMemory
std::unique_ptr<Sweep> make_cusparse_sweep(const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels
