/// \file
/// The slots of a bounded FIFO: tickets name them in turn, each slot's state says whose turn it is.
///
/// Ticket t belongs to slot t mod size, in round t / size (size: a power of two; tickets wrap at 2^32, rounds with
/// them). A slot's state is 2·round while it is free for that round, 2·round + 1 while it is full:
/// | who                | waits for (acquire)        | then             | stores (release)  |
/// |--------------------|----------------------------|------------------|-------------------|
/// | writer of ticket t | 2·round(t): reader gone    | writes the item  | 2·round(t) + 1    |
/// | reader of ticket t | 2·round(t) + 1: written    | copies the item  | 2·round(t + size) |
///
/// Both waits are short: a reader's ticket was promised by a writer that has its own, and reads at once; and ticket t
/// waits only for tickets below it, so no cycle exists. A zeroed array is an empty ring.
/// The form of the slots: B. Kerbl et al. 2018, "The Broker Queue", DOI 10.1145/3205289.3205291, section 4.
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// What a worker may read: `count` tickets from `first` on, of ring `ring`.
struct Claim {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t ring = 0;
};

/// How large a queue is, fixed while it is in use.
struct QueueShape {
  std::uint32_t capacity = 0;  ///< items, above which the run is suspended
  std::uint32_t margin = 0;    ///< items that running tasks may still add then
  std::uint32_t rings = 1;     ///< of a multi-queue
};

/// What a queue may use to choose where an item goes.
struct PushHint {
  std::uint32_t worker;  ///< number of the team that pushes
  std::uint32_t key;     ///< of the item, see task_context.hpp
  std::uint32_t child;   ///< 0 for the first item that this task creates, 1 for the second, …
};

/// What a push found.
enum class Pushed : std::uint32_t {
  within_capacity,
  above_capacity,  ///< added; the run should be suspended
  no_room,         ///< not added
};

/// Takes up to `want` of the items that a count promises; `seen`: what it was said to hold. @returns how many
///
/// relaxed: a promise; the slots' states carry the items. The count may be negative for a moment, so an item may be
/// missed by a look, but never for good: what is taken too much is given back.
template <class Probe>
TASKDAG_TASK std::uint32_t take_promised(std::int32_t& promised, std::uint32_t want, std::int32_t seen, Probe& probe) {
  if (seen <= 0) return 0;
  AtomicRef<std::int32_t> count(promised);
  const std::int32_t ask = seen < static_cast<std::int32_t>(want) ? seen : static_cast<std::int32_t>(want);
  const std::int32_t before = count.fetch_sub(ask, relaxed);
  probe.atomic();
  const std::int32_t granted = before < ask ? (before > 0 ? before : 0) : ask;
  if (granted < ask) {
    count.fetch_add(ask - granted, relaxed);
    probe.atomic();
  }
  return static_cast<std::uint32_t>(granted);
}

/// The stamp is a base: it takes no room where it is empty.
template <class Item, class Probe>
struct Slot : Probe::Stamp {
  std::uint32_t state;
  Item item;
};

template <class Item, class Probe>
class Ring {
 public:
  using SlotType = Slot<Item, Probe>;

  Ring() = default;
  TASKDAG_TASK Ring(SlotType* slots, std::uint32_t size) : slots_(slots), size_(size) {}

  /// The least power of two with room for `items`.
  static constexpr std::uint32_t size_for(std::uint32_t items) {
    std::uint32_t size = 1;
    while (size < items) size *= 2U;
    return size;
  }
  [[nodiscard]] TASKDAG_TASK std::uint32_t size() const { return size_; }

  TASKDAG_TASK void write(std::uint32_t ticket, const Item& item, typename Probe::Stamp stamp, Probe& probe) const {
    SlotType& slot = slots_[ticket & (size_ - 1U)];
    wait_for(slot, state_of(ticket), probe);
    slot.item = item;
    static_cast<typename Probe::Stamp&>(slot) = stamp;
    probe.store();
    AtomicRef<std::uint32_t>(slot.state).store(state_of(ticket) + 1U, release);
    probe.store();
  }

  /// Waits until the ticket's item is written and copies it; many lanes may, before one of them calls leave().
  TASKDAG_TASK Item read(std::uint32_t ticket, typename Probe::Stamp& stamp, Probe& probe) const {
    SlotType& slot = slots_[ticket & (size_ - 1U)];
    wait_for(slot, state_of(ticket) + 1U, probe);
    stamp = slot;
    probe.load();
    return slot.item;
  }
  /// Gives the slot to the writer of the next round.
  TASKDAG_TASK void leave(std::uint32_t ticket, Probe& probe) const {
    AtomicRef<std::uint32_t>(slots_[ticket & (size_ - 1U)].state).store(state_of(ticket + size_), release);
    probe.store();
  }

 private:
  [[nodiscard]] TASKDAG_TASK std::uint32_t state_of(std::uint32_t ticket) const { return ticket / size_ * 2U; }
  TASKDAG_TASK static void wait_for(SlotType& slot, std::uint32_t state, Probe& probe) {
    Backoff backoff;
    probe.load();
    while (AtomicRef<std::uint32_t>(slot.state).load(acquire) != state) {
      backoff.turn();
      probe.load();
    }
  }

  SlotType* slots_ = nullptr;
  std::uint32_t size_ = 0;
};

TASKDAG_ENGINE_END
