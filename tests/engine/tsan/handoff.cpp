// Hand-offs of the engine, run by threads under ThreadSanitizer. WEAKEN names an order that is replaced by relaxed in
// the engine's own header: then, and only then, the plain data that is handed over is a race.
//   none
//   ring: the writer's release in queue/ring.hpp
//   dependency: acq_rel in task_context.hpp (dependencies and groups)
//   scan: the release in queue/scan_queue.hpp
//   phase: acquire, release and both in phase_gate.hpp
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/probe.hpp"

#if defined(WEAKEN_RING)
#define release relaxed
#include "taskdag/engine/queue/ring.hpp"
#undef release
#endif
#if defined(WEAKEN_SCAN)
#include "taskdag/engine/queue/ring.hpp"
#define release relaxed
#include "taskdag/engine/queue/scan_queue.hpp"
#undef release
#endif
#if defined(WEAKEN_PHASE)
#include "taskdag/engine/platform.hpp"
#define acquire relaxed
#define acq_rel relaxed
#define release relaxed
#include "taskdag/engine/phase_gate.hpp"
#undef acquire
#undef acq_rel
#undef release
#endif
#include "taskdag/engine/phase_gate.hpp"
#include "taskdag/engine/program.hpp"
#if defined(WEAKEN_DEPENDENCY)
#include "taskdag/engine/dependency.hpp"
#define acq_rel relaxed
#include "taskdag/engine/task_context.hpp"
#undef acq_rel
#endif
#include "engine/unit/bench.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"

namespace {

using namespace taskdag;

constexpr int kItems = 2000;

struct Nothing {};
struct Task {
  using Item = int;
};
template <template <class, class> class Queue>
using Program = engine::Program<Nothing, engine::PhaseQueue<engine::Phaseless<Task>>, Queue>;

/// Takes from the queue until all items are there; adds up what was written for them.
template <class P>
long consume(const test::Bench<P>& bench, const std::vector<int>& written) {
  long sum = 0;
  engine::Backoff backoff;
  for (int taken = 0; taken < kItems;) {
    const std::vector<int> items = bench.template take_all<Task>();
    for (const int item : items) sum += written[static_cast<std::size_t>(item)];
    taken += static_cast<int>(items.size());
    if (items.empty()) backoff.turn();
  }
  return sum;
}

template <template <class, class> class Queue>
long through_a_queue() {
  const test::Bench<Program<Queue>> bench({}, kItems, 0);
  std::vector<int> written(kItems, 0);
  const std::jthread producer([&] {
    for (int i = 0; i < kItems; ++i) {
      written[static_cast<std::size_t>(i)] = 1;
      bench.template as_task<Task>([&](auto& context) { context.template enqueue<Task>(i); });
    }
  });
  return consume(bench, written);
}

/// A reducer writes, the creator creates; whoever comes last queues the task.
long through_dependencies() {
  const test::Bench<Program<engine::SharedCounterQueue>> bench({}, kItems, 0);
  std::vector<int> written(kItems, 0);
  std::vector<engine::Dependency> dependencies(kItems);
  const auto reduce = [&](int i) {
    bench.template as_task<Task>(
        [&](auto& context) { context.template reduce<Task>(dependencies[static_cast<std::size_t>(i)]); });
  };
  const std::jthread first([&] {
    for (int i = 0; i < kItems; ++i) {
      written[static_cast<std::size_t>(i)] = 1;
      reduce(i);
    }
  });
  const std::jthread second([&] {
    for (int i = kItems; i-- > 0;) reduce(i);
  });
  const std::jthread creator([&] {
    for (int i = 0; i < kItems; ++i) {
      bench.template as_task<Task>([&](auto& context) {
        context.template enqueue_dependent<Task>(i, dependencies[static_cast<std::size_t>(i)], 2);
      });
    }
  });
  return consume(bench, written);
}

/// Four threads, phases 0, …, kPhases - 1: in each, who finds work (a number drawn from a counter) adds to plain data
/// of that number what stands at the next one since the phase before.
long through_phases() {
  constexpr int kPhases = 30;
  constexpr std::uint32_t kPieces = 64;
  std::uint64_t gate = engine::detail::PhaseGate::begin(0);
  std::vector<std::uint32_t> drawn(kPhases, 0);
  std::vector<long> values[2] = {std::vector<long>(kPieces, 1), std::vector<long>(kPieces, 1)};
  std::uint32_t arrived = 0;
  const auto party = [&] {
    // None has done all the work before the others begin.
    engine::AtomicRef<std::uint32_t>(arrived).fetch_add(1U, engine::relaxed);
    while (engine::AtomicRef<std::uint32_t>(arrived).load(engine::relaxed) != 4U) std::this_thread::yield();
    while (true) {
      const std::uint64_t entered = engine::detail::PhaseGate::enter(gate);
      if (engine::detail::PhaseGate::over(entered)) return;
      const int phase = engine::detail::PhaseGate::phase(entered);
      for (std::uint32_t piece = 0; piece < kPieces; ++piece) {
        engine::AtomicRef<std::uint32_t> next(drawn[static_cast<std::size_t>(phase)]);
        const std::uint32_t mine = next.fetch_add(1U, engine::relaxed);
        if (mine >= kPieces) break;
        values[phase % 2][mine] = values[1 - phase % 2][(mine + 1) % kPieces] + 1;
        std::this_thread::yield();
      }
      const bool more = engine::detail::PhaseGate::leave(
          gate, entered, [](int& next) { return ++next < kPhases; }, [] { return false; });
      if (!more) return;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(party);
  }
  return values[1][0];
}

}  // namespace

int main() {
  bool right = true;
  for (int repetition = 0; repetition < 5; ++repetition) {
    right = through_a_queue<engine::SharedCounterQueue>() == kItems && right;
    right = through_a_queue<engine::ScanQueue>() == kItems && right;
    right = through_dependencies() == kItems && right;
    right = through_phases() == 31 && right;
  }
  std::puts(right ? "all items arrived" : "wrong sums");
  return right ? 0 : 1;
}
