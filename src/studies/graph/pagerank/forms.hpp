/// \file
/// The forms of PageRank, each in a file of its own.
#pragma once

#include "studies/graph/pagerank/pagerank.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<float>> make_pagerank_tasks(const Context&, const CsrPattern&, const PagerankOptions&,
                                                      const Form&);
std::unique_ptr<Algorithm<float>> make_pagerank_written(const Context&, const CsrPattern&, const PagerankOptions&,
                                                        const Form&);
std::unique_ptr<Algorithm<float>> make_pagerank_host_bsp(const Context&, const CsrPattern&, const PagerankOptions&);
std::unique_ptr<Algorithm<float>> make_pagerank_cuda_bsp(const Context&, const CsrPattern&, const PagerankOptions&,
                                                         const Form&);

}  // namespace taskdag::graph
