/// \file
/// Many rings, and two choices: where a team looks for items first (home) and where an item goes (target): the third
/// algorithm of Kartsaklis et al., "CUDA Grid-Level Task Progression Algorithms", section III C, with atomics instead
/// of its locks and, by choice, with stealing.
///
/// The counters of a ring are those of the shared counter queue, and `fill`, a credit: a push takes it before its
/// ticket and returns it where the ring has no room (fetch_add / fetch_sub, relaxed); a claim returns it. Then the next
/// ring is tried, so room anywhere is room.
#pragma once

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/queue/ring.hpp"

TASKDAG_ENGINE_BEGIN

/// The paper's hash (a): item number modulo the number of rings. A team takes from its home only, so every team must be
/// resident: the schedulers see to it.
struct HashA {
  static constexpr const char* name = "multi-queue a";
  static constexpr bool steals = false;
  static constexpr bool per_item = true;
  TASKDAG_TASK static std::uint32_t home(std::uint32_t worker, std::uint32_t rings) { return worker % rings; }
  TASKDAG_TASK static std::uint32_t target(const PushHint& hint, std::uint32_t rings) { return hint.key % rings; }
};
/// The paper's hash (b): (number + 3) modulo the rings for a task's first child, (number + 5) for the second.
struct HashB {
  static constexpr const char* name = "multi-queue b";
  static constexpr bool steals = false;
  static constexpr bool per_item = true;
  TASKDAG_TASK static std::uint32_t home(std::uint32_t worker, std::uint32_t rings) { return worker % rings; }
  TASKDAG_TASK static std::uint32_t target(const PushHint& hint, std::uint32_t rings) {
    return (hint.key + 3U + 2U * hint.child) % rings;
  }
};
/// Items stay at home; a team without items takes from others.
struct Steal {
  static constexpr const char* name = "work stealing";
  static constexpr bool steals = true;
  static constexpr bool per_item = false;
  TASKDAG_TASK static std::uint32_t home(std::uint32_t worker, std::uint32_t rings) { return worker % rings; }
  TASKDAG_TASK static std::uint32_t target(const PushHint& hint, std::uint32_t rings) { return hint.worker % rings; }
};

template <class Item, class Probe, class Hash>
class MultiQueue {
 public:
  static constexpr const char* name = Hash::name;
  static constexpr bool any_worker_may_claim = Hash::steals;

  MultiQueue() = default;

  static std::size_t bytes(const QueueShape& shape) {
    return (sizeof(Counters) + sizeof(Slot<Item, Probe>) * ring_size(shape)) * shape.rings;
  }
  static MultiQueue attach(void* memory, const QueueShape& shape) {
    MultiQueue queue;
    queue.counters_ = static_cast<Counters*>(memory);
    queue.slots_ = reinterpret_cast<Slot<Item, Probe>*>(queue.counters_ + shape.rings);
    queue.rings_ = shape.rings;
    queue.ring_size_ = ring_size(shape);
    queue.capacity_ = (shape.capacity + shape.rings - 1) / shape.rings;
    return queue;
  }

  TASKDAG_TASK Pushed push([[maybe_unused]] const Lanes& lanes, const Item& item, const PushHint& hint,
                           Probe& probe) const {
    if constexpr (Hash::per_item) {
      return push_alone(item, hint, probe);
    } else {
      return push_together(lanes, item, hint, probe);
    }
  }

  [[nodiscard]] TASKDAG_TASK std::int32_t glance(std::uint32_t worker, Probe& probe) const {
    return level_of(Hash::home(worker, rings_), probe);
  }
  /// `cursor`: the other ring that this team has looked into last, if it was hungry, 1 … rings - 1 after its home. 0: a
  /// new team; its first look goes everywhere, so that a slice with few teams finds the items however far from home
  /// they are.
  TASKDAG_TASK Claim claim(std::uint32_t want, std::int32_t seen, [[maybe_unused]] bool hungry, std::uint32_t worker,
                           [[maybe_unused]] std::uint32_t& cursor, Probe& probe) const {
    const std::uint32_t home = Hash::home(worker, rings_);
    Claim claim = claim_from(home, want, seen, probe);
    if constexpr (Hash::steals) {
      const std::uint32_t others = rings_ - 1;
      const std::uint32_t looks = cursor == 0 || others < kLooks ? others : kLooks;
      for (std::uint32_t look = 0; hungry && claim.count == 0 && look < looks; ++look) {
        cursor = cursor >= others ? 1 : cursor + 1;
        const std::uint32_t ring = (home + cursor) % rings_;
        claim = claim_from(ring, want, level_of(ring, probe), probe);
      }
    }
    return claim;
  }
  TASKDAG_TASK Item read(const Claim& claim, std::uint32_t k, typename Probe::Stamp& stamp, Probe& probe) const {
    return ring_at(claim.ring).read(claim.first + k, stamp, probe);
  }
  TASKDAG_TASK void leave(const Claim& claim, std::uint32_t k, Probe& probe) const {
    ring_at(claim.ring).leave(claim.first + k, probe);
  }

  [[nodiscard]] TASKDAG_TASK std::uint32_t rings() const { return rings_; }

