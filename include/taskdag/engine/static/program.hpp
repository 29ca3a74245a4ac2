/// \file
/// A static program: all its tasks are known before the run and create none (order.hpp). So nothing is queued but
/// numbers, nothing waits in a storage, and a run needs neither ledger nor host.
#pragma once

#include <type_traits>

#include "taskdag/engine/probe.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/engine/task_type.hpp"

TASKDAG_ENGINE_BEGIN

/// Data: what all tasks see, trivially copyable, given anew with each run. Task types have an integral Item: the
/// number of the task within its type.
template <class Data_, class Types_, class Probe_ = NoProbe>
struct StaticProgram {
  using Data = Data_;
  using AllTypes = Types_;
  using Probe = Probe_;
  static constexpr bool is_static = true;
  static constexpr int types = AllTypes::size;
  static_assert(types > 0 && types <= 32, "a program has 1 to 32 task types");
  static_assert(std::is_trivially_copyable_v<Data>, "a program's Data is passed to its tasks by value");

  template <class T>
  TASKDAG_TASK static constexpr int number_of() {
    static_assert(detail::CountOf<T, AllTypes>::value == 1, "this task type is not one of the program's types");
    return detail::IndexOf<T, AllTypes>::value;
  }
};

namespace detail {

/// A launch's tickets: the run's number in the upper half, the next ticket in the lower one. In one word, so that every
/// ticket says which run it is of. The worker that takes the last ticket of a run, when all others have taken theirs,
/// begins the next one: nothing is reset between runs, and a run may be replayed from a graph.
/// fetch_add, relaxed: the number is all that is handed out.
struct alignas(128) StaticTickets {
  std::uint64_t next;
};
/// Teams that have arrived at the ends of levels in this run.
struct alignas(128) StaticArrivals {
  std::uint64_t count;
};
/// End of the list of ready tasks.
struct alignas(128) StaticReadyEnd {
  std::uint32_t next;
};

/// A static program as its teams see it; trivially copyable. All pointers: memory of the backend.
template <class P>
struct StaticRef {
  typename P::Data data;
  StaticTickets* tickets;    ///< by launch of a run
  const StaticClaim* claim;  ///< null: claim c is task c of all
  std::uint32_t type_end[P::types];
  std::uint32_t claims;
  const std::uint32_t* level_end;
  std::uint32_t levels;
  StaticArrivals* arrivals;
  // Of individual dependencies.
  const std::uint32_t* successor_begin;
  const std::uint32_t* successor;
  const std::uint32_t* predecessors;
  std::uint32_t* missing;
  std::uint32_t* ready;
  StaticReadyEnd* ready_end;
  std::uint32_t roots;
  std::uint32_t* failed;  ///< code + 1 of the first fail(), 0: none
  typename P::Probe::Record record;
};

}  // namespace detail

/// The first argument of execute() in a static program.
template <class P, class Group>
class StaticContext {
 public:
  using Data = typename P::Data;
  using Probe = typename P::Probe;

  TASKDAG_TASK StaticContext(const detail::StaticRef<P>& program, const Group& group, std::byte* shared,
                             std::uint32_t run, std::uint32_t team)
      : program_(program), group_(group), shared_(shared), run_(run), team_(team) {}

  [[nodiscard]] TASKDAG_TASK const Data& data() const { return program_.data; }
  [[nodiscard]] TASKDAG_TASK const Group& group() const { return group_; }
  /// The worker's T::shared_bytes of scratch memory, aligned to 16 bytes.
  [[nodiscard]] TASKDAG_TASK std::byte* shared() const { return shared_; }
  /// Number of the run, from 0, the same in all its tasks; counted on the device, replays of a graph included.
  [[nodiscard]] TASKDAG_TASK std::uint32_t run() const { return run_; }
  /// Number of the team that runs the task: on the host its thread's.
  [[nodiscard]] TASKDAG_TASK std::uint32_t team() const { return team_; }
  /// The report of the runs says `code`. The run goes on: other tasks may wait for what this one publishes.
  TASKDAG_TASK void fail(std::uint32_t code) const {
    std::uint32_t none = 0;
    AtomicRef<std::uint32_t>(*program_.failed).compare_exchange_strong(none, code + 1U, relaxed, relaxed);
  }

 private:
  const detail::StaticRef<P>& program_;
  const Group& group_;
  std::byte* shared_;
  std::uint32_t run_;
  std::uint32_t team_;
};

TASKDAG_ENGINE_END
