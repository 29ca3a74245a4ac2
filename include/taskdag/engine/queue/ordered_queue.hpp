/// \file
/// The queue of a static graph: tasks 0, 1, 2, … of a fixed order, handed out in that order. Nothing is ever queued:
/// the queue is one counter, and a task waits by itself for the tasks that it needs (wait_for, handover below).
///
/// Where the order is such that a task needs earlier ones only (a level schedule, say), the earliest unfinished task is
/// always held by a worker that runs, and all it needs has ended: every scheduler, with any number of workers, resident
/// or not, ends. (Saltz 1990, self-scheduling.)
///
/// next: fetch_add, relaxed: the number is all that is handed out. size is written between runs.
#pragma once

#include <type_traits>

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/queue/ring.hpp"

TASKDAG_ENGINE_BEGIN

template <class Item, class Probe>
class OrderedQueue {
 public:
  static_assert(std::is_integral_v<Item>, "the tasks of a static graph are numbers");
  static constexpr const char* name = "fixed order";
  static constexpr bool any_worker_may_claim = true;

  OrderedQueue() = default;

  static std::size_t bytes(const QueueShape& /*shape*/) { return sizeof(Counters); }
  static OrderedQueue attach(void* memory, const QueueShape& /*shape*/) {
    OrderedQueue queue;
    queue.counters_ = static_cast<Counters*>(memory);
    return queue;
  }

  /// Makes 0, …, items - 1 the tasks to hand out. Between runs.
  TASKDAG_TASK void order(std::uint32_t items) const {
    counters_->next = 0;
    counters_->size = items;
  }

  /// A fixed order takes no further tasks.
  TASKDAG_TASK Pushed push(const Lanes& /*lanes*/, const Item& /*item*/, const PushHint& /*hint*/,
                           Probe& /*probe*/) const {
    return Pushed::no_room;
  }

  [[nodiscard]] TASKDAG_TASK std::int32_t glance(std::uint32_t /*worker*/, Probe& probe) const {
    probe.load();
    return static_cast<std::int32_t>(level());
  }
  TASKDAG_TASK Claim claim(std::uint32_t want, std::int32_t seen, bool /*hungry*/, std::uint32_t /*worker*/,
                           std::uint32_t& /*cursor*/, Probe& probe) const {
    if (seen <= 0) return {};  // idle teams do not count it up for ever
    AtomicRef<std::uint32_t> next(counters_->next);
    const std::uint32_t size = counters_->size;
    probe.load();
    const std::uint32_t first = next.fetch_add(want, relaxed);
    probe.atomic();
    if (first >= size) return {};
    return {first, size - first < want ? size - first : want, 0};
  }
  TASKDAG_TASK Item read(const Claim& claim, std::uint32_t k, typename Probe::Stamp& /*stamp*/,
                         Probe& /*probe*/) const {
    return static_cast<Item>(claim.first + k);
  }
  TASKDAG_TASK void leave(const Claim& /*claim*/, std::uint32_t /*k*/, Probe& /*probe*/) const {}

  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    const std::uint32_t next = AtomicRef<std::uint32_t>(counters_->next).load(relaxed);
    return next < counters_->size ? counters_->size - next : 0U;
  }

 private:
  struct Counters {
    alignas(128) std::uint32_t next;
    alignas(128) std::uint32_t size;
  };
  Counters* counters_ = nullptr;
};

TASKDAG_ENGINE_END
