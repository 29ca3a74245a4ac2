/// \file
/// Stages of a loop on host threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "taskdag/engine/loop/ranks.hpp"
#include "taskdag/engine/loop/stage.hpp"
#include "taskdag/engine/loop/trace.hpp"
#include "taskdag/engine/threads.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// A thread's sums, on lines of its own.
struct alignas(128) HostSums {
  double value[16];
};

/// A span of a thread, as long as the object lives; nothing without a trace.
class HostSpan {
 public:
  HostSpan(HostTrace* trace, const HostTrace::Ready& what, int thread)
      : trace_(trace), what_(what), thread_(thread), start_(trace != nullptr ? clock_ns() : 0) {}
  HostSpan(const HostSpan&) = delete;
  HostSpan& operator=(const HostSpan&) = delete;
  ~HostSpan() {
    if (trace_ != nullptr) trace_->add(thread_, what_, start_, clock_ns());
  }

 private:
  HostTrace* trace_;
  HostTrace::Ready what_;
  int thread_;
  std::uint64_t start_;
};

}  // namespace detail

/// Tasks are shared out in runs of consecutive ones, a run for each thread.
class HostFlow {
 public:
  static constexpr bool calls = true;
  static constexpr bool ranks = true;
  static constexpr bool on_host = true;

  /// cut: ascending numbers, one more than there are threads at work: all of the context's or one. Thread t has the
  /// tasks [cut[t], cut[t + 1]) of every stage with cut.back() tasks. Other stages are shared out evenly. links: of the
  /// ranks over which sums are added up; null: there is one. trace: of as many threads, gets spans of all that runs;
  /// null: none are recorded. All must outlive it.
  HostFlow(const Context& context, const std::vector<std::uint32_t>& cut, RankLinks* links = nullptr,
           HostTrace* trace = nullptr)
      : context_(context), cut_(cut), links_(links), trace_(trace), sums_(cut.size() - 1) {}

  template <class S>
  void stage(const S& stage, std::uint32_t tasks) {
    constexpr auto width = static_cast<std::size_t>(stage_width<S>);
    static_assert(width <= 16, "a stage adds up to 16 numbers");
    if constexpr (stage_has_slices<S>) {
      run_slices(stage, tasks);
    } else {
      HostTrace* const trace = this->trace();
      const HostTrace::Ready what = ready(trace, S::name, tasks);
      run([&](int thread) {
        const detail::HostSpan span(trace, what, thread);
        add_up(stage, thread, tasks, sums_[static_cast<std::size_t>(thread)].value);
      });
      finish(stage, sums_.data());
    }
  }

  template <class Call>
  void call(const Call& call) {
    HostTrace* const trace = this->trace();
    const detail::HostSpan span(trace, ready(trace, Call::name, 1), 0);
    const TraceOfCall<HostTrace> inside(trace);
    call(Stream{});
  }

  template <class Body>
  void when(const LoopCondition& condition, const Body& body) {
    if (*condition.word != 0) body();
  }
  template <class Body>
  void guard(const LoopCondition& condition, const Body& body) {
    when(condition, body);
  }
  template <class Body>
  void repeat(const LoopCondition& condition, const Body& body) {
    while (*condition.word != 0) body();
  }

 private:
  static constexpr std::uint32_t run_length = 512;  ///< a vector of these stays in the nearest cache

