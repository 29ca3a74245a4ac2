/// \file
/// The bulk synchronous forms of the device in builds without CUDA, which have none.
#include "studies/graph/bfs/forms.hpp"
#include "studies/graph/colouring/forms.hpp"
#include "studies/graph/pagerank/forms.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {
namespace {

[[noreturn]] void refuse() { throw Unsupported("this build has no CUDA"); }

}  // namespace

std::unique_ptr<Algorithm<Index>> make_bfs_cuda_bsp(const Context& /*context*/, const CsrPattern& /*graph*/,
                                                    Index /*source*/, const Form& /*form*/) {
  refuse();
}

std::unique_ptr<Algorithm<float>> make_pagerank_cuda_bsp(const Context& /*context*/, const CsrPattern& /*graph*/,
                                                         const PagerankOptions& /*options*/, const Form& /*form*/) {
  refuse();
}

std::unique_ptr<Algorithm<Index>> make_colouring_cuda_bsp(const Context& /*context*/, const CsrPattern& /*graph*/,
                                                          const Form& /*form*/) {
  refuse();
}

}  // namespace taskdag::graph
