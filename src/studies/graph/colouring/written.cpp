/// \file
/// Greedy colouring by tasks as its paper writes it.
#include "papers/chen/colouring/step.hpp"
#include "studies/graph/colouring/forms.hpp"
#include "studies/graph/tally.hpp"
#include "studies/graph/vertex_program.hpp"

namespace taskdag::graph {

/// What is to be done with a vertex. The paper's listing tells the first two apart by the sign of the vertex.
enum class ColourWhat : std::int32_t {
  colour,
  check,
  check_again,  ///< a neighbour that comes later had its colour: it has been coloured again by now, or has seen nothing
};
struct ColourItem {
  Index vertex;
  ColourWhat what;
};

struct ColouringWrittenData {
  GraphView graph;
  Index* colour;
  TallyRef tally;
};

/// Algorithm 6 of the paper: giving a colour and looking for conflicts are tasks of their own, one behind the other in
/// the queue.
///
/// The listing has both vertices of a conflict coloured again. Two that are taken by one worker then take the same
/// colour again, and again. Here the one that comes first (by a hash) is looked at once more before it gives way, as in
/// papers/chen/colouring/task.hpp; so no conflict stays: of two neighbours, each takes its colour, passes a fence and
/// is checked afterwards, so one at least of the checks sees the other's colour.
template <int Lanes, int Fetch>
struct ColourWritten {
  using Item = ColourItem;
  static constexpr auto name = "colour as written";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = true;
  static constexpr bool waits = false;
  static constexpr bool continues = false;
  static constexpr int max_children = 1;

  struct Memory {
    ColourStep<Fetch> step;
    ColourItem next[std::size_t{Fetch}];
    int count;
  };
  static constexpr std::size_t shared_bytes = sizeof(Memory);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    const ColouringWrittenData& data = context.data();
    const auto& group = context.group();
    Memory& memory = *reinterpret_cast<Memory*>(context.shared());
    const int size = items.size();
    if (group.rank() == 0) memory.count = 0;
    const std::uint32_t given = memory.step.assign(group, data.graph, data.colour, size, [&](int k) {
      return items[k].what == ColourWhat::colour ? items[k].vertex : Index{-1};
    });
    full_fence();
    group.sync();
    memory.step.check(group, data.graph, data.colour, size,
                      [&](int k) { return items[k].what == ColourWhat::colour ? Index{-1} : items[k].vertex; });
    for (int k = group.rank(); k < size; k += group.size()) {
      ColourWhat next = ColourWhat::check;
      if (items[k].what != ColourWhat::colour) {
        const int conflict = memory.step.conflict[k];
        if (conflict == 0) continue;
        const bool gives_way = (conflict & kLoses) != 0 || items[k].what == ColourWhat::check_again;
        next = gives_way ? ColourWhat::colour : ColourWhat::check_again;
      }
      // relaxed: an element of the worker's own list.
      memory.next[engine::AtomicRef<int>(memory.count).fetch_add(1, engine::relaxed)] = {items[k].vertex, next};
    }
    group.sync();
    context.template enqueue_all<ColourWritten>(memory.next, memory.count);
    const std::uint32_t all = group.sum(given);
    if (group.rank() == 0) data.tally.add(all);
  }
};

std::unique_ptr<Algorithm<Index>> make_colouring_written(const Context& context, const CsrPattern& graph,
                                                         const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  std::vector<ColourItem> first(static_cast<std::size_t>(graph.rows));
  for (Index v = 0; v < graph.rows; ++v) first.data()[v] = {v, ColourWhat::colour};
  return with_written_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    using Tasks = VertexProgram<ColourWritten<Lanes, Fetch>, ColouringWrittenData, std::vector<ColourItem>>;
    return std::make_unique<Tasks>(context, graph, form, static_cast<std::uint32_t>(graph.rows),
                                   std::vector<Index>(first.size(), kNoColour), first);
  });
}

}  // namespace taskdag::graph
