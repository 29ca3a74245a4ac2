/// \file
/// A program's queues, storages and ledger in host memory, without a runner: so that threads of a test can call the
/// engine's operations themselves, and memory can be prepared.
#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "taskdag/engine/host/team.hpp"

namespace taskdag::test {

/// Zeroed memory, aligned as the engine's.
class Bytes {
 public:
  explicit Bytes(std::size_t size) : memory_(static_cast<std::byte*>(::operator new(size, kAlignment))) {
    std::memset(memory_.get(), 0, size);
  }
  [[nodiscard]] std::byte* data() const { return memory_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{128};
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> memory_;
};

/// Claims up to `want` items of a queue, as a team without items does.
template <class Queue, class Probe>
engine::Claim claim_from(const Queue& queue, std::uint32_t want, std::uint32_t worker, std::uint32_t& cursor,
                         Probe& probe) {
  return queue.claim(want, queue.glance(worker, probe), true, worker, cursor, probe);
}

/// A program whose types all have queues and storages of the same size.
template <class P>
class Bench {
 public:
  Bench(const typename P::Data& data, std::uint32_t capacity, std::uint32_t margin) : ledger_(sizeof(engine::Ledger)) {
    program_.data = data;
    program_.ledger = reinterpret_cast<engine::Ledger*>(ledger_.data());
    engine::detail::ForEach<typename P::AllTypes>::apply([&](auto tag) {
      using T = typename decltype(tag)::type;
      using Queue = typename P::template Queue<T>;
      using Storage = typename P::template Storage<T>;
      const engine::QueueShape shape{capacity, margin, 1};
      engine::TypeState<P, T>& type = program_.template of<T>();
      type.queue = Queue::attach(memory_.emplace_back(Queue::bytes(shape)).data(), shape);
      type.storage = Storage::attach(memory_.emplace_back(Storage::bytes(capacity)).data(), capacity);
      type.storage_capacity = capacity;
    });
  }

  [[nodiscard]] const engine::ProgramRef<P>& program() const { return program_; }
  [[nodiscard]] engine::Ledger& ledger() const { return *program_.ledger; }

  /// Calls f(context) as a task of type T would, on the calling thread.
  template <class T, class F>
  void as_task(F&& f) const {
    typename P::Probe probe(program_.record, 0);
    const engine::HostGroup group;
    engine::TaskContext<P, T, engine::HostGroup> context(program_, group, nullptr, 0, false, probe);
    f(context);
  }
  /// Takes what is in T's queue. Several threads may.
  template <class T>
  std::vector<typename T::Item> take_all() const {
    typename P::Probe probe(program_.record, 0);
    std::vector<typename T::Item> items;
    std::uint32_t cursor = 0;
    const auto& queue = program_.template of<T>().queue;
    while (true) {
      const engine::Claim claim = claim_from(queue, 1, 0, cursor, probe);
      if (claim.count == 0) return items;
      typename P::Probe::Stamp stamp{};
      items.push_back(queue.read(claim, 0, stamp, probe));
      queue.leave(claim, 0, probe);
    }
  }

 private:
  Bytes ledger_;
  std::vector<Bytes> memory_;
  engine::ProgramRef<P> program_{};
};

}  // namespace taskdag::test
