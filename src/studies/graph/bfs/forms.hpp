/// \file
/// The forms of BFS, each in a file of its own.
#pragma once

#include "studies/graph/bfs/bfs.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<Index>> make_bfs_tasks(const Context&, const CsrPattern&, Index source, const Form&);
std::unique_ptr<Algorithm<Index>> make_bfs_written(const Context&, const CsrPattern&, Index source, const Form&);
std::unique_ptr<Algorithm<Index>> make_bfs_host_bsp(const Context&, const CsrPattern&, Index source);
std::unique_ptr<Algorithm<Index>> make_bfs_cuda_bsp(const Context&, const CsrPattern&, Index source, const Form&);

}  // namespace taskdag::graph
