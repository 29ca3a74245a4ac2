/// \file
/// The tasks: each creates its children, works, and resolves what waits for it.
#pragma once

#include <span>

#include "run.hpp"
#include "taskdag/engine/runner.hpp"

namespace generic {

namespace engine = taskdag::engine;

struct Counters {
  std::uint32_t created;
  std::uint32_t stamps;
};

struct Data {
  const Tree* tree;
  Record* records;
  engine::Dependency* dependencies;  ///< by index of the parent: of its child that waits for the others
  Counters* counters;
  std::uint32_t tasks;   ///< room in the arrays
  std::uint32_t stamps;  ///< 0: none are taken
  float one;             ///< 1, but the compiler does not know
};

struct Item {
  std::uint64_t number;
  std::uint32_t index;
  std::uint32_t parent;
  std::int32_t waiter;    ///< type of the sibling that waits for this task, -1: none does
  std::int32_t siblings;  ///< that this task waited for
};

/// Codes of fail().
enum Failure : std::uint32_t { kTooManyTasks = 1, kUnfinishedSibling = 2 };

inline constexpr const char* kNumbers[kTypes] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"};

/// Kind: individual (dependencies, else phases) and worker.
template <int Number, class Kind>
struct Task {
  using Item = generic::Item;
  static constexpr const char* name = kNumbers[Number];
  static constexpr engine::WorkerSize worker = Kind::worker;
  static constexpr int max_children = kMostChildren;
  static constexpr bool waits = Kind::individual && Number > 0;

  template <class List>
  struct Later;
  template <int... Offsets>
  struct Later<std::integer_sequence<int, Offsets...>> {
    using type = engine::Types<Task<Number + 1 + Offsets, Kind>...>;
  };
  using Creates = typename Later<std::make_integer_sequence<int, kTypes - 1 - Number>>::type;

  TASKDAG_TASK static std::uint32_t key(const Item& item) { return item.index; }

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    const Data& data = context.data();
    const TaskType& type = data.tree->types[Number];
    Record& record = data.records[item.index];
    const auto& group = context.group();
    const bool first = group.rank() == 0;
    if (first) {
      record.start = stamp(data);
      engine::AtomicRef<std::uint32_t>(record.runs).fetch_add(1U, engine::relaxed);
      record.number = item.number;
      record.type = Number;
      record.parent = item.parent;
    }
    if constexpr (waits) {
      if (item.siblings > 0) look_at_siblings(context, item);
    }
    if (first) create_children(context, type, item, record);

    float x = data.one;
    const int steps = type.flops / (2 * group.size());
    for (int i = 0; i < steps; ++i) x = x * 0.5F + 0.5F;  // stays 1, exactly
    const float sum = group.sum(x);

    if (!first) return;
    record.work = sum / static_cast<float>(group.size());
    record.end = stamp(data);
    if constexpr (waits) {
      if (item.waiter >= 0) {
        with_type<Number + 1>(item.waiter, [&](auto waiter) {
          context.template reduce<typename decltype(waiter)::type>(data.dependencies[item.parent]);
        });
      }
    }
  }

 private:
  template <class T>
  struct Tag {
    using type = T;
  };
  /// Calls f with the type of a number that is known when the program runs, From or later.
  template <int From, class F>
  TASKDAG_TASK static void with_type(int number, F&& f) {
    if constexpr (From < kTypes) {
      if (number == From) {
        f(Tag<Task<From, Kind>>{});
      } else {
        with_type<From + 1>(number, f);
      }
    }
  }

  /// relaxed: numbers drawn from one counter are in the order in which the tasks happen, as all accesses to one object
  /// are.
  TASKDAG_TASK static std::uint32_t stamp(const Data& data) {
    if (data.stamps == 0) return 0;
    return 1U + engine::AtomicRef<std::uint32_t>(data.counters->stamps).fetch_add(1U, engine::relaxed);
  }

  /// The siblings that this task waited for must have written their results where this task sees them. Plain loads: the
  /// dependency orders them.
  template <class Context>
  TASKDAG_TASK static void look_at_siblings(Context& context, const Item& item) {
    const Data& data = context.data();
    const std::uint32_t begin = data.records[item.parent].first_child;
    for (int i = context.group().rank(); i < item.siblings; i += context.group().size()) {
      if (data.records[begin + static_cast<std::uint32_t>(i)].work != 1.0F) context.fail(kUnfinishedSibling);
    }
  }

