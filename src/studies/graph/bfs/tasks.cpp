#include "studies/graph/bfs/tasks.hpp"

#include "studies/graph/bfs/forms.hpp"
#include "studies/graph/vertex_program.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<Index>> make_bfs_tasks(const Context& context, const CsrPattern& graph, Index source,
                                                 const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  std::vector<Index> start(static_cast<std::size_t>(graph.rows), kUnreached);
  start.data()[source] = 0;
  const EdgeRange first{source, graph.row_offsets[source], graph.row_offsets[source + 1]};
  return with_worker_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    using Tasks = VertexProgram<RangeTask<Expand, Lanes, Fetch>, BfsData, EdgeRange>;
    return std::make_unique<Tasks>(context, graph, form, static_cast<std::uint32_t>(graph.rows), start, first);
  });
}

}  // namespace taskdag::graph
