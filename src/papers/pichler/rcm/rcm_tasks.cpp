// Compiled as a CUDA source where CUDA is: it knows the programs' data.
#include "papers/pichler/rcm/rcm_tasks.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <string>

#include "base/index.hpp"
#include "papers/pichler/rcm/processor_levels.hpp"
#include "papers/pichler/rcm/programs.hpp"
#include "papers/pichler/rcm/rank.hpp"
#include "papers/pichler/rcm/sort/library_sort.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

using namespace rcm_tasks;

namespace {

unsigned bits_for(std::uint64_t largest) { return static_cast<unsigned>(std::bit_width(largest)); }

/// Adds the time of its life to a sum.
class Timed {
 public:
  explicit Timed(double& sum) : sum_(sum) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

TaskOrderingOptions library_program(const OrderingOptions& options) {
  TaskOrderingOptions program;
  program.sort = options.sort;
  program.steps = options.steps;
  if (options.steps == RcmSteps::dependencies) {
    program.compression = TaskCompression::candidates;
    program.narrow_in_place = true;
  }
  program.run.scheduler = options.scheduler;
  return program;
}

struct RcmByTasks::Impl {
  Impl(const Context& context_, const GraphView& graph_, const TaskOrderingOptions& options_)
      : context(context_), graph(graph_), options(options_), nodes(at(graph_.nodes)) {
    if (options.narrow_in_place && options.compression != TaskCompression::candidates) {
      throw InvalidInput("narrow levels are made in place from the list of candidates: ask for that, too");
    }
    if (!std::has_single_bit(options.block_keys) || options.block_keys < 64 || options.block_keys > kMostChunk) {
      throw InvalidInput("a block sorts a power of two of keys, 64 to 4096, not " + std::to_string(options.block_keys));
    }
    view = graph;
    if (context.backend() == Backend::cuda) {
      offsets = engine::Array<EdgeOffset>(context, {graph.offsets, nodes + 1});
      neighbours = engine::Array<Index>(context, {graph.neighbours, static_cast<std::size_t>(graph.offsets[nodes])});
      view = {graph.nodes, offsets.data(), neighbours.data()};
    }
    const std::vector<Index> order_by_rank = nodes_by_degree(graph);
    std::vector<Index> ranks(nodes);
    for (std::size_t i = 0; i < nodes; ++i) ranks[at(order_by_rank[i])] = static_cast<Index>(i);
    if (!order_by_rank.empty()) degree_bits = bits_for(static_cast<std::uint64_t>(graph.degree(order_by_rank.back())));
    rank = engine::Array<Index>(context, ranks);
    by_rank = engine::Array<Index>(context, order_by_rank);
    const std::vector<Parent> none(nodes, kUnseen);
    unseen = engine::Memory(context, nodes * sizeof(Parent));
    unseen.copy_in(0, none.data(), nodes * sizeof(Parent));
    parents = engine::Memory(context, nodes * sizeof(Parent));
    order = engine::Array<Index>(context, nodes);
    placed = engine::Array<Index>(context, 1);
    seen = engine::Array<std::uint32_t>(context, nodes);
    queue = engine::Array<Index>(context, nodes);
    search_state = engine::Array<SearchState>(context, 1);
    search = make_search_program(context, options.runner);
    if (options.sort == RcmSort::cpu_gpu) {
      on_processor.assign(nodes, 0);
    } else {
      keys = engine::Array<SortKey>(context, std::max<std::size_t>(std::bit_ceil(nodes), options.block_keys));
      if (options.compression == TaskCompression::candidates) candidates = engine::Array<Index>(context, nodes);
      level_state = engine::Array<LevelState>(context, 1);
      const auto library = options.steps == RcmSteps::phases ? make_phase_program : make_dependency_program;
      permutation = (options.make_permutation != nullptr ? options.make_permutation : library)(context, options.runner);
    }
    if (options.sort != RcmSort::bitonic) {
      sorter = context.backend() == Backend::cuda ? make_cuda_sort(context, nodes) : make_host_sort();
    }
  }

  std::vector<Index> run(TaskOrderingTimes& times) {
    reset();
    while (true) {
      const Index start = next_start(times);
      if (start < 0) break;
      const Timed timed(times.permutation);
      if (options.sort == RcmSort::cpu_gpu) {
        order_on_processor(start, times);
      } else {
        order_by_tasks(start, times);
      }
    }
    if (level_state.size() != 0) times.levels = level_state.download()[0].levels;
    std::vector<Index> result = order.download();
    std::reverse(result.begin(), result.end());
    return result;
  }

 private:
  void reset() {
    parents.copy_from(unseen, nodes * sizeof(Parent));
    placed.clear();
    SearchState fresh{};
    fresh.seen = last_search;  // marks of earlier calls stay what they are: old
    search_state.upload({&fresh, 1});
    if (level_state.size() != 0) level_state.clear();
    std::fill(on_processor.begin(), on_processor.end(), char{0});
  }

  Index next_start(TaskOrderingTimes& times) {
    const Timed timed(times.search);
    const SearchData data{view,           rank.data(), by_rank.data(), order.data(),       placed.data(),
                          parents_data(), seen.data(), queue.data(),   search_state.data()};
    account(*search, search->run(data, options.run), "search", times);
    const SearchState state = search_state.download()[0];
    last_search = state.seen;
    times.searches = state.searches;
    return state.start;
  }

