/// \file
/// Greedy colouring by the tasks that the library has for orderings.
#include <numeric>

#include "papers/chen/colouring/task.hpp"
#include "studies/graph/colouring/forms.hpp"
#include "studies/graph/tally.hpp"
#include "studies/graph/vertex_program.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<Index>> make_colouring_tasks(const Context& context, const CsrPattern& graph,
                                                       const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  std::vector<Index> first(static_cast<std::size_t>(graph.rows));
  std::iota(first.begin(), first.end(), 0);
  return with_worker_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    using Tasks = VertexProgram<Colour<Lanes, Fetch, TallyRef>, ColouringData<TallyRef>, std::vector<Index>>;
    return std::make_unique<Tasks>(context, graph, form, static_cast<std::uint32_t>(graph.rows),
                                   std::vector<Index>(first.size(), kNoColour), first);
  });
}

}  // namespace taskdag::graph