  /// Items above which the run is suspended.
  [[nodiscard]] std::uint32_t capacity() const { return capacity_ * rings_; }
  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    std::int32_t sum = 0;
    for (std::uint32_t r = 0; r < rings_; ++r) sum += AtomicRef<std::int32_t>(counters_[r].count).load(relaxed);
    return sum > 0 ? static_cast<std::uint32_t>(sum) : 0U;
  }

 private:
  static constexpr std::uint32_t kNoRing = 0xFFFFFFFFU;
  static constexpr std::uint32_t kLooks = 8;         ///< other rings that one claim looks into
  static constexpr std::uint32_t kLargestPush = 32;  ///< a warp's lanes push into one ring together

  struct Counters {
    alignas(128) std::uint32_t tail;
    std::uint32_t fill;
    alignas(128) std::uint32_t head;
    std::int32_t count;
  };

  static std::uint32_t ring_size(const QueueShape& shape) {
    return Ring<Item, Probe>::size_for((shape.capacity + shape.margin + shape.rings - 1) / shape.rings + kLargestPush);
  }
  [[nodiscard]] TASKDAG_TASK Ring<Item, Probe> ring_at(std::uint32_t ring) const {
    return {slots_ + static_cast<std::size_t>(ring) * ring_size_, ring_size_};
  }

  TASKDAG_TASK Pushed push_alone(const Item& item, const PushHint& hint, Probe& probe) const {
    std::uint32_t first = 0;
    bool above = false;
    const std::uint32_t ring = reserve(Hash::target(hint, rings_), 1, first, above, probe);
    if (ring == kNoRing) return Pushed::no_room;
    ring_at(ring).write(first, item, Probe::stamp(), probe);
    publish(ring, 1, probe);
    return above ? Pushed::above_capacity : Pushed::within_capacity;
  }

  TASKDAG_TASK Pushed push_together(const Lanes& lanes, const Item& item, const PushHint& hint, Probe& probe) const {
    std::uint32_t ring = kNoRing;
    std::uint32_t first = 0;
    bool above = false;
    if (lanes.leads()) ring = reserve(Hash::target(hint, rings_), lanes.count(), first, above, probe);
    ring = lanes.broadcast(ring);
    if (ring == kNoRing) return Pushed::no_room;
    first = lanes.broadcast(first);
    ring_at(ring).write(first + lanes.rank(), item, Probe::stamp(), probe);
    lanes.sync();
    if (lanes.leads()) publish(ring, lanes.count(), probe);
    return above ? Pushed::above_capacity : Pushed::within_capacity;
  }

  TASKDAG_TASK std::uint32_t reserve(std::uint32_t target, std::uint32_t items, std::uint32_t& first, bool& above,
                                     Probe& probe) const {
    for (std::uint32_t tried = 0; tried < rings_; ++tried) {
      const std::uint32_t ring = (target + tried) % rings_;
      AtomicRef<std::uint32_t> fill(counters_[ring].fill);
      const std::uint32_t before = fill.fetch_add(items, relaxed);
      probe.atomic();
      if (before + items <= ring_size_) {
        above = before + items > capacity_;
        first = AtomicRef<std::uint32_t>(counters_[ring].tail).fetch_add(items, relaxed);
        probe.atomic();
        return ring;
      }
      fill.fetch_sub(items, relaxed);
      probe.atomic();
    }
    return kNoRing;
  }
  TASKDAG_TASK void publish(std::uint32_t ring, std::uint32_t items, Probe& probe) const {
    AtomicRef<std::int32_t>(counters_[ring].count).fetch_add(static_cast<std::int32_t>(items), relaxed);
    probe.atomic();
  }

  [[nodiscard]] TASKDAG_TASK std::int32_t level_of(std::uint32_t ring, Probe& probe) const {
    probe.load();
    return AtomicRef<std::int32_t>(counters_[ring].count).load(relaxed);
  }
  TASKDAG_TASK Claim claim_from(std::uint32_t ring, std::uint32_t want, std::int32_t seen, Probe& probe) const {
    Counters& counters = counters_[ring];
    const std::uint32_t granted = take_promised(counters.count, want, seen, probe);
    if (granted == 0) return {};
    const std::uint32_t first = AtomicRef<std::uint32_t>(counters.head).fetch_add(granted, relaxed);
    AtomicRef<std::uint32_t>(counters.fill).fetch_sub(granted, relaxed);
    probe.atomic();
    probe.atomic();
    return {first, granted, ring};
  }

  Counters* counters_ = nullptr;
  Slot<Item, Probe>* slots_ = nullptr;
  std::uint32_t rings_ = 0;
  std::uint32_t ring_size_ = 0;
  std::uint32_t capacity_ = 0;  ///< of one ring
};

template <class Item, class Probe>
using MultiQueueA = MultiQueue<Item, Probe, HashA>;
template <class Item, class Probe>
using MultiQueueB = MultiQueue<Item, Probe, HashB>;
template <class Item, class Probe>
using StealingQueue = MultiQueue<Item, Probe, Steal>;

TASKDAG_ENGINE_END