  void order_by_tasks(Index start, TaskOrderingTimes& times) {
    const PermutationData data{view,
                               rank.data(),
                               by_rank.data(),
                               order.data(),
                               placed.data(),
                               parents_data(),
                               keys.data(),
                               candidates.data(),
                               options.narrow_in_place ? kNarrow : 0,
                               options.sort == RcmSort::cub,
                               bits_for(nodes),
                               options.block_keys,
                               level_state.data()};
    account_permutation(permutation->begin(start, data, options.run), times);
    if (options.sort == RcmSort::bitonic) return;
    for (LevelState level = level_state.download()[0]; level.children != 0; level = level_state.download()[0]) {
      sorter->sort(keys.data(), level.children,
                   data.rank_bits + bits_for(static_cast<std::uint64_t>(level.end - level.first)));
      account_permutation(permutation->go_on(data, options.run), times);
    }
  }

  void order_on_processor(Index start, TaskOrderingTimes& times) {
    std::vector<Index> component;
    times.levels += append_levels(graph, start, degree_bits, *sorter, on_processor, component);
    Index before = placed.download()[0];
    order_component(before, component);
    before += static_cast<Index>(component.size());
    placed.upload({&before, 1});
    // The search looks for nodes without a position.
    std::vector<Parent> marks(nodes);
    parents.copy_out(0, marks.data(), nodes * sizeof(Parent));
    for (const Index node : component) marks[at(node)] = kPlaced;
    parents.copy_in(0, marks.data(), nodes * sizeof(Parent));
  }
  void order_component(Index first, const std::vector<Index>& component) {
    std::vector<Index> all = order.download();
    std::copy(component.begin(), component.end(), all.begin() + first);
    order.upload(all);
  }

  void account_permutation(const engine::Report& report, TaskOrderingTimes& times) {
    account(*permutation, report, "permutation", times);
    times.kernels = report.kernels;
    times.dropped_events += report.dropped_events;
    if (report.events.empty()) return;
    times.types.resize(report.types.size());
    for (std::size_t type = 0; type < report.types.size(); ++type) times.types[type].name = report.types[type].name;
    for (const engine::TraceEvent& event : report.events) {
      ++times.types[event.type].tasks;
      times.types[event.type].seconds += 1e-9 * static_cast<double>(event.end - event.start);
    }
  }

  template <class Program>
  static void account(Program& program, const engine::Report& report, const char* what, TaskOrderingTimes& times) {
    if (!report.finished()) {
      program.clear();  // another call starts afresh
      throw Error(std::string("reverse Cuthill-McKee by tasks, ") + what + ": " + engine::to_string(report.outcome) +
                  ": " + report.message);
    }
    times.tasks += report.executed();
    times.growths += report.growths;
  }

  [[nodiscard]] Parent* parents_data() const { return static_cast<Parent*>(parents.data()); }

  Context context;
  GraphView graph;  ///< in host memory
  GraphView view;   ///< where the tasks see it
  TaskOrderingOptions options;
  std::size_t nodes;
  unsigned degree_bits = 0;
  std::uint32_t last_search = 0;

  engine::Array<EdgeOffset> offsets;
  engine::Array<Index> neighbours;
  engine::Array<Index> rank;
  engine::Array<Index> by_rank;
  engine::Memory unseen;
  engine::Memory parents;
  engine::Array<Index> order;
  engine::Array<Index> placed;
  engine::Array<std::uint32_t> seen;
  engine::Array<Index> queue;
  engine::Array<SearchState> search_state;
  engine::Array<SortKey> keys;
  engine::Array<Index> candidates;
  engine::Array<LevelState> level_state;
  std::vector<char> on_processor;  ///< by node: 1 if the calling thread has placed it
  std::unique_ptr<SearchProgram> search;
  std::unique_ptr<PermutationProgram> permutation;
  std::unique_ptr<LibrarySort> sorter;
};

RcmByTasks::RcmByTasks(const Context& context, const GraphView& graph, const TaskOrderingOptions& options)
    : impl_(std::make_unique<Impl>(context, graph, options)) {}
RcmByTasks::RcmByTasks(RcmByTasks&&) noexcept = default;
RcmByTasks::~RcmByTasks() = default;

std::vector<Index> RcmByTasks::order(TaskOrderingTimes* times) {
  TaskOrderingTimes unused;
  TaskOrderingTimes& target = times != nullptr ? *times : unused;
  target = {};
  return impl_->run(target);
}

std::vector<Index> rcm_by_tasks(const Context& context, const GraphView& graph, const TaskOrderingOptions& options,
                                TaskOrderingTimes* times) {
  return RcmByTasks(context, graph, options).order(times);
}

OrderByTasks order_by_tasks(const Context& context, const GraphView& graph, const OrderingOptions& options) {
  OrderByTasks made;
  TaskOrderingTimes spent;
  const auto begin = std::chrono::steady_clock::now();
  RcmByTasks program(context, graph, library_program(options));
  made.set_up = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  made.order = program.order(&spent);
  made.search = spent.search;
  return made;
}

}  // namespace taskdag::kernels
