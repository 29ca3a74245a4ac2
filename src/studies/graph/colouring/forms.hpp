/// \file
/// The forms of the colouring, each in a file of its own.
#pragma once

#include "studies/graph/colouring/colouring.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<Index>> make_colouring_tasks(const Context&, const CsrPattern&, const Form&);
std::unique_ptr<Algorithm<Index>> make_colouring_written(const Context&, const CsrPattern&, const Form&);
std::unique_ptr<Algorithm<Index>> make_colouring_host_bsp(const Context&, const CsrPattern&);
std::unique_ptr<Algorithm<Index>> make_colouring_cuda_bsp(const Context&, const CsrPattern&, const Form&);

}  // namespace taskdag::graph
