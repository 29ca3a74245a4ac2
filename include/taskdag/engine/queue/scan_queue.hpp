/// \file
/// For the study: no queue at all but a mark per task, and teams that scan the marks: the first algorithm of Kartsaklis
/// et al., section III A. Items are task numbers below the capacity, each at most once at a time.
///
/// A mark: 0 not ready, 1 ready. push stores 1 (release: what the task reads); a team that finds a 1 takes it by
/// compare_exchange 1 -> 0 (acquire).
#pragma once

#include <type_traits>

#include "taskdag/engine/lanes.hpp"
#include "taskdag/engine/queue/ring.hpp"

TASKDAG_ENGINE_BEGIN

template <class Item, class Probe>
class ScanQueue {
 public:
  static_assert(std::is_integral_v<Item>, "scanning takes task numbers as items");
  static constexpr const char* name = "scanning";
  static constexpr bool any_worker_may_claim = true;

  ScanQueue() = default;

  static std::size_t bytes(const QueueShape& shape) { return sizeof(Head) + sizeof(std::uint32_t) * shape.capacity; }
  static ScanQueue attach(void* memory, const QueueShape& shape) {
    ScanQueue queue;
    queue.head_ = static_cast<Head*>(memory);
    queue.marks_ = reinterpret_cast<std::uint32_t*>(queue.head_ + 1);
    queue.size_ = shape.capacity;
    return queue;
  }

  TASKDAG_TASK Pushed push(const Lanes& /*lanes*/, const Item& item, const PushHint& /*hint*/, Probe& probe) const {
    const auto number = static_cast<std::uint32_t>(item);
    if (number >= size_) return Pushed::no_room;
    AtomicRef<std::int32_t>(head_->level).fetch_add(1, relaxed);
    AtomicRef<std::uint32_t>(marks_[number]).store(1U, release);
    probe.atomic();
    probe.store();
    return Pushed::within_capacity;
  }

  /// Scanning is how to know.
  [[nodiscard]] TASKDAG_TASK std::int32_t glance(std::uint32_t /*worker*/, Probe& /*probe*/) const { return 1; }
  /// One task at most; goes on where the team stopped, once round, and gives up earlier where no task is ready.
  TASKDAG_TASK Claim claim(std::uint32_t /*want*/, std::int32_t /*seen*/, bool /*hungry*/, std::uint32_t /*worker*/,
                           std::uint32_t& cursor, Probe& probe) const {
    for (std::uint32_t look = 0; look < size_; ++look) {
      if (look % kLooks == 0 && level() == 0) break;
      const std::uint32_t number = cursor < size_ ? cursor : 0;
      cursor = number + 1;
      AtomicRef<std::uint32_t> mark(marks_[number]);
      probe.load();
      if (mark.load(relaxed) != 1U) continue;
      std::uint32_t expected = 1;
      probe.cas();
      if (mark.compare_exchange_strong(expected, 0U, acquire, relaxed)) {
        AtomicRef<std::int32_t>(head_->level).fetch_sub(1, relaxed);
        probe.atomic();
        return {number, 1, 0};
      }
    }
    return {};
  }
  TASKDAG_TASK Item read(const Claim& claim, std::uint32_t /*k*/, typename Probe::Stamp& /*stamp*/,
                         Probe& /*probe*/) const {
    return static_cast<Item>(claim.first);
  }
  TASKDAG_TASK void leave(const Claim& /*claim*/, std::uint32_t /*k*/, Probe& /*probe*/) const {}

  /// Items above which the run is suspended.
  [[nodiscard]] std::uint32_t capacity() const { return size_; }
  [[nodiscard]] TASKDAG_TASK std::uint32_t level() const {
    const std::int32_t level = AtomicRef<std::int32_t>(head_->level).load(relaxed);
    return level > 0 ? static_cast<std::uint32_t>(level) : 0U;
  }

 private:
  static constexpr std::uint32_t kLooks = 1U << 10U;  ///< marks between two looks at the level
  struct Head {
    alignas(128) std::int32_t level;
  };
  Head* head_ = nullptr;
  std::uint32_t* marks_ = nullptr;
  std::uint32_t size_ = 0;
};

TASKDAG_ENGINE_END
