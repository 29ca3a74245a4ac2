// Every kind of queue: what goes in comes out exactly once, whoever puts and takes, also where the queue is tiny, and
// a full one says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <vector>

#include "bench.hpp"
#include "taskdag/engine/probe.hpp"
#include "taskdag/engine/queue/locked_queue.hpp"
#include "taskdag/engine/queue/multi_queue.hpp"
#include "taskdag/engine/queue/scan_queue.hpp"
#include "taskdag/engine/queue/shared_counter_queue.hpp"
#include "together.hpp"

namespace taskdag::test {
namespace {

using engine::Claim;
using engine::Lanes;
using engine::NoProbe;
using engine::Pushed;
using engine::QueueShape;

template <class Queue>
class Held {
 public:
  explicit Held(const QueueShape& shape) : memory_(Queue::bytes(shape)), queue_(Queue::attach(memory_.data(), shape)) {}

  Pushed push(int item, std::uint32_t worker = 0, std::uint32_t child = 0) const {
    NoProbe probe({}, worker);
    return queue_.push(Lanes::converged(), item, {worker, static_cast<std::uint32_t>(item), child}, probe);
  }
  /// Appends what one claim of at most `want` gave. @returns how many
  std::uint32_t take(std::vector<int>& to, std::uint32_t want, std::uint32_t worker, std::uint32_t& cursor) const {
    NoProbe probe({}, worker);
    const Claim claim = claim_from(queue_, want, worker, cursor, probe);
    for (std::uint32_t k = 0; k < claim.count; ++k) {
      NoProbe::Stamp stamp;
      to.push_back(queue_.read(claim, k, stamp, probe));
      queue_.leave(claim, k, probe);
    }
    return claim.count;
  }
  [[nodiscard]] std::uint32_t level() const { return queue_.level(); }
  [[nodiscard]] std::byte* memory() const { return memory_.data(); }

