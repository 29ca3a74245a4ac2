/// \file
/// Jacobi sweeps as a static program of the task engine, on both backends (MHive, section 7.4). A task is a part of the
/// matrix in one sweep.
#pragma once

#include <memory>

#include "kernels/jacobi/part_task.hpp"
#include "kernels/jacobi/program.hpp"
#include "taskdag/engine/static/order.hpp"

namespace taskdag::kernels {

/// pattern: square, columns in range, in host memory; it may go afterwards. options: dependencies are the form's.
/// Synchronises the device. @throws Unsupported where the program would have too many tasks, OutOfMemory, DeviceError
std::unique_ptr<JacobiProgram> make_jacobi_program(const Context& context, const CsrPattern& pattern,
                                                   const JacobiShape& shape, engine::StaticOptions options);

}  // namespace taskdag::kernels
