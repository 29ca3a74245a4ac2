#include "studies/graph/bfs/bfs.hpp"

#include "studies/graph/bfs/forms.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {
namespace {

void check_source(const CsrPattern& graph, Index source) {
  if (source < 0 || source >= graph.rows) throw InvalidInput("the source of a search is not a vertex of its graph");
}

}  // namespace

std::vector<Index> reference_bfs(const CsrPattern& graph, Index source) {
  check_source(graph, source);
  std::vector<Index> depth(static_cast<std::size_t>(graph.rows), kUnreached);
  std::vector<Index> queue{source};
  depth.data()[source] = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const Index v = queue.data()[next];
    for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
      const Index u = graph.col_indices[e];
      if (depth.data()[u] != kUnreached) continue;
      depth.data()[u] = depth.data()[v] + 1;
      queue.push_back(u);
    }
  }
  return depth;
}

std::unique_ptr<Algorithm<Index>> make_bfs(const Context& context, const CsrPattern& graph, Index source,
                                           const Form& form) {
  check_source(graph, source);
  if (form.kind == Kind::asynchronous && form.written) return make_bfs_written(context, graph, source, form);
  if (form.kind == Kind::asynchronous) return make_bfs_tasks(context, graph, source, form);
  if (context.backend() == Backend::cuda) return make_bfs_cuda_bsp(context, graph, source, form);
  if (form.kind != Kind::bsp) throw Unsupported("kernels are launched on CUDA only");
  return make_bfs_host_bsp(context, graph, source);
}

}  // namespace taskdag::graph