  template <class Context>
  TASKDAG_TASK static void create_children(Context& context, const TaskType& type, const Item& item, Record& record) {
    const Data& data = context.data();
    int children = 0;
    std::int32_t last = -1;
    each_child(type, item.number, [&](std::uint64_t /*child*/, std::int32_t to) {
      ++children;
      last = to;
    });
    if (children == 0) return;
    const std::uint32_t begin = engine::AtomicRef<std::uint32_t>(data.counters->created)
                                    .fetch_add(static_cast<std::uint32_t>(children), engine::relaxed);
    if (begin > data.tasks || static_cast<std::uint32_t>(children) > data.tasks - begin) {
      context.fail(kTooManyTasks);
      return;
    }
    record.first_child = begin;
    record.children = static_cast<std::uint32_t>(children);
    // The last child waits if it is of the last of several transitions and there are others.
    const bool waits_for_others = Kind::individual && children > 1 && last == type.transitions[type.size - 1].to;
    std::uint32_t index = begin;
    each_child(type, item.number, [&](std::uint64_t child, std::int32_t to) {
      const bool waiter = waits_for_others && to == last;
      const Item made{child, index++, item.index, waits_for_others && !waiter ? last : -1, waiter ? children - 1 : 0};
      with_type<Number + 1>(to, [&](auto tag) {
        using To = typename decltype(tag)::type;
        if constexpr (Kind::individual) {
          if (waiter) {
            context.template enqueue_dependent<To>(made, data.dependencies[item.index], made.siblings);
            return;
          }
        }
        context.template enqueue<To>(made);
      });
    });
  }
};

template <int Lanes>
struct WithPhases {
  static constexpr bool individual = false;
  static constexpr engine::WorkerSize worker{Lanes};
  template <int Number>
  using T = Task<Number, WithPhases>;
  using Phases =
      engine::PhaseQueue<engine::Phaseless<>, engine::Phase<T<0>>, engine::Phase<T<1>, T<2>, T<3>>,
                         engine::Phase<T<4>, T<5>, T<6>>, engine::Phase<T<7>, T<8>, T<9>>, engine::Phase<T<10>>>;
  static_assert(Phases::phases == kPhases && Phases::begin(1) == kFirstOfPhase[1] &&
                Phases::begin(2) == kFirstOfPhase[2] && Phases::begin(3) == kFirstOfPhase[3] &&
                Phases::begin(4) == kFirstOfPhase[4] && Phases::end(4) == kFirstOfPhase[5]);
};
template <int Lanes>
struct WithIndividual {
  static constexpr bool individual = true;
  static constexpr engine::WorkerSize worker{Lanes};
  template <int Number>
  using T = Task<Number, WithIndividual>;
  using Phases =
      engine::PhaseQueue<engine::Phaseless<T<0>, T<1>, T<2>, T<3>, T<4>, T<5>, T<6>, T<7>, T<8>, T<9>, T<10>>>;
};

template <class Kind, class Probe>
Output run_kind(const taskdag::Context& context, const Input& input) {
  using Program = engine::Program<Data, typename Kind::Phases, engine::SharedCounterQueue, Probe>;
  const engine::Array<Tree> tree(context, std::span<const Tree>(&input.tree, 1));
  const engine::Array<Record> records(context, input.tasks);
  const engine::Array<engine::Dependency> dependencies(context, Kind::individual ? input.tasks : 0);
  engine::Array<Counters> counters(context, 1);
  const Counters begin{static_cast<std::uint32_t>(input.roots.size()), 0};
  counters.upload(std::span<const Counters>(&begin, 1));

  std::vector<Item> roots;
  roots.reserve(input.roots.size());
  for (const std::uint64_t root : input.roots) {
    roots.push_back({root, static_cast<std::uint32_t>(roots.size()), kNobody, -1, 0});
  }
  engine::Runner<Program> runner(context, input.runner);
  runner.template enqueue<Task<0, Kind>>(roots);

  Output output;
  output.report = runner.run(
      {tree.data(), records.data(), dependencies.data(), counters.data(), input.tasks, input.stamps ? 1U : 0U, 1.0F},
      input.run);
  output.records = records.download();
  const Counters end = counters.download().front();
  output.created = end.created;
  output.stamps = end.stamps;
  return output;
}

template <int Lanes, class Probe>
Output run_lanes(const taskdag::Context& context, const Input& input) {
  return input.dependencies == Dependencies::phases ? run_kind<WithPhases<Lanes>, Probe>(context, input)
                                                    : run_kind<WithIndividual<Lanes>, Probe>(context, input);
}

}  // namespace generic
