/// \file
/// A DAG as a program of the task engine, in the four ways that the engine knows to order tasks. One source for both
/// backends.
///
/// Each task computes Dag::value from its predecessors' values, which are plain (not atomic) numbers: a task that runs
/// before a predecessor has ended, or does not see what it wrote, computes another number, and a race detector sees
/// it too. `executed` counts the tasks' executions.
#pragma once

#include <numeric>
#include <vector>

#include "dag.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::test {

struct DagData {
  const int* successor_offsets;
  const int* successors;
  const int* predecessor_offsets;
  const int* predecessors;
  const int* level;
  const int* level_sizes;
  const int* creator;
  std::uint64_t* value;
  std::uint32_t* executed;
  std::int32_t* remaining;           ///< counters in the data: predecessors that have not ended
  engine::Dependency* dependencies;  ///< one per task
  engine::DependencyGroup* groups;   ///< one per level
};

/// What a task type looks like, apart from how it is ordered. `Fetch` and `Batched` as in a task type.
template <int Lanes, int Fetch, bool Batched>
struct Worker {
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int fetch = Fetch;
  static constexpr bool batched = Batched;
  static constexpr std::size_t shared_bytes = 8;
};

/// The work of task v, by all lanes of its worker; what they wrote is visible to the worker's rank 0 afterwards.
template <class Context>
TASKDAG_TASK void compute(const Context& context, int v) {
  const DagData& data = context.data();
  const auto& group = context.group();
  std::uint64_t sum = 0;
  for (int e = data.predecessor_offsets[v] + group.rank(); e < data.predecessor_offsets[v + 1]; e += group.size()) {
    sum += 3U * data.value[data.predecessors[e]];
  }
  sum = group.sum(sum);
  if (group.rank() == 0) {
    data.value[v] = sum + static_cast<std::uint64_t>(v) + 1U;
    engine::AtomicRef<std::uint32_t>(data.executed[v]).fetch_add(1U, engine::relaxed);
  }
  group.sync();
}

/// Calls `visit(context, s)` for each successor s of v, each by one lane.
template <class Visit, class Context>
TASKDAG_TASK void each_successor(Context& context, int v) {
  const DagData& data = context.data();
  const auto& group = context.group();
  for (int e = data.successor_offsets[v] + group.rank(); e < data.successor_offsets[v + 1]; e += group.size()) {
    Visit::visit(context, v, data.successors[e]);
  }
}

/// One item, or a batch of them: both forms of execute().
template <class Type, class W, class Item_ = int>
struct DagType : W {
  using Item = Item_;
  static constexpr int max_children = Dag::kMostSuccessors * (W::batched ? W::fetch : 1);

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& v) {
    compute(context, static_cast<int>(v));
    each_successor<Type>(context, static_cast<int>(v));
  }
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<Item> items) {
    for (const Item& v : items) execute(context, v);
  }
};

/// A task's number in a larger item, twice: a torn or foreign copy becomes number 0, which then runs too often.
struct WideItem {
  WideItem() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): stands for a number
  TASKDAG_TASK WideItem(int v) : number(v), between{}, opposite(~v) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  TASKDAG_TASK operator int() const { return ~opposite == number ? number : 0; }

  int number;
  std::uint64_t between[3];
  int opposite;
};

// ---- counters in the data: the last predecessor enqueues the task ----

template <class W, class Item>
struct CountedTask : DagType<CountedTask<W, Item>, W, Item> {
  static constexpr auto name = "counted";
  static constexpr bool waits = false;

  template <class Context>
  TASKDAG_TASK static void visit(Context& context, int /*v*/, int s) {
    if (engine::AtomicRef<std::int32_t>(context.data().remaining[s]).fetch_sub(1, engine::acq_rel) == 1) {
      context.template enqueue<CountedTask>(s);
    }
  }
};

// ---- individual dependencies: tasks are created while others run already; reductions come before and after ----

template <class W>
struct DependentTask : DagType<DependentTask<W>, W> {
  static constexpr auto name = "dependent";
  using Insert = engine::HashStart;

  template <class Context>
  TASKDAG_TASK static void visit(Context& context, int /*v*/, int s) {
    context.template reduce<DependentTask>(context.data().dependencies[s]);
  }
};

template <class W>
struct CreateDependent {
  using Item = int;
  static constexpr auto name = "create dependent";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<DependentTask<W>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& v) {
    const DagData& data = context.data();
    const int count = data.predecessor_offsets[v + 1] - data.predecessor_offsets[v];
    context.template enqueue_dependent<DependentTask<W>>(v, data.dependencies[v], count);
  }
};

