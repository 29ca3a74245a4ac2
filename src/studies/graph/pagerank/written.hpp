/// \file
/// Algorithm 4 of Chen et al. 2022 (Atos) as tasks: a worker takes vertices from the queue, hands their residues on,
/// reserves the next vertices of all, `check` for each that it took, and puts those into the queue whose residue is
/// above the threshold.
///
/// What the paper's listing leaves open:
/// - A vertex stays above the threshold until it is taken, so every scan that comes by would put it into the queue
///   again. Here a mark tells that it is there.
/// - The queue may run dry while residues that no scan has come by are above the threshold. Here a phase follows, in
///   which tasks look at all vertices. The run ends when they find nothing.
///
/// All is relaxed: ranks and residues are sums. A mark that is seen too early or too late costs a vertex that is taken
/// twice, or one that the phase of sweeps finds: phases order what is before them.
#pragma once

#include "papers/chen/colouring/atomics.hpp"
#include "studies/graph/flat_edges.hpp"
#include "studies/graph/pagerank/pagerank.hpp"
#include "studies/graph/tally.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::graph {

struct PagerankWrittenData {
  GraphView graph;
  float* rank;
  float* residue;
  std::uint32_t* queued;  ///< by vertex: 1 while it is in the queue
  std::uint32_t* cursor;  ///< where the next scan begins, modulo the vertices
  std::uint32_t* handed;  ///< 1: residues were handed on since the last sweep began, and a sweep is in its queue
  float damping;
  float threshold;
  TallyRef tally;
  int check;  ///< vertices that a worker looks at for each that it took, at most kMostChecks
};

inline constexpr int kMostChecks = 16;

/// Vertices first, …, last − 1, to be looked at.
struct SweepRange {
  Index first;
  Index last;
};

template <int Lanes, int Fetch>
struct Sweep;

template <int Lanes, int Fetch>
struct PushAndScan {
  using Item = Index;
  using Creates = engine::Types<PushAndScan, Sweep<Lanes, Fetch>>;
  static constexpr auto name = "push and scan";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = true;
  static constexpr bool waits = false;
  static constexpr bool continues = false;
  static constexpr int max_children = kMostChecks + 1;

  struct Memory {
    FlatEdges<Fetch> edges;
    float share[std::size_t{Fetch}];
  };
  static constexpr std::size_t shared_bytes = sizeof(Memory);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    const PagerankWrittenData& data = context.data();
    const auto& group = context.group();
    Memory& memory = *reinterpret_cast<Memory*>(context.shared());
    for (int k = group.rank(); k < items.size(); k += group.size()) {
      const Index v = items[k];
      engine::AtomicRef<std::uint32_t>(data.queued[v]).store(0, engine::relaxed);
      const float taken = engine::AtomicRef<float>(data.residue[v]).exchange(0.0F, engine::relaxed);
      engine::AtomicRef<float>(data.rank[v]).fetch_add(taken, engine::relaxed);
      const Offset degree = data.graph.degree(v);
      memory.share[k] = degree == 0 ? 0.0F : taken * data.damping / static_cast<float>(degree);
    }
    memory.edges.load(group, data.graph, items.size(), [&](int k) { return items[k]; });
    const Offset walked = memory.edges.walk(group, data.graph, items.size(), [&](int k, Index u) {
      engine::AtomicRef<float>(data.residue[u]).fetch_add(memory.share[k], engine::relaxed);
    });
    if (group.rank() == 0 && peek(*data.handed) == 0 &&
        engine::AtomicRef<std::uint32_t>(*data.handed).exchange(1, engine::relaxed) == 0) {
      context.template enqueue<Sweep<Lanes, Fetch>>({0, data.graph.vertices});
    }
    scan(context, data, static_cast<std::uint32_t>(items.size() * data.check));
    const std::uint32_t all = group.sum(static_cast<std::uint32_t>(walked));
    if (group.rank() == 0) data.tally.add(all);
  }

  /// Puts a vertex into the queue whose residue is above the threshold, unless it is there.
  template <class Context>
  TASKDAG_TASK static void look(Context& context, const PagerankWrittenData& data, Index v) {
    if (peek(data.residue[v]) <= data.threshold || peek(data.queued[v]) != 0) return;
    if (engine::AtomicRef<std::uint32_t>(data.queued[v]).exchange(1, engine::relaxed) != 0) return;
    context.template enqueue<PushAndScan>(v);
  }

 private:
  template <class Context>
  TASKDAG_TASK static void scan(Context& context, const PagerankWrittenData& data, std::uint32_t amount) {
    const auto& group = context.group();
    const auto vertices = static_cast<std::uint32_t>(data.graph.vertices);
    if (amount > vertices) amount = vertices;
    std::uint32_t first = 0;
    if (group.rank() == 0) first = engine::AtomicRef<std::uint32_t>(*data.cursor).fetch_add(amount, engine::relaxed);
    first = group.broadcast(first);
    for (auto k = static_cast<std::uint32_t>(group.rank()); k < amount; k += static_cast<std::uint32_t>(group.size())) {
      look(context, data, static_cast<Index>((first + k) % vertices));
    }
  }
};

template <int Lanes, int Fetch>
struct Sweep {
  using Item = SweepRange;
  using Creates = engine::Types<PushAndScan<Lanes, Fetch>, Sweep>;
  static constexpr auto name = "sweep";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr bool waits = false;
  static constexpr bool continues = false;
  static constexpr Index kLooks = 512;  ///< vertices that a task looks at
  static constexpr int kPieces = 64;    ///< of a longer range
  static constexpr int max_children = kLooks;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& range) {
    const PagerankWrittenData& data = context.data();
    const auto& group = context.group();
    const Index size = range.last - range.first;
    if (group.rank() == 0 && size == data.graph.vertices) {  // all others wait for this one or come from it
      engine::AtomicRef<std::uint32_t>(*data.handed).store(0, engine::relaxed);
    }
    if (size > kLooks) {
      const Index even = (size + kPieces - 1) / kPieces;
      const Index piece = even > kLooks ? even : kLooks;
      for (int k = group.rank(); k < kPieces && k * std::int64_t{piece} < size; k += group.size()) {
        const Index first = range.first + k * piece;
        context.template enqueue<Sweep>({first, range.last - first < piece ? range.last : first + piece});
      }
      return;
    }
    for (Index v = range.first + group.rank(); v < range.last; v += group.size()) {
      PushAndScan<Lanes, Fetch>::look(context, data, v);
    }
  }
};

}  // namespace taskdag::graph
