/// \file
/// Loops: programs whose tasks are all known beforehand and run again and again until one of them says that it is
/// enough.
///
/// A loop is made of *stages*. A stage is a task type with so many tasks, all independent; its tasks may add numbers
/// up, and when all of them have ended, one worker gets the sums and *finishes* the stage: it may write what later
/// stages read, and decide whether the loop goes on. The next stage begins after that. What is no stage but the
/// launches of another object is a *call*, a function of a stream whose type has a name, too. What comes next may
/// depend on a condition that a stage before has set: flow.when() does something once or not, flow.repeat() as long as
/// its own stages say so. flow.guard() is flow.when() for little that is mostly done: on CUDA neither host nor graph
/// look whether it is to be done, its stages do nothing where it is not, and its calls are made all the same. A method
/// writes down its stages once, as a template over the *flow* that runs them: a CUDA stream or the graph captured from
/// it, one thread block, host threads (cuda.cuh, host.hpp).
///
/// | in the type of a stage                        | meaning; what holds where it is missing               |
/// |-----------------------------------------------|-------------------------------------------------------|
/// | static constexpr const char* name             | for reports; required                                 |
/// | static constexpr int sums                     | numbers that are added up; 0                          |
/// | static constexpr int blocks_of_a_multiprocessor | for CUDA: fewer blocks at a time than there may be, |
/// |                                               | where a task needs more registers; as many as may be  |
/// | double part(task, rank, size) const           | what one of `size` workers that share a task has of   |
/// |                                               | it; a task has one worker                             |
/// | void execute(task, double* sum) const         | the task; adds to sum[0 … sums − 1]                   |
/// | void execute(task, double part, double* sum)  | the same with parts: `part` is the sum of them        |
/// | void finish(const double* sum) const          | after all tasks, by one worker; nothing               |
/// | void before(first, stride) const              | beside the tasks, pieces `first`, first + stride, …   |
/// |                                               | of what other ranks wait for; waits for none itself;  |
/// |                                               | nothing                                               |
/// | void aside() const                            | beside the tasks, by one worker, what finish() needs; |
/// |                                               | nothing. Not with slices                              |
/// | auto worker() const                           | has part() and execute() in place of the stage's, and |
/// |                                               | what it reads once for all of its tasks               |
/// | void execute_run(task, count, double* sum)    | in a worker's type: consecutive tasks, on host        |
/// |                                               | threads in place of execute(); nothing                |
///
/// A worker whose part() also takes a TaskRun and a TaskOfRun is asked on host threads for the parts of consecutive
/// tasks at once. One whose part() also takes a TaskGroup may be given to StreamFlow::stage_of_groups(), where the same
/// workers do a few consecutive tasks.
///
/// How many numbers are added up may be known to the loop alone. Such a stage has *slices*: all its tasks are done for
/// each, and add up `sums` numbers of that slice. Tasks with parts are done for several slices while what they read of
/// the matrix is in the nearest caches.
///
/// | in the type of a stage with slices            | meaning                                               |
/// |-----------------------------------------------|-------------------------------------------------------|
/// | std::uint32_t slices() const                  | how many; the same until all have finished            |
/// | std::uint32_t most_slices() const             | at most, whenever; on the host                        |
/// | bool idle(slice) const                        | whether a slice is left out; changed by its own       |
/// |                                               | finish() alone; none is                               |
/// | auto worker(slice) const                      | of one of them                                        |
/// | void finish(slice, const double* sum) const   | after all tasks of the slice, by one worker; others   |
/// |                                               | may finish other slices, or be at work on them, so it |
/// |                                               | may not write what these read; nothing                |
///
/// part(), execute(), finish() and worker() are TASKDAG_TASK. Sums are added up in an order that depends on the number
/// of tasks and of workers that share one alone, on the host on the number of threads, too.
#pragma once

#include <cstdint>

#include "taskdag/engine/platform.hpp"

TASKDAG_ENGINE_BEGIN