// ---- grouped dependencies: the tasks of a level wait for the level before, with one counter for all ----

template <class W>
struct GroupedTask : DagType<GroupedTask<W>, W> {
  static constexpr auto name = "grouped";

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& v) {
    compute(context, v);
    const DagData& data = context.data();
    if (context.group().rank() == 0) {
      context.template reduce_group<GroupedTask>(data.groups[data.level[v] + 1]);
    }
  }
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, engine::Items<int> items) {
    for (const int& v : items) execute(context, v);
  }
};

/// The task joins its level's group.
template <class W>
struct CreateGrouped {
  using Item = int;
  static constexpr auto name = "create grouped";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<GroupedTask<W>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& v) {
    const DagData& data = context.data();
    context.template enqueue_in_group<GroupedTask<W>>(v, data.groups[data.level[v]]);
  }
};

/// A level's group is opened.
template <class W>
struct OpenGroup {
  using Item = int;
  static constexpr auto name = "open group";
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  using Creates = engine::Types<GroupedTask<W>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& level) {
    const DagData& data = context.data();
    context.template open_group<GroupedTask<W>>(data.groups[level], level == 0 ? 0 : data.level_sizes[level - 1]);
  }
};

// ---- phases: three types in a cycle, a level runs in phase level mod 3 ----

template <class W, int Phase>
struct PhasedTask : DagType<PhasedTask<W, Phase>, W> {
  static constexpr auto name = Phase == 0 ? "phase 0" : Phase == 1 ? "phase 1" : "phase 2";
  static constexpr bool waits = false;
  using Next = PhasedTask<W, (Phase + 1) % 3>;

  template <class Context>
  TASKDAG_TASK static void visit(Context& context, int v, int s) {
    if (context.data().creator[s] == v) context.template enqueue<Next>(s);
  }
};

// ---- the programs ----

template <class W, template <class, class> class Queue, class Item = int>
struct Counted {
  using Task = CountedTask<W, Item>;
  using Program = engine::Program<DagData, engine::PhaseQueue<engine::Phaseless<Task>>, Queue>;
  static std::uint64_t tasks(const Dag& dag) { return static_cast<std::uint64_t>(dag.size()); }
  static void enqueue(engine::Runner<Program>& runner, const Dag& dag) {
    const std::vector<int> roots = dag.roots();
    const std::vector<Item> items(roots.begin(), roots.end());
    runner.template enqueue<Task>(items);
  }
};

template <class W, template <class, class> class Queue>
struct Individual {
  using Task = DependentTask<W>;
  using Program = engine::Program<DagData, engine::PhaseQueue<engine::Phaseless<CreateDependent<W>, Task>>, Queue>;
  static std::uint64_t tasks(const Dag& dag) { return 2U * static_cast<std::uint64_t>(dag.size()); }
  static void enqueue(engine::Runner<Program>& runner, const Dag& dag) {
    std::vector<int> items(static_cast<std::size_t>(dag.size()));
    std::iota(items.begin(), items.end(), 0);
    runner.template enqueue<CreateDependent<W>>(items);
  }
};

template <class W, template <class, class> class Queue>
struct Grouped {
  using Task = GroupedTask<W>;
  using Program =
      engine::Program<DagData, engine::PhaseQueue<engine::Phaseless<CreateGrouped<W>, OpenGroup<W>, Task>>, Queue>;
  static std::uint64_t tasks(const Dag& dag) {
    return 2U * static_cast<std::uint64_t>(dag.size()) + static_cast<std::uint64_t>(dag.levels());
  }
  static void enqueue(engine::Runner<Program>& runner, const Dag& dag) {
    std::vector<int> items(static_cast<std::size_t>(dag.size()));
    std::iota(items.begin(), items.end(), 0);
    runner.template enqueue<CreateGrouped<W>>(items);
    items.resize(static_cast<std::size_t>(dag.levels()));
    runner.template enqueue<OpenGroup<W>>(items);
  }
};

template <class W, template <class, class> class Queue>
struct Phased {
  template <int Phase>
  using Task = PhasedTask<W, Phase>;
  using Program = engine::Program<
      DagData,
      engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Task<0>>, engine::Phase<Task<1>>, engine::Phase<Task<2>>>,
      Queue>;
  static std::uint64_t tasks(const Dag& dag) { return static_cast<std::uint64_t>(dag.size()); }
  static void enqueue(engine::Runner<Program>& runner, const Dag& dag) {
    runner.template enqueue<Task<0>>(dag.roots());
  }
};

}  // namespace taskdag::test