 private:
  Bytes memory_;
  Queue queue_;
};

template <class Queue>
class AnyQueue : public testing::Test {
 protected:
  static constexpr bool kScans = std::is_same_v<Queue, engine::ScanQueue<int, NoProbe>>;
  /// Room for `items` items and no more is asked for; scanning needs one mark per number.
  static QueueShape shape(std::uint32_t items, std::uint32_t margin, std::uint32_t rings, std::uint32_t numbers) {
    return {kScans ? numbers : items, margin, rings};
  }
  static std::vector<int> sorted(std::vector<int> items) {
    std::sort(items.begin(), items.end());
    return items;
  }
  static std::vector<int> numbers(int size) {
    std::vector<int> all(static_cast<std::size_t>(size));
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
};
using Queues = testing::Types<engine::SharedCounterQueue<int, NoProbe>, engine::StealingQueue<int, NoProbe>,
                              engine::MultiQueueA<int, NoProbe>, engine::MultiQueueB<int, NoProbe>,
                              engine::LockedQueue<int, NoProbe>, engine::ScanQueue<int, NoProbe>>;
class Names {
 public:
  template <class Queue>
  static std::string GetName(int /*i*/) {
    std::string name = Queue::name;
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
    return name;
  }
};
TYPED_TEST_SUITE(AnyQueue, Queues, Names);

TYPED_TEST(AnyQueue, GivesNothingWhileItIsEmpty) {
  const Held<TypeParam> queue(this->shape(4, 0, 1, 4));
  std::vector<int> items;
  std::uint32_t cursor = 0;
  EXPECT_EQ(queue.take(items, 4, 0, cursor), 0U);
  EXPECT_EQ(queue.level(), 0U);
}

TYPED_TEST(AnyQueue, GivesEachItemOnceToOneThread) {
  for (const std::uint32_t capacity : {1U, 2U, 3U, 5U, 64U}) {
    for (const std::uint32_t want : {1U, 2U, 7U}) {
      const Held<TypeParam> queue(this->shape(capacity, 0, 1, capacity));
      std::vector<int> items;
      std::uint32_t cursor = 0;
      for (int round = 0; round < 20; ++round) {
        for (std::uint32_t i = 0; i < capacity; ++i) {
          EXPECT_EQ(queue.push(static_cast<int>(i)), Pushed::within_capacity);
        }
        EXPECT_EQ(queue.level(), capacity);
        items.clear();
        while (queue.take(items, want, 0, cursor) > 0) {
        }
        EXPECT_EQ(this->sorted(items), this->numbers(static_cast<int>(capacity)));
        EXPECT_EQ(queue.level(), 0U);
      }
    }
  }
}

TYPED_TEST(AnyQueue, GivesNoMoreThanIsWanted) {
  const Held<TypeParam> queue(this->shape(8, 0, 1, 8));
  for (int i = 0; i < 8; ++i) static_cast<void>(queue.push(i));
  std::vector<int> items;
  std::uint32_t cursor = 0;
  EXPECT_EQ(queue.take(items, 1, 0, cursor), 1U);
  EXPECT_LE(queue.take(items, 3, 0, cursor), 3U);
}

TYPED_TEST(AnyQueue, SaysWhenItIsAboveItsCapacityAndWhenItHasNoRoom) {
  if (this->kScans) {
    const Held<TypeParam> queue(QueueShape{3, 5, 1});
    EXPECT_EQ(queue.push(2), Pushed::within_capacity);
    EXPECT_EQ(queue.push(3), Pushed::no_room) << "numbers are below the capacity";
    return;
  }
  for (const std::uint32_t capacity : {1U, 2U, 3U}) {
    const Held<TypeParam> queue(QueueShape{capacity, 2, 1});
    std::uint32_t pushed = 0;
    for (; pushed < capacity; ++pushed) EXPECT_EQ(queue.push(static_cast<int>(pushed)), Pushed::within_capacity);
    for (; pushed < capacity + 2; ++pushed) EXPECT_EQ(queue.push(static_cast<int>(pushed)), Pushed::above_capacity);
    while (pushed < 1000 && queue.push(static_cast<int>(pushed)) == Pushed::above_capacity) ++pushed;
    ASSERT_LT(pushed, 1000U) << "a bounded queue has no room at last";
    EXPECT_EQ(queue.push(0), Pushed::no_room);
    // What had no room is not in the queue, all the rest is.
    std::vector<int> items;
    std::uint32_t cursor = 0;
    while (queue.take(items, 3, 0, cursor) > 0) {
    }
    EXPECT_EQ(this->sorted(items), this->numbers(static_cast<int>(pushed)));
    EXPECT_NE(queue.push(0), Pushed::no_room) << "there is room again";
  }
}

/// Threads put and take at once; every item comes out once, and with what was written before it was put.
template <class Queue>
void pass_through(const QueueShape& shape, int threads, int items_per_thread, std::uint32_t want) {
  const Held<Queue> queue(shape);
  const int size = threads * items_per_thread;
  std::vector<int> written(static_cast<std::size_t>(size), 0);  // plain: the queue has to carry it over
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(size));
  std::atomic<int> taken{0};
  std::atomic<int> in_queue{0};
  std::atomic<int> wrong{0};
  together(threads, [&](int thread) {
    const auto worker = static_cast<std::uint32_t>(thread);
    std::uint32_t cursor = 0;
    std::vector<int> items;
    int put = 0;
    engine::Backoff backoff;
    while (taken.load() < size) {
      // No more than the capacity at a time: each reserves its place beforehand.
      if (put < items_per_thread) {
        if (in_queue.fetch_add(1) < static_cast<int>(shape.capacity)) {
          const int item = put * threads + thread;
          written[static_cast<std::size_t>(item)] = item + 1;
          if (queue.push(item, worker, static_cast<std::uint32_t>(put) % 2U) == Pushed::no_room) wrong.fetch_add(1);
          ++put;
        } else {
          in_queue.fetch_sub(1);
        }
      }
      items.clear();
      const auto count = static_cast<int>(queue.take(items, want, worker, cursor));
      for (const int item : items) {
        if (written[static_cast<std::size_t>(item)] != item + 1) wrong.fetch_add(1);
        seen[static_cast<std::size_t>(item)].fetch_add(1);
      }
      in_queue.fetch_sub(count);
      taken.fetch_add(count);
      if (count == 0) {
        backoff.turn();
      } else {
        backoff.reset();
      }
      if (wrong.load() > 0) break;
    }
  });
  EXPECT_EQ(wrong.load(), 0) << "an item had no room, or came before what was written for it";
  for (int i = 0; i < size; ++i) ASSERT_EQ(seen[static_cast<std::size_t>(i)].load(), 1) << "item " << i;
  EXPECT_EQ(queue.level(), 0U);
}

TYPED_TEST(AnyQueue, GivesEachItemOnceToManyThreads) {
#if defined(__SANITIZE_THREAD__)
  constexpr int kItems = 150;
#else
  constexpr int kItems = 1500;
#endif
  for (const std::uint32_t capacity : {1U, 2U, 3U, 64U}) {
    for (const int threads : {2, 4, 8}) {
      for (const std::uint32_t want : {1U, 4U}) {
        const int items = TypeParam::any_worker_may_claim ? kItems / threads : kItems / (10 * threads);
        SCOPED_TRACE("capacity " + std::to_string(capacity) + ", threads " + std::to_string(threads) + ", want " +
                     std::to_string(want));
        const auto teams = static_cast<std::uint32_t>(threads);
        pass_through<TypeParam>(this->shape(capacity, teams * want, teams, teams * kItems), threads, items, want);
      }
    }
  }
}

TEST(StealingQueue, ANewTeamFindsAnItemInAnyRing) {
  for (std::uint32_t owner = 0; owner < 40; ++owner) {
    const Held<engine::StealingQueue<int, NoProbe>> queue(QueueShape{64, 0, 40});
    static_cast<void>(queue.push(5, owner));
    std::vector<int> items;
    std::uint32_t cursor = 0;
    EXPECT_EQ(queue.take(items, 1, 3, cursor), 1U) << "in ring " << owner;
  }
}

TEST(StealingQueue, ATeamThatGoesOnLookingSeesEveryRing) {
  const Held<engine::StealingQueue<int, NoProbe>> queue(QueueShape{64, 0, 40});
  std::vector<int> items;
  std::uint32_t cursor = 0;
  for (std::uint32_t owner = 0; owner < 40; ++owner) {
    EXPECT_EQ(queue.take(items, 1, 3, cursor), 0U);
    static_cast<void>(queue.push(5, owner));
    int looks = 0;
    while (queue.take(items, 1, 3, cursor) == 0 && looks < 40) ++looks;
    EXPECT_LE(looks, 6) << "8 of 39 other rings at a time";
  }
}

TEST(MultiQueueA, PutsAnItemIntoTheRingOfItsNumber) {
  const Held<engine::MultiQueueA<int, NoProbe>> queue(QueueShape{64, 0, 4});
  for (int i = 0; i < 8; ++i) static_cast<void>(queue.push(i));
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    std::vector<int> items;
    std::uint32_t cursor = 0;
    EXPECT_EQ(queue.take(items, 8, worker, cursor), 2U);
    EXPECT_EQ(items, (std::vector<int>{static_cast<int>(worker), static_cast<int>(worker) + 4}));
  }
}

TEST(MultiQueueB, SendsTheFirstChildThreeRingsOnAndTheSecondFive) {
  const Held<engine::MultiQueueB<int, NoProbe>> queue(QueueShape{64, 0, 8});
  static_cast<void>(queue.push(1, 0, 0));
  static_cast<void>(queue.push(1, 0, 1));
  for (std::uint32_t worker = 0; worker < 8; ++worker) {
    std::vector<int> items;
    std::uint32_t cursor = 0;
    EXPECT_EQ(queue.take(items, 8, worker, cursor), worker == 4 || worker == 6 ? 1U : 0U) << worker;
  }
}

TEST(ScanQueue, FindsTheLastOfManyMarksInOneClaim) {
  constexpr std::uint32_t kMarks = 300000;
  const Held<engine::ScanQueue<int, NoProbe>> queue(QueueShape{kMarks, 0, 1});
  static_cast<void>(queue.push(static_cast<int>(kMarks) - 1));
  std::vector<int> items;
  std::uint32_t cursor = 0;
  EXPECT_EQ(queue.take(items, 1, 0, cursor), 1U);
}

/// The shared counter queue's counters, as the header describes them: tail, head, count, each in 128 bytes of its own.
void set_tickets(std::byte* memory, std::uint32_t ticket, std::uint32_t ring_size) {
  struct alignas(128) Counter {
    std::uint32_t value;
  };
  auto* counters = reinterpret_cast<Counter*>(memory);
  counters[0].value = ticket;
  counters[1].value = ticket;
  auto* slots = reinterpret_cast<engine::Slot<int, NoProbe>*>(counters + 3);
  for (std::uint32_t i = 0; i < ring_size; ++i) slots[i].state = (ticket + i) / ring_size * 2U;
}

TEST(SharedCounterQueue, GoesOnWhereItsTicketsWrap) {
  using Queue = engine::SharedCounterQueue<int, NoProbe>;
  constexpr std::uint32_t kSize = 8;
  const Held<Queue> queue(QueueShape{kSize, 0, 1});
  set_tickets(queue.memory(), 0xFFFFFFF0U, kSize);
  std::vector<int> items;
  std::uint32_t cursor = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(queue.push(2 * i), Pushed::within_capacity) << i;
    ASSERT_EQ(queue.push(2 * i + 1), Pushed::within_capacity) << i;
    EXPECT_EQ(queue.level(), 2U);
    EXPECT_EQ(queue.take(items, 2, 0, cursor), 2U);
  }
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(items, expected) << "first in, first out";
}

TEST(SharedCounterQueue, IsFullOnlyWhereItIsFullAtOneMoment) {
  // A tiny ring goes round often: a push that looks at its two counters at different times must not take that for
  // a full queue. Each thread has one item in the queue at most, and there is room for all of them.
  using Queue = engine::SharedCounterQueue<int, NoProbe>;
  constexpr int kThreads = 4;
  const Held<Queue> queue(QueueShape{kThreads, 0, 1});
  std::atomic<int> refused{0};
  together(kThreads, [&](int thread) {
    std::vector<int> items;
    std::uint32_t cursor = 0;
    for (int i = 0; i < 20000; ++i) {
      if (queue.push(thread) == Pushed::no_room) {
        refused.fetch_add(1);
        return;
      }
      engine::Backoff backoff;
      while (queue.take(items, 1, 0, cursor) == 0) backoff.turn();
      items.clear();
    }
  });
  EXPECT_EQ(refused.load(), 0);
}

}  // namespace
}  // namespace taskdag::test
