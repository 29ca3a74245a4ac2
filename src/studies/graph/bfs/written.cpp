/// \file
/// Breadth-first search by tasks as its paper writes it.
#include "studies/graph/bfs/forms.hpp"
#include "studies/graph/bfs/tasks.hpp"
#include "studies/graph/flat_edges.hpp"
#include "studies/graph/vertex_program.hpp"

namespace taskdag::graph {

/// Algorithm 2 of the paper: an item is a vertex; each of its edges tries to lower a depth, and who lowers one hands
/// the vertex on. Depths are relaxed as in tasks.hpp.
template <int Lanes, int Fetch>
struct ExpandWritten {
  using Item = Index;
  static constexpr auto name = "expand as written";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = true;
  static constexpr bool waits = false;
  static constexpr bool continues = false;
  /// Of a usual vertex. A hub may have more: the queue's capacity, not its margin, leaves room for them.
  static constexpr int max_children = 64;

  struct Memory {
    FlatEdges<Fetch> edges;
    Index depth[std::size_t{Fetch}];  ///< of what is found
  };
  static constexpr std::size_t shared_bytes = sizeof(Memory);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    const BfsData& data = context.data();
    const auto& group = context.group();
    Memory& memory = *reinterpret_cast<Memory*>(context.shared());
    for (int k = group.rank(); k < items.size(); k += group.size()) memory.depth[k] = peek(data.depth[items[k]]) + 1;
    memory.edges.load(group, data.graph, items.size(), [&](int k) { return items[k]; });
    const Offset walked = memory.edges.walk(group, data.graph, items.size(), [&](int k, Index u) {
      const Index depth = memory.depth[k];
      if (fetch_min(data.depth[u], depth) > depth) context.template enqueue<ExpandWritten>(u);
    });
    const std::uint32_t all = group.sum(static_cast<std::uint32_t>(walked));
    if (group.rank() == 0) data.tally.add(all);
  }
};

std::unique_ptr<Algorithm<Index>> make_bfs_written(const Context& context, const CsrPattern& graph, Index source,
                                                   const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  check_flat(graph, form.fetch);
  // A vertex stands in the queue once for each time that its depth was lowered since it was taken.
  const std::uint32_t capacity = static_cast<std::uint32_t>(graph.rows) + static_cast<std::uint32_t>(graph.entries());
  std::vector<Index> start(static_cast<std::size_t>(graph.rows), kUnreached);
  start.data()[source] = 0;
  return with_written_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    using Tasks = VertexProgram<ExpandWritten<Lanes, Fetch>, BfsData, Index>;
    return std::make_unique<Tasks>(context, graph, form, capacity, start, source);
  });
}

}  // namespace taskdag::graph
