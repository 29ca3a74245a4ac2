/// \file
/// Stages of a loop on host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "taskdag/engine/loop/stage.hpp"
#include "taskdag/engine/threads.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// A thread's sums, on lines of its own.
struct alignas(128) HostSums {
  double value[16];
};

}  // namespace detail

/// Tasks are shared out in runs of consecutive ones, a run for each thread.
class HostFlow {
 public:
  static constexpr bool calls = true;

  /// cut: ascending numbers, one more than there are threads at work: all of the context's or one. Thread t has the
  /// tasks [cut[t], cut[t + 1]) of every stage with cut.back() tasks. Other stages are shared out evenly. Both must
  /// outlive it.
  HostFlow(const Context& context, const std::vector<std::uint32_t>& cut)
      : context_(context), cut_(cut), sums_(cut.size() - 1) {}

  template <class S>
  void stage(const S& stage, std::uint32_t tasks) {
    constexpr auto width = static_cast<std::size_t>(stage_width<S>);
    static_assert(width <= 16, "a stage adds up to 16 numbers");
    if constexpr (stage_has_slices<S>) {
      run_slices(stage, tasks);
    } else {
      run([&](int thread) { add_up(stage, thread, tasks, sums_[static_cast<std::size_t>(thread)].value); });
      finish(stage, sums_.data());
    }
  }

  template <class Call>
  void call(const Call& call) {
    call(Stream{});
  }

  template <class Body>
  void when(const LoopCondition& condition, const Body& body) {
    if (*condition.word != 0) body();
  }
  template <class Body>
  void repeat(const LoopCondition& condition, const Body& body) {
    while (*condition.word != 0) body();
  }

 private:
  static constexpr std::uint32_t run_length = 512;  ///< a vector of these stays in the nearest cache

  [[nodiscard]] std::uint32_t end_of(int thread, std::uint32_t tasks) const {
    const std::size_t next = static_cast<std::size_t>(thread) + 1;  // 0 for thread −1
    if (tasks == cut_.back()) return cut_[next];
    return static_cast<std::uint32_t>(std::uint64_t{tasks} * next / sums_.size());
  }
  /// Inlined as a whole: a task is a few instructions, and a compiler may find it too large to have it here twice.
  template <class S>
  [[gnu::flatten]] void add_up(const S& stage, int thread, std::uint32_t tasks, double* sums) const {
    constexpr auto width = static_cast<std::size_t>(stage_width<S>);
    double sum[width] = {};
    const std::uint32_t end = end_of(thread, tasks);
    const auto& worker = worker_of(stage);
    std::uint32_t task = end_of(thread - 1, tasks);
    if constexpr (requires { worker.execute_run(task, end, sum); }) {
      for (; task < end; task += std::min(run_length, end - task)) {
        worker.execute_run(task, std::min(run_length, end - task), sum);
      }
    } else if constexpr (stage_has_runs<S>) {
      double parts[run_length];
      while (task < end) {
        const TaskRun run{task, std::min(run_length, end - task), parts};
        const std::uint32_t end_of_run = task + run.count;
        if (worker.part(run, 0, 1) == TaskRun::done) {
          for (; task < end_of_run; ++task) worker.execute(task, parts[task - run.first], sum);
        } else {
          for (; task < end_of_run; ++task) worker.execute(task, worker.part(TaskOfRun{task}, 0, 1), sum);
        }
      }
    } else if constexpr (stage_has_parts<S>) {
      for (; task < end; ++task) worker.execute(task, worker.part(task, 0, 1), sum);
    } else {
      for (; task < end; ++task) worker.execute(task, sum);
    }
    std::copy(sum, sum + width, sums);
  }
  /// sums: of the threads.
  template <class S>
  void finish(const S& stage, const detail::HostSums* sums) const {
    if constexpr (stage_finishes<S>) {
      constexpr auto width = static_cast<std::size_t>(stage_width<S>);
      double total[width] = {};
      for (std::size_t thread = 0; thread < sums_.size(); ++thread) {
        for (std::size_t k = 0; k < width; ++k) total[k] += sums[thread].value[k];
      }
      stage.finish(total);
    }
  }
  /// All slices without a wait between them.
  template <class S>
  void run_slices(const S& stage, std::uint32_t tasks) {
    const std::uint32_t slices = stage.slices();
    if (slice_sums_.size() < slices * sums_.size()) slice_sums_.resize(slices * sums_.size());
    run([&](int thread) {
      for (std::uint32_t slice = 0; slice < slices; ++slice) {
        const std::size_t at = slice * sums_.size() + static_cast<std::size_t>(thread);
        add_up(StageSlice<S>{stage, slice}, thread, tasks, slice_sums_[at].value);
      }
    });
    for (std::uint32_t slice = 0; slice < slices; ++slice) {
      finish(StageSlice<S>{stage, slice}, &slice_sums_[slice * sums_.size()]);
    }
  }
  template <class Body>
  void run(const Body& body) {
    if (sums_.size() == 1) return body(0);  // also where there are more threads: none is woken
    run_on_threads(
        context_, [](void* target, int thread) { (*static_cast<const Body*>(target))(thread); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

  const Context& context_;
  const std::vector<std::uint32_t>& cut_;
  std::vector<detail::HostSums> sums_;        ///< by thread
  std::vector<detail::HostSums> slice_sums_;  ///< by slice and thread
};

TASKDAG_ENGINE_END
