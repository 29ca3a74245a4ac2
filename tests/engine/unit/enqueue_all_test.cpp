// Many tasks created by a worker at once.
#include <gtest/gtest.h>

#include <numeric>

#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag {
namespace {

constexpr int kMost = 100;

struct Counts {
  int* executed;  // by item
  int children;
};

struct Leaf {
  using Item = int;
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& item) {
    engine::AtomicRef<int>(context.data().executed[item]).fetch_add(1, engine::relaxed);
  }
};

/// Item r creates the leaves r · children, …, (r + 1) · children − 1.
struct Root {
  using Item = int;
  static constexpr int max_children = kMost;
  static constexpr bool waits = false;
  static constexpr std::size_t shared_bytes = sizeof(int) * kMost;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& root) {
    const int children = context.data().children;
    int* const items = reinterpret_cast<int*>(context.shared());
    for (int k = context.group().rank(); k < children; k += context.group().size()) items[k] = root * children + k;
    context.group().sync();
    context.template enqueue_all<Leaf>(items, children);
  }
};

template <template <class, class> class Queue>
using Program = engine::Program<Counts, engine::PhaseQueue<engine::Phaseless<Root, Leaf>>, Queue>;

/// How often each leaf was executed, with queues that have to grow.
template <class P>
std::vector<int> run(int roots, int children) {
  const Context context = Context::create({.backend = Backend::host, .threads = 3});
  const engine::Array<int> executed(context, static_cast<std::size_t>(roots * kMost));
  engine::Runner<P> runner(context, {.queue_capacity = 8});
  std::vector<int> items(static_cast<std::size_t>(roots));
  std::iota(items.begin(), items.end(), 0);
  runner.template enqueue<Root>(items);
  const engine::Report report = runner.run({executed.data(), children});
  EXPECT_EQ(report.outcome, engine::Outcome::finished) << report.message;
  EXPECT_EQ(report.types[1].executed, static_cast<std::uint64_t>(roots * children));
  return executed.download();
}

template <class P>
void expect_each_leaf_once(int roots, int children) {
  const std::vector<int> executed = run<P>(roots, children);
  for (std::size_t leaf = 0; leaf < executed.size(); ++leaf) {
    EXPECT_EQ(executed[leaf], leaf < static_cast<std::size_t>(roots * children) ? 1 : 0);
  }
}

TEST(EnqueueAll, EachTaskRunsOnce) {
  for (const int children : {1, 7, kMost}) expect_each_leaf_once<Program<engine::SharedCounterQueue>>(50, children);
}

TEST(EnqueueAll, CreatesNothingForNoItems) { expect_each_leaf_once<Program<engine::SharedCounterQueue>>(20, 0); }

TEST(EnqueueAll, AlsoWhereAQueueTakesItemsOneByOne) {
  expect_each_leaf_once<Program<engine::StealingQueue>>(50, kMost);
}

}  // namespace
}  // namespace taskdag