/// Whether graphs may have loops: their conditions are set by a function of CUDA's that relocatable device code alone
/// can be linked with.
#if defined(__CUDACC_RDC__)
inline constexpr bool graphs_have_loops = true;
#else
inline constexpr bool graphs_have_loops = false;
#endif

/// Whether something is done once more. Written by finish(), on CUDA also into the graph's conditional node.
struct LoopCondition {
  std::uint32_t* word = nullptr;  ///< in memory of the backend
  std::uint64_t node = 0;         ///< handle of the conditional node; 0: none

  TASKDAG_TASK void set(bool again) const {
    *word = again ? 1U : 0U;
#if defined(__CUDA_ARCH__) && defined(__CUDACC_RDC__)
    if (node != 0) cudaGraphSetConditional(node, again ? 1U : 0U);
#endif
  }
};

/// Consecutive tasks whose parts are wanted at once. part() returns what has become of that.
struct TaskRun {
  static constexpr double one_by_one = 0.0;  ///< nothing: each is to be asked for by itself
  static constexpr double done = 1.0;        ///< they are in `parts`
  std::uint32_t first;
  std::uint32_t count;
  double* parts;  ///< room for a number each
};
/// A task of a run whose parts are asked for one by one.
struct TaskOfRun {
  std::uint32_t task;
};

/// On CUDA: threads that share a task of a stage that is a launch; where it is a phase of one kernel, up to 32 do.
inline constexpr int most_threads_of_task = 256;

/// Consecutive tasks that the same workers do, on CUDA, since what they read is the same in part.
struct TaskGroup {
  static constexpr int most = 3;
  std::uint32_t first;
  std::uint32_t count;
};
/// What a worker has of each of them.
struct GroupParts {
  double of[TaskGroup::most] = {};
};

/// Who does the tasks: a worker, or the stage itself.
template <class S>
TASKDAG_TASK constexpr decltype(auto) worker_of(const S& stage) {
  if constexpr (requires { stage.worker(); }) {
    return stage.worker();
  } else {
    return (stage);
  }
}
template <class S>
inline constexpr bool stage_has_parts = requires(const S& stage) {
  worker_of(stage).part(std::uint32_t{}, 0, 1);
};
template <class S>
inline constexpr bool stage_has_runs = requires(const S& stage) {
  worker_of(stage).part(TaskRun{}, 0, 1);
};
template <class S>
inline constexpr bool stage_finishes = requires(const S& stage, const double* sum) {
  stage.finish(sum);
};
template <class S>
inline constexpr bool stage_begins_before = requires(const S& stage) {
  stage.before(std::uint32_t{}, std::uint32_t{});
};
template <class S>
inline constexpr bool stage_has_aside = requires(const S& stage) {
  stage.aside();
};
template <class S>
inline constexpr bool stage_has_slices = requires(const S& stage) {
  stage.slices();
};
template <class S>
TASKDAG_TASK bool is_idle(const S& stage, std::uint32_t slice) {
  if constexpr (requires { stage.idle(slice); }) return stage.idle(slice);
  return false;
}
template <class S>
TASKDAG_TASK constexpr int stage_sums() {
  if constexpr (requires { S::sums; }) return S::sums;
  return 0;
}
/// Of an array of sums, which no language lets be empty.
template <class S>
inline constexpr int stage_width = stage_sums<S>() > 0 ? stage_sums<S>() : 1;

/// One slice of a stage, which is a stage.
template <class S>
struct StageSlice {
  static constexpr const char* name = S::name;
  static constexpr int sums = stage_sums<S>();
  const S& stage;
  std::uint32_t slice;
  [[nodiscard]] TASKDAG_TASK auto worker() const { return stage.worker(slice); }
  TASKDAG_TASK void finish(const double* sum) const requires requires(const S& s) { s.finish(0U, sum); }
  { stage.finish(slice, sum); }
};

TASKDAG_ENGINE_END
