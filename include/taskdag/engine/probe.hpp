/// \file
/// What a program measures about itself, chosen at compile time: nothing (no instruction, no byte), counts, or a trace.
/// A probe lives with a team of workers, in registers, and flushes to its record when the team ends.
#pragma once

#include "taskdag/engine/platform.hpp"
#include "taskdag/engine/record.hpp"

TASKDAG_ENGINE_BEGIN

/// Measures nothing.
struct NoProbe {
  struct Stamp {};
  struct Record {};
  static constexpr bool traces = false;
  static constexpr bool counts = false;
  TASKDAG_TASK NoProbe(const Record& /*record*/, std::uint32_t /*worker*/) {}
  TASKDAG_TASK void cas() {}
  TASKDAG_TASK void atomic() {}
  TASKDAG_TASK void load() {}
  TASKDAG_TASK void store() {}
  TASKDAG_TASK static Stamp stamp() { return {}; }
  TASKDAG_TASK static std::uint64_t now() { return 0; }
  TASKDAG_TASK void event(Stamp /*stamp*/, std::uint64_t /*start*/, int /*type*/) {}
  TASKDAG_TASK void flush() {}
};

/// Counts the engine's operations.
class CountingProbe {
 public:
  struct Stamp {};
  struct Record {
    OperationCounts* totals = nullptr;
  };
  static constexpr bool traces = false;
  static constexpr bool counts = true;
  TASKDAG_TASK CountingProbe(const Record& record, std::uint32_t /*worker*/) : record_(record) {}
  TASKDAG_TASK void cas() { ++counts_.compare_and_swaps; }
  TASKDAG_TASK void atomic() { ++counts_.other_atomics; }
  TASKDAG_TASK void load() { ++counts_.loads; }
  TASKDAG_TASK void store() { ++counts_.stores; }
  TASKDAG_TASK static Stamp stamp() { return {}; }
  TASKDAG_TASK static std::uint64_t now() { return 0; }
  TASKDAG_TASK void event(Stamp /*stamp*/, std::uint64_t /*start*/, int /*type*/) {}
  /// relaxed: the totals are read after the run.
  TASKDAG_TASK void flush() {
    AtomicRef<std::uint64_t>(record_.totals->compare_and_swaps).fetch_add(counts_.compare_and_swaps, relaxed);
    AtomicRef<std::uint64_t>(record_.totals->other_atomics).fetch_add(counts_.other_atomics, relaxed);
    AtomicRef<std::uint64_t>(record_.totals->loads).fetch_add(counts_.loads, relaxed);
    AtomicRef<std::uint64_t>(record_.totals->stores).fetch_add(counts_.stores, relaxed);
    counts_ = {};
  }

 private:
  Record record_;
  OperationCounts counts_;
};

/// Writes an event per task, as long as there is room; later ones are counted as dropped.
class TraceProbe {
 public:
  struct Stamp {
    std::uint64_t ns;
  };
  struct Record {
    TraceEvent* events = nullptr;
    std::uint32_t capacity = 0;
    std::uint32_t* used = nullptr;  ///< may exceed the capacity: the difference was dropped
  };
  static constexpr bool traces = true;
  static constexpr bool counts = false;
  TASKDAG_TASK TraceProbe(const Record& record, std::uint32_t worker) : record_(record), worker_(worker) {}
  TASKDAG_TASK void cas() {}
  TASKDAG_TASK void atomic() {}
  TASKDAG_TASK void load() {}
  TASKDAG_TASK void store() {}
  TASKDAG_TASK static Stamp stamp() { return {clock_ns()}; }
  TASKDAG_TASK static std::uint64_t now() { return clock_ns(); }
  TASKDAG_TASK void event(Stamp created, std::uint64_t start, int type) {
    const std::uint32_t index = AtomicRef<std::uint32_t>(*record_.used).fetch_add(1U, relaxed);
    if (index < record_.capacity) {
      record_.events[index] = {created.ns, start, clock_ns(), worker_, processor(), static_cast<std::uint16_t>(type)};
    }
  }
  TASKDAG_TASK void flush() {}

 private:
  [[nodiscard]] TASKDAG_TASK std::uint16_t processor() const {
#if defined(__CUDA_ARCH__)
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return static_cast<std::uint16_t>(sm);
#else
    return static_cast<std::uint16_t>(worker_);
#endif
  }
  Record record_;
  std::uint32_t worker_;
};

/// A TraceProbe that can be left out when the program is made: without room for events it records none and looks at no
/// clock.
class SwitchedProbe : public TraceProbe {
 public:
  TASKDAG_TASK SwitchedProbe(const Record& record, std::uint32_t worker)
      : TraceProbe(record, worker), on_(record.capacity != 0) {}
  [[nodiscard]] TASKDAG_TASK bool on() const { return on_; }

 private:
  bool on_;
};

TASKDAG_ENGINE_END