  /// Its own, or that of the call that it does the stages of.
  [[nodiscard]] HostTrace* trace() const {
    if (trace_ != nullptr) return trace_;
    HostTrace* const outer = TraceOfCall<HostTrace>::current();
    return outer != nullptr && sums_.size() <= outer->threads() ? outer : nullptr;
  }
  /// What spans are of that begin now.
  [[nodiscard]] static HostTrace::Ready ready(HostTrace* trace, std::string_view name, std::uint32_t tasks) {
    return trace != nullptr ? trace->ready(name, tasks) : HostTrace::Ready{};
  }
  /// A span of what one worker does when the tasks of a stage have ended: thread 0, which is the calling one.
  template <class S>
  [[nodiscard]] detail::HostSpan finishing() const {
    HostTrace* const trace = this->trace();
    if (trace == nullptr) return {nullptr, {}, 0};
    return {trace, trace->ready(std::string(S::name) + ": finish", 1), 0};
  }
  [[nodiscard]] std::uint32_t end_of(int thread, std::uint32_t tasks) const {
    const std::size_t next = static_cast<std::size_t>(thread) + 1;  // 0 for thread −1
    if (tasks == cut_.back()) return cut_[next];
    return static_cast<std::uint32_t>(std::uint64_t{tasks} * next / sums_.size());
  }
  template <class S>
  void add_up(const S& stage, int thread, std::uint32_t tasks, double* sums) const {
    if constexpr (stage_begins_before<S>)
      stage.before(static_cast<std::uint32_t>(thread), static_cast<std::uint32_t>(sums_.size()));
    if constexpr (stage_has_aside<S>) {
      if (thread == 0) stage.aside();
    }
    std::fill_n(sums, stage_width<S>, 0.0);
    run_tasks<stage_width<S>>(worker_of(stage), end_of(thread - 1, tasks), end_of(thread, tasks), sums);
  }
  /// The tasks [task, end), which add to `sums`. Inlined as a whole: a task is a few instructions, and a compiler may
  /// find it too large to have it here twice. By workers, not stages: a stage, what exchanges with other ranks before
  /// it and what does it for several columns have the same one. No other pointer leads to a copy of it, so that it need
  /// not be read again after each store.
  template <int width, class Worker>
  [[gnu::flatten]] static void run_tasks(const Worker& given, std::uint32_t task, std::uint32_t end, double* sums) {
    const Worker worker = given;
    double sum[std::size_t{width}];
    std::copy(sums, sums + width, sum);
    if constexpr (requires { worker.execute_run(task, end, sum); }) {
      for (; task < end; task += std::min(run_length, end - task)) {
        worker.execute_run(task, std::min(run_length, end - task), sum);
      }
    } else if constexpr (stage_has_runs<Worker>) {
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
    } else if constexpr (stage_has_parts<Worker>) {
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
      const detail::HostSpan span = finishing<S>();
      if constexpr (stage_sums<S>() > 0) {
        put<S>(sums, 0);
        take(stage, sums, 0);
        end_sums();
      } else {
        const double nothing[1] = {};
        stage.finish(nothing);
      }
    }
  }
  /// What all threads have of number k.
  [[nodiscard]] double total_of(const detail::HostSums* sums, std::uint32_t k) const {
    double total = 0.0;
    for (std::size_t thread = 0; thread < sums_.size(); ++thread) total += sums[thread].value[k];
    return total;
  }
  /// The sums of this rank, which are numbers `first` and following, to all ranks.
  template <class S>
  void put(const detail::HostSums* sums, std::uint32_t first) const {
    if (links_ == nullptr) return;
    for (std::uint32_t k = 0; k < stage_width<S>; ++k) {
      const double total = total_of(sums, k);
      for (std::uint32_t rank = 0; rank < links_->count; ++rank) links_->put_sum(rank, first + k, total);
    }
  }
  /// Finishes a stage or a slice with the sums of all ranks.
  template <class S>
  void take(const S& stage, const detail::HostSums* sums, std::uint32_t first) const {
    double total[static_cast<std::size_t>(stage_width<S>)] = {};
    for (std::uint32_t k = 0; k < stage_width<S>; ++k) {
      if (links_ == nullptr) total[k] = total_of(sums, k);
      for (std::uint32_t rank = 0; links_ != nullptr && rank < links_->count; ++rank)
        total[k] += links_->take_sum(rank, first + k);
    }
    stage.finish(total);
  }
  void end_sums() const {
    if (links_ != nullptr) links_->sum_set = 1U - links_->sum_set;
  }
  /// All slices without a wait between them, by runs of tasks: what these read in common is in the caches then.
  template <class S>
  void run_slices(const S& stage, std::uint32_t tasks) {
    const std::uint32_t slices = stage.slices();
    if (slice_sums_.size() < slices * sums_.size()) slice_sums_.resize(slices * sums_.size());
    HostTrace* const trace = this->trace();
    const HostTrace::Ready what = ready(trace, S::name, tasks);
    run([&](int thread) {
      const detail::HostSpan span(trace, what, thread);
      const auto sums_of = [&](std::uint32_t slice) {
        return slice_sums_[slice * sums_.size() + static_cast<std::size_t>(thread)].value;
      };
      for (std::uint32_t slice = 0; slice < slices; ++slice) std::fill_n(sums_of(slice), stage_width<S>, 0.0);
      const std::uint32_t end = end_of(thread, tasks);
      for (std::uint32_t task = end_of(thread - 1, tasks); task < end; task += std::min(run_length, end - task)) {
        for (std::uint32_t slice = 0; slice < slices; ++slice) {
          if (!is_idle(stage, slice))
            run_tasks<stage_width<S>>(stage.worker(slice), task, std::min(end, task + run_length), sums_of(slice));
        }
      }
    });
    finish_slices(stage, slices);
  }
  template <class S>
  void finish_slices(const S& stage, std::uint32_t slices) {
    using Slice = StageSlice<S>;
    if constexpr (stage_finishes<Slice>) {
      const detail::HostSpan span = finishing<S>();
      constexpr auto width = static_cast<std::uint32_t>(stage_width<Slice>);
      for (std::uint32_t slice = 0; slice < slices; ++slice)
        put<Slice>(&slice_sums_[slice * sums_.size()], slice * width);
      for (std::uint32_t slice = 0; slice < slices; ++slice) {
        if (!is_idle(stage, slice)) take(Slice{stage, slice}, &slice_sums_[slice * sums_.size()], slice * width);
      }
      end_sums();
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
  RankLinks* links_;
  HostTrace* trace_;
  std::vector<detail::HostSums> sums_;        ///< by thread
  std::vector<detail::HostSums> slice_sums_;  ///< by slice and thread
};

TASKDAG_ENGINE_END
