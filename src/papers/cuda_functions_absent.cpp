/// \file
/// A build without CUDA has none of these.
#include "papers/cuda_functions.hpp"

namespace taskdag::kernels {

void add_cuda_functions(Papers&) {}

}  // namespace taskdag::kernels
