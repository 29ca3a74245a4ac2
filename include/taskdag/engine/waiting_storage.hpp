/// \file
/// Where tasks wait for their dependencies: an array with places that are found by probing (MHive, section 5.2).
///
/// A place's state: 0 free, 1 reserved, 2 filled.
/// | who                       | operation               | order                                                 |
/// |---------------------------|-------------------------|-------------------------------------------------------|
/// | creator                   | compare_exchange 0 -> 1 | acquire: the former reader is done with the place     |
/// | creator, item written     | store 2                 | release: the item                                     |
/// | who resolves the last     | load 2, copies the item | acquire (the dependency's count orders it, too)       |
/// | the same, then            | store 0                 | release: the reader is done                           |
#pragma once

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {
TASKDAG_TASK constexpr std::uint32_t mix(std::uint32_t x) {
  x ^= x >> 16U;
  x *= 0x7FEB352DU;
  x ^= x >> 15U;
  x *= 0x846CA68BU;
  return x ^ (x >> 16U);
}
}  // namespace detail

// Insert policies: where the search for a free place starts. An application's own has the same one function.
// `salt`: a different number at each call, `key`: the task type's key of the item (task_context.hpp), size: of the
// storage.

/// Anywhere (MHive, algorithm 5.1).
struct RandomStart {
  TASKDAG_TASK static std::uint32_t start(std::uint32_t salt, std::uint32_t /*key*/, std::uint32_t size) {
    return detail::mix(salt) % size;
  }
};
/// At a place that belongs to the item.
struct HashStart {
  TASKDAG_TASK static std::uint32_t start(std::uint32_t /*salt*/, std::uint32_t key, std::uint32_t size) {
    return detail::mix(key) % size;
  }
};
/// At the item's key itself: without collisions where keys are consecutive numbers.
struct KeyStart {
  TASKDAG_TASK static std::uint32_t start(std::uint32_t /*salt*/, std::uint32_t key, std::uint32_t size) {
    return key % size;
  }
};

template <class Item, class Insert, class Probe>
class WaitingStorage {
 public:
  struct Place {
    std::uint32_t state;
    std::uint32_t next;  ///< in a group's list: the next place + 1, 0: none
    Item item;
  };
  WaitingStorage() = default;
  static std::size_t bytes(std::uint32_t size) { return sizeof(Head) + sizeof(Place) * size; }
  /// Items that may wait while the level is `capacity`: running tasks may still add `margin`.
  static constexpr std::uint32_t size_for(std::uint32_t capacity, std::uint32_t margin) { return capacity + margin; }
  /// The storage in memory of bytes(size): zeroed, or the bytes of a smaller one followed by zeros (places keep their
  /// numbers).
  static WaitingStorage attach(void* memory, std::uint32_t size) {
    WaitingStorage storage;
    storage.head_ = static_cast<Head*>(memory);
    storage.places_ = reinterpret_cast<Place*>(storage.head_ + 1);
    storage.size_ = size;
    return storage;
  }

  /// Reserves a place by linear probing and writes the item. After kRun places in vain the search goes on elsewhere: a
  /// storage that has grown is full in one half. After kRuns starts it goes round and round.
  /// @pre the caller has counted the item in the level, and found it not above size(): so a place is free at any time,
  /// although another one at each time. @returns the place
  TASKDAG_TASK std::uint32_t insert(const Item& item, std::uint32_t salt, std::uint32_t key, Probe& probe) const {
    std::uint32_t place = Insert::start(salt, key, size_);
    for (std::uint32_t probed = 1;; ++probed) {
      AtomicRef<std::uint32_t> state(places_[place].state);
      std::uint32_t expected = 0;
      probe.load();
      if (state.load(relaxed) == 0) {
        probe.cas();
        if (state.compare_exchange_strong(expected, 1U, acquire, relaxed)) {
          places_[place].item = item;
          places_[place].next = 0;
          state.store(2U, release);
          probe.store();
          probe.store();
          return place;
        }
      }
      if (probed % kRun == 0 && probed <= kRun * kRuns) {
        place = detail::mix(place + probed) % size_;
      } else {
        place = place + 1 == size_ ? 0 : place + 1;
      }
    }
  }

  /// Takes the item out of its place. @pre the place is filled and the caller alone may take it.
  TASKDAG_TASK Item take(std::uint32_t place, Probe& probe) const {
    AtomicRef<std::uint32_t> state(places_[place].state);
    Backoff backoff;
    while (state.load(acquire) != 2U) backoff.turn();
    probe.load();
    const Item item = places_[place].item;
    probe.load();
    state.store(0U, release);
    probe.store();
    return item;
  }

  /// Link of a group's list (dependency.hpp); written before the place is pushed, read after the list is taken.
  TASKDAG_TASK std::uint32_t& next(std::uint32_t place) const { return places_[place].next; }

  /// Adds to the number of waiting items. @returns the new number. relaxed: a fill level, nothing hangs on it.
  TASKDAG_TASK std::uint32_t add_to_level(std::int32_t change, Probe& probe) const {
    probe.atomic();
    const auto more = static_cast<std::uint32_t>(change);
    return AtomicRef<std::uint32_t>(head_->level).fetch_add(more, relaxed) + more;
  }
  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    return AtomicRef<std::uint32_t>(head_->level).load(relaxed);
  }
  [[nodiscard]] TASKDAG_TASK std::uint32_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kRun = 32;
  static constexpr std::uint32_t kRuns = 32;
  struct Head {
    alignas(128) std::uint32_t level;
  };
  Head* head_ = nullptr;
  Place* places_ = nullptr;
  std::uint32_t size_ = 0;
};

TASKDAG_ENGINE_END
