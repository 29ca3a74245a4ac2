#include "tree.hpp"

#include "taskdag/engine/runner.hpp"

namespace fork_join {

namespace engine = taskdag::engine;

constexpr int kMostChildren = 16;
constexpr std::uint32_t kNoParent = 0xFFFFFFFFU;
constexpr std::uint32_t kPoolIsEmpty = 1;  ///< argument of fail()

// [snippet pool]
/// What an inner node knows until its join has run. It is not made beforehand: the fork takes it from the pool.
struct Node {
  engine::Dependency children_missing;
  std::uint32_t parent;
  std::uint64_t sum;
};

struct Tree {
  int depth;
  int fan_out;
  Node* pool;
  std::uint32_t pool_size;
  std::uint32_t* taken;
  std::uint64_t* result;

  /// @returns a node's number, or kNoParent: none is left
  [[nodiscard]] TASKDAG_TASK std::uint32_t take() const {
    const std::uint32_t node = engine::AtomicRef<std::uint32_t>(*taken).fetch_add(1U, engine::relaxed);
    return node < pool_size ? node : kNoParent;
  }
};
// [snippet end]

struct Join;

/// A subtree's sum goes to the parent's node; the last child to arrive sets the parent's join free.
template <class Context>
TASKDAG_TASK void hand_up(Context& context, std::uint32_t parent, std::uint64_t sum) {
  const Tree& tree = context.data();
  if (parent == kNoParent) {
    *tree.result = sum;
    return;
  }
  Node& node = tree.pool[parent];
  // relaxed: reduce() orders it before the join.
  engine::AtomicRef<std::uint64_t>(node.sum).fetch_add(sum, engine::relaxed);
  context.template reduce<Join>(node.children_missing);
}

struct Join {
  using Item = std::uint32_t;  // number of a node
  static constexpr auto name = "join";
  static constexpr int max_children = 0;  // its parent's join exists already
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const std::uint32_t& number) {
    const Node& node = context.data().pool[number];
    hand_up(context, node.parent, node.sum);
  }
};

struct Subtree {
  std::uint64_t number;  ///< of its root within the level
  std::uint32_t parent;
  std::int32_t level;
};

struct Fork {
  using Item = Subtree;
  static constexpr auto name = "fork";
  static constexpr int max_children = kMostChildren + 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<Fork, Join>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Subtree& root) {
    const Tree& tree = context.data();
    if (root.level == tree.depth) {
      hand_up(context, root.parent, root.number);
      return;
    }
    const std::uint32_t number = tree.take();
    if (number == kNoParent) {
      context.fail(kPoolIsEmpty);
      return;
    }
    Node& node = tree.pool[number];
    node.parent = root.parent;
    const auto fan_out = static_cast<std::uint64_t>(tree.fan_out);
    // The children may be done before the join exists: the dependency counts below zero then.
    for (std::uint64_t child = 0; child < fan_out; ++child) {
      context.template enqueue<Fork>({root.number * fan_out + child, number, root.level + 1});
    }
    context.template enqueue_dependent<Join>(number, node.children_missing, tree.fan_out);
  }
};

// [snippet probe]
using Phases = engine::PhaseQueue<engine::Phaseless<Join, Fork>>;
using Program = engine::Program<Tree, Phases>;
using TracedProgram = engine::Program<Tree, Phases, engine::SharedCounterQueue, engine::TraceProbe>;
// [snippet end]

std::uint64_t Shape::leaves() const {
  std::uint64_t nodes = 1;
  for (int level = 0; level < depth; ++level) nodes *= static_cast<std::uint64_t>(fan_out);
  return nodes;
}

std::uint64_t Shape::inner_nodes() const {
  std::uint64_t nodes = 0;
  for (int level = 0; level < depth; ++level) nodes = nodes * static_cast<std::uint64_t>(fan_out) + 1;
  return nodes;
}

namespace {

template <class P>
Result run(const taskdag::Context& context, const example::EngineOptions& options, const Shape& shape,
           std::uint32_t pool) {
  const engine::Array<Node> nodes(context, pool);
  const engine::Array<std::uint32_t> taken(context, 1);
  const engine::Array<std::uint64_t> result(context, 1);

  engine::Runner<P> runner(context, options.runner);
  runner.template enqueue<Fork>({0, kNoParent, 0});
  const engine::Report report =
      runner.run({shape.depth, shape.fan_out, nodes.data(), pool, taken.data(), result.data()}, options.run);
  return {report, result.download()[0], taken.download()[0]};
}

}  // namespace

Result sum_leaves(const taskdag::Context& context, const example::EngineOptions& options, const Shape& shape,
                  std::uint32_t pool, bool traced) {
  if (shape.depth < 0 || shape.fan_out < 1 || shape.fan_out > kMostChildren) {
    throw taskdag::InvalidInput("a tree has depth 0 or more and a fan-out of 1 to " + std::to_string(kMostChildren));
  }
  return traced ? run<TracedProgram>(context, options, shape, pool) : run<Program>(context, options, shape, pool);
}

}  // namespace fork_join
