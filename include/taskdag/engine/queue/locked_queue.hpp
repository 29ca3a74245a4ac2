/// \file
/// For the study: one queue behind one lock, the second algorithm of Kartsaklis et al., section III B. One lane at a
/// time; a whole set of lanes takes turns. (First in, first out, where the paper's is a stack: the slots are those of
/// the other queues. Its finding is about the lock.)
///
/// lock: 0 free, 1 taken. Taken by compare_exchange, acquire: sees the counters as the last owner left them; freed by a
/// store, release. tail and head are read without the lock only by level(), for reports.
#pragma once

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/queue/ring.hpp"

TASKDAG_ENGINE_BEGIN

template <class Item, class Probe>
class LockedQueue {
 public:
  static constexpr const char* name = "single locked queue";
  static constexpr bool any_worker_may_claim = true;

  LockedQueue() = default;

  static std::size_t bytes(const QueueShape& shape) {
    return sizeof(Counters) + sizeof(Slot<Item, Probe>) * Ring<Item, Probe>::size_for(shape.capacity + shape.margin);
  }
  static LockedQueue attach(void* memory, const QueueShape& shape) {
    LockedQueue queue;
    queue.counters_ = static_cast<Counters*>(memory);
    queue.capacity_ = shape.capacity;
    queue.ring_ = {reinterpret_cast<Slot<Item, Probe>*>(queue.counters_ + 1),
                   Ring<Item, Probe>::size_for(shape.capacity + shape.margin)};
    return queue;
  }

  TASKDAG_TASK Pushed push(const Lanes& lanes, const Item& item, const PushHint& /*hint*/, Probe& probe) const {
    Pushed result = Pushed::no_room;
    for (unsigned turn = 0; turn < lanes.count(); ++turn) {
      if (lanes.rank() == turn) {
        lock(probe);
        const std::uint32_t tail = get(counters_->tail, probe);
        const std::uint32_t level = tail - get(counters_->head, probe) + 1U;
        const bool room = level <= ring_.size();
        if (room) set(counters_->tail, tail + 1U, probe);
        unlock(probe);
        if (room) {
          ring_.write(tail, item, Probe::stamp(), probe);
          result = level > capacity_ ? Pushed::above_capacity : Pushed::within_capacity;
        }
      }
      lanes.sync();
    }
    return result;
  }

  /// The lock has to be taken to know.
  [[nodiscard]] TASKDAG_TASK std::int32_t glance(std::uint32_t /*worker*/, Probe& /*probe*/) const { return 1; }
  TASKDAG_TASK Claim claim(std::uint32_t want, std::int32_t /*seen*/, bool /*hungry*/, std::uint32_t /*worker*/,
                           std::uint32_t& /*cursor*/, Probe& probe) const {
    lock(probe);
    const std::uint32_t head = get(counters_->head, probe);
    const std::uint32_t level = get(counters_->tail, probe) - head;
    const std::uint32_t granted = level < want ? level : want;
    if (granted > 0) set(counters_->head, head + granted, probe);
    unlock(probe);
    return {head, granted, 0};
  }
  TASKDAG_TASK Item read(const Claim& claim, std::uint32_t k, typename Probe::Stamp& stamp, Probe& probe) const {
    return ring_.read(claim.first + k, stamp, probe);
  }
  TASKDAG_TASK void leave(const Claim& claim, std::uint32_t k, Probe& probe) const {
    ring_.leave(claim.first + k, probe);
  }

  /// Items above which the run is suspended.
  [[nodiscard]] std::uint32_t capacity() const { return capacity_; }
  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    return AtomicRef<std::uint32_t>(counters_->tail).load(relaxed) -
           AtomicRef<std::uint32_t>(counters_->head).load(relaxed);
  }

 private:
  struct Counters {
    alignas(128) std::uint32_t lock;
    alignas(128) std::uint32_t tail;
    std::uint32_t head;
  };

  TASKDAG_TASK void lock(Probe& probe) const {
    Backoff backoff;
    while (true) {
      std::uint32_t expected = 0;
      probe.cas();
      if (AtomicRef<std::uint32_t>(counters_->lock).compare_exchange_strong(expected, 1U, acquire, relaxed)) return;
      backoff.turn();
    }
  }
  TASKDAG_TASK void unlock(Probe& probe) const {
    AtomicRef<std::uint32_t>(counters_->lock).store(0U, release);
    probe.store();
  }
  /// relaxed: the lock orders; atomic because level() looks from outside.
  TASKDAG_TASK static std::uint32_t get(std::uint32_t& counter, Probe& probe) {
    probe.load();
    return AtomicRef<std::uint32_t>(counter).load(relaxed);
  }
  TASKDAG_TASK static void set(std::uint32_t& counter, std::uint32_t value, Probe& probe) {
    probe.store();
    AtomicRef<std::uint32_t>(counter).store(value, relaxed);
  }

  Counters* counters_ = nullptr;
  std::uint32_t capacity_ = 0;
  Ring<Item, Probe> ring_;
};

TASKDAG_ENGINE_END
