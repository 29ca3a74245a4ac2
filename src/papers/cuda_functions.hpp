/// \file
/// What the papers have on CUDA; in a build without CUDA, nothing.
#pragma once

#include "kernels/papers/papers.hpp"

namespace taskdag::kernels {

void add_cuda_functions(Papers& papers);

}  // namespace taskdag::kernels
