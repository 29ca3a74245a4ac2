/// \file
/// One queue for all workers: three counters, and bulk push and pop with one turn at each counter for a whole set of
/// lanes (Atos, section 3 and listing 2: the shared counter queue; B. Kerbl et al. 2018, "The Broker Queue", section 4:
/// the count).
///
/// | counter | meaning                        | changed by                                                         |
/// |---------|--------------------------------|--------------------------------------------------------------------|
/// | tail    | tickets handed out for writing | push: fetch_add                                                    |
/// | count   | written, not yet claimed       | push: fetch_add, then; claim: fetch_sub, what is too much returned |
/// | head    | tickets handed out for reading | claim: fetch_add of what the count granted                         |
///
/// All are relaxed: numbers and promises; the slot's state carries the item. `count` may be negative for a moment, so
/// an item may be missed by a look, but never for good: a team that took too much gives it back.
#pragma once

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/queue/ring.hpp"

TASKDAG_ENGINE_BEGIN

template <class Item, class Probe>
class SharedCounterQueue {
 public:
  static constexpr const char* name = "shared counter queue";
  /// Every worker sees every item.
  static constexpr bool any_worker_may_claim = true;

  SharedCounterQueue() = default;

  static std::size_t bytes(const QueueShape& shape) {
    return sizeof(Counters) + sizeof(Slot<Item, Probe>) * Ring<Item, Probe>::size_for(shape.capacity + shape.margin);
  }
  /// The queue in zeroed memory of bytes(shape).
  static SharedCounterQueue attach(void* memory, const QueueShape& shape) {
    SharedCounterQueue queue;
    queue.counters_ = static_cast<Counters*>(memory);
    queue.capacity_ = static_cast<std::int32_t>(shape.capacity);
    queue.ring_ = {reinterpret_cast<Slot<Item, Probe>*>(queue.counters_ + 1),
                   Ring<Item, Probe>::size_for(shape.capacity + shape.margin)};
    return queue;
  }

  /// Each lane adds its item.
  TASKDAG_TASK Pushed push(const Lanes& lanes, const Item& item, const PushHint& /*hint*/, Probe& probe) const {
    std::uint32_t first = 0;
    bool room = true;
    if (lanes.leads()) room = reserve(lanes.count(), first, probe);
    if (!lanes.broadcast(room)) return Pushed::no_room;
    first = lanes.broadcast(first);
    write(first + lanes.rank(), item, probe);
    lanes.sync();
    return lanes.leads() ? publish(lanes.count(), probe) : Pushed::within_capacity;  // told to the leading lane only
  }

  /// A push of many items in three steps, so that the lanes of a worker share one turn at the counters. First, by one
  /// lane: `items` tickets. The margin is such that the ring cannot be full unless a task breaks its word
  /// (max_children): looked at, not fought for. @returns whether there is room; if not, nothing has happened
  TASKDAG_TASK bool reserve(std::uint32_t items, std::uint32_t& first, Probe& probe) const {
    const std::uint32_t head = AtomicRef<std::uint32_t>(counters_->head).load(relaxed);
    const std::uint32_t tail = AtomicRef<std::uint32_t>(counters_->tail).load(relaxed);
    probe.load();
    probe.load();
    if (tail - head + items > ring_.size() && full(items)) return false;
    first = AtomicRef<std::uint32_t>(counters_->tail).fetch_add(items, relaxed);
    probe.atomic();
    return true;
  }
  /// Second, by any lane: one of the tickets.
  TASKDAG_TASK void write(std::uint32_t ticket, const Item& item, Probe& probe) const {
    ring_.write(ticket, item, Probe::stamp(), probe);
  }
  /// Third, by one lane, after all have written.
  TASKDAG_TASK Pushed publish(std::uint32_t items, Probe& probe) const {
    const auto more = static_cast<std::int32_t>(items);
    const std::int32_t level = AtomicRef<std::int32_t>(counters_->count).fetch_add(more, relaxed) + more;
    probe.atomic();
    return level > capacity_ ? Pushed::above_capacity : Pushed::within_capacity;
  }

  /// By one lane: how many items there seem to be, for claim().
  [[nodiscard]] TASKDAG_TASK std::int32_t glance(std::uint32_t /*worker*/, Probe& probe) const {
    probe.load();
    return AtomicRef<std::int32_t>(counters_->count).load(relaxed);
  }
  /// By one lane: takes up to `want` items for its team. `seen`: a glance, which may be old. `hungry`: the team has no
  /// other item.
  TASKDAG_TASK Claim claim(std::uint32_t want, std::int32_t seen, bool /*hungry*/, std::uint32_t /*worker*/,
                           std::uint32_t& /*cursor*/, Probe& probe) const {
    const std::uint32_t granted = take_promised(counters_->count, want, seen, probe);
    if (granted == 0) return {};
    probe.atomic();
    return {AtomicRef<std::uint32_t>(counters_->head).fetch_add(granted, relaxed), granted, 0};
  }
  TASKDAG_TASK Item read(const Claim& claim, std::uint32_t k, typename Probe::Stamp& stamp, Probe& probe) const {
    return ring_.read(claim.first + k, stamp, probe);
  }
  TASKDAG_TASK void leave(const Claim& claim, std::uint32_t k, Probe& probe) const {
    ring_.leave(claim.first + k, probe);
  }

  /// Items in the queue; exact while no team works on it.
  /// Items above which the run is suspended.
  [[nodiscard]] std::uint32_t capacity() const { return static_cast<std::uint32_t>(capacity_); }
  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    const std::int32_t count = AtomicRef<std::int32_t>(counters_->count).load(relaxed);
    return count > 0 ? static_cast<std::uint32_t>(count) : 0U;
  }

 private:
  struct Counters {
    alignas(128) std::uint32_t tail;
    alignas(128) std::uint32_t head;
    alignas(128) std::int32_t count;
  };

  /// Whether `items` more had no room at one moment: between two loads the queue may have gone round, which looks full.
  /// acquire: the loads stay in this order.
  [[nodiscard]] TASKDAG_TASK bool full(std::uint32_t items) const {
    AtomicRef<std::uint32_t> head(counters_->head);
    while (true) {
      const std::uint32_t before = head.load(acquire);
      const std::uint32_t tail = AtomicRef<std::uint32_t>(counters_->tail).load(acquire);
      if (tail - before + items <= ring_.size()) return false;
      if (head.load(relaxed) == before) return true;
    }
  }

  Counters* counters_ = nullptr;
  std::int32_t capacity_ = 0;
  Ring<Item, Probe> ring_;
};

TASKDAG_ENGINE_END
