/// \file
/// A queue of fixed capacity behind a lock: the paper's stack, or first in, first out.
///
/// Only the lock's owner writes size and head, and only it reads head, which is a plain word; who pauses looks at size.
#pragma once

#include "studies/progression/block.hpp"
#include "studies/progression/lock.hpp"

namespace taskdag::progression {

enum class Popped { task, none, out_of_time };

template <class Probe>
class Ring {
 public:
  TASKDAG_TASK Ring(Block<Probe>& block, std::uint32_t number)
      : block_(block),
        lock_(block.state.locks[std::size_t{number} * block.state.stride], block.number),
        size_(block.state.sizes[std::size_t{number} * block.state.stride]),
        head_(block.state.heads[std::size_t{number} * block.state.stride]),
        items_(block.state.items + std::size_t{number} * block.state.capacity) {}

  /// Takes a task, if there is one.
  [[nodiscard]] TASKDAG_TASK Popped pop(std::uint32_t& task) {
    Probe& probe = block_.probe;
    // With pauses, an empty queue is left alone: blocks that lock it in turn can keep one that brings tasks out of it,
    // on an H100 for a minute.
    if (block_.state.backoff) {
      probe.load();
      if (engine::AtomicRef<std::uint32_t>(size_).load(engine::relaxed) == 0) return Popped::none;
    }
    if (!lock()) return Popped::out_of_time;
    probe.load();
    const std::uint32_t size = size_;
    if (size > 0) {
      probe.load();
      probe.store();
      task = items_[block_.state.fifo ? take_head() : size - 1U];
      set_size(size - 1U);
    }
    lock_.unlock(probe);
    return size > 0 ? Popped::task : Popped::none;
  }

  // Adding tasks: lock(), add() for each, unlock().
  [[nodiscard]] TASKDAG_TASK bool lock() {
    if (lock_.lock(block_.state.backoff, block_.patience, block_.probe)) return true;
    block_.stop(State::kTimeLimit);
    return false;
  }
  TASKDAG_TASK void add(std::uint32_t task) {
    Probe& probe = block_.probe;
    const std::uint32_t capacity = block_.state.capacity;
    probe.load();
    const std::uint32_t size = size_;
    if (size >= capacity) {
      block_.stop(State::kQueueFull);
      return;
    }
    std::uint32_t index = size;
    if (block_.state.fifo) {
      probe.load();
      index += head_;
      if (index >= capacity) index -= capacity;
    }
    probe.store();
    probe.store();
    items_[index] = task;
    set_size(size + 1U);
  }
  TASKDAG_TASK void unlock() { lock_.unlock(block_.probe); }

 private:
  /// Under the lock; others may look at it without.
  TASKDAG_TASK void set_size(std::uint32_t size) const {
    engine::AtomicRef<std::uint32_t>(size_).store(size, engine::relaxed);
  }
  TASKDAG_TASK std::uint32_t take_head() {
    block_.probe.load();
    block_.probe.store();
    const std::uint32_t head = head_;
    head_ = head + 1U == block_.state.capacity ? 0U : head + 1U;
    return head;
  }

  Block<Probe>& block_;
  Lock lock_;
  std::uint32_t& size_;
  std::uint32_t& head_;
  std::uint32_t* items_;
};

/// A block's turns with the queue that it takes tasks from. pass_on(task): hands on what waited for it. @returns
/// whether the block goes on
template <class Probe, class PassOn>
TASKDAG_TASK void run_from(Block<Probe>& block, Ring<Probe>& own, const PassOn& pass_on) {
  engine::Backoff pause;
  while (block.goes_on()) {
    std::uint32_t task = 0;
    const Popped popped = own.pop(task);
    if (popped == Popped::out_of_time) return;
    if (popped == Popped::none) {
      turn(pause, block.state.backoff);
      continue;
    }
    pause.reset();
    block.compute(task);
    if (!pass_on(task)) return;
    block.count_task();
  }
}

}  // namespace taskdag::progression
