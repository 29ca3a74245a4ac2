/// \file
/// SortDelegate: what comes after a step of the sort.
#pragma once

#include "papers/pichler/rcm/permutation/narrow_level.hpp"
#include "papers/pichler/rcm/sort/create_data.hpp"
#include "papers/pichler/rcm/sort/create_steps.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Creates the tasks of the next step: SortGlobal where its distance is a chunk or more, else SortBlock; or, where the
/// keys are sorted, the CreateSortData tasks of the next level. Levels of at most `narrow` nodes it makes by itself.
template <class Flow>
struct SortDelegate {
  using Item = SortProgress;
  static constexpr auto name = "sort delegate";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = kNarrowScratch;
  static constexpr int max_children = kMostTasks + 1;
  static constexpr bool waits = Flow::waits;
  using Creates =
      engine::Types<CreateSortData<Flow>, CompressSortData<Flow>, SortBlock<Flow>, SortGlobal<Flow>, SortDelegate>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& ended) {
    const PermutationData& data = context.data();
    if (ended.start >= 0) {
      begin(context, ended.start);
      next_level(context);
      return;
    }
    const std::uint32_t children = data.state->children;
    std::uint32_t run = ended.run;
    std::uint32_t distance = ended.distance / 2;
    if (ended.distance == 0) {  // the run is merged
      run *= 2;
      distance = run / 2;
    }
    if (run == 0 || run > data.padded(children)) {
      next_level(context);
    } else if (distance >= data.chunk) {
      create_sort_steps<Flow, SortGlobal<Flow>>(context, children, run, distance);
    } else {
      create_sort_steps<Flow, SortBlock<Flow>>(context, children, run, 0);
    }
  }

 private:
  /// The start node as a level of its own.
  template <class Context>
  TASKDAG_TASK static void begin(Context& context, Index start) {
    const PermutationData& data = context.data();
    if (context.group().rank() == 0) {
      data.keys[0] = data.key(1, start);
      data.parents[start] = kPlaced;
      data.state->end = *data.placed;
      data.state->children = 1;
    }
    context.group().sync();
  }

  /// The children become parents, as long as there is a level that needs no tasks.
  template <class Context>
  TASKDAG_TASK static void next_level(Context& context) {
    const PermutationData& data = context.data();
    const auto& group = context.group();
    Index first = data.state->end;
    auto size = static_cast<Index>(data.state->children);
    while (true) {
      group.sync();  // all lanes have read
      enter(group, *data.state, first, size);
      if (size > data.narrow) break;
      const ParentRange level{first, first + size, first};
      const std::uint32_t children = make_narrow_level(group, context.shared(), data, level);
      if (children == 0) {
        if (group.rank() == 0) *data.placed = level.end;
        return;
      }
      if (children > data.chunk) {
        if (group.rank() == 0) context.template enqueue<CompressSortData<Flow>>({-1, -1});
        return;
      }
      first = level.end;
      size = static_cast<Index>(children);
    }
    const Share share(size, CreateSortData<Flow>::least);
    for (int task = group.rank(); task < share.tasks; task += group.size()) {
      context.template enqueue<CreateSortData<Flow>>({first + share.begin(task), first + share.end(task), first});
    }
    Flow::template after<CompressSortData<Flow>>(context, {-1, -1}, share.tasks);
  }

  template <class Group>
  TASKDAG_TASK static void enter(const Group& group, LevelState& state, Index first, Index size) {
    if (group.rank() == 0) {
      state.first = first;
      state.end = first + size;
      state.children = 0;
      state.touched = 0;
      ++state.levels;
    }
    group.sync();
  }
};

}  // namespace taskdag::kernels::rcm_tasks
