/// \file
/// SortBlock: steps of the network within the worker's own chunk.
#pragma once

#include "papers/pichler/rcm/sort/network.hpp"
#include "papers/pichler/rcm/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Sorts its chunks, each up or down in turns (run == chunk), or ends the merging of runs that are longer than a
/// chunk.
template <class Flow>
struct SortBlock {
  using Item = SortStep;
  static constexpr auto name = "sort block";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(SortKey) * kMostChunk;
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<SortDelegate<Flow>>;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& step) {
    const PermutationData& data = context.data();
    const auto& group = context.group();
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    auto* const keys = reinterpret_cast<SortKey*>(context.shared());
    const std::uint32_t children = data.state->children;
    const bool whole = step.run == data.chunk;  // sorts its chunks from the beginning
    const std::uint32_t count = whole ? children : data.padded(children);
    std::uint32_t size = data.chunk;
    while (whole && size > 1 && size / 2 >= children) size /= 2;  // few keys need no full chunk
    for (std::uint32_t chunk = step.first; chunk < step.end; ++chunk) {
      const std::uint32_t at = chunk * data.chunk;
      for (std::uint32_t i = rank; i < size; i += lanes) keys[i] = at + i < count ? data.keys[at + i] : kLargestKey;
      group.sync();
      const std::uint32_t last = whole ? size : step.run;
      for (std::uint32_t run = whole ? 2 : step.run; run <= last; run *= 2) merge_runs(group, keys, size, at, run);
      for (std::uint32_t i = rank; i < size; i += lanes) data.keys[at + i] = keys[i];
      group.sync();
    }
    Flow::template done<SortDelegate<Flow>>(context, step.first == 0, {step.run, step.distance, -1});
  }
};

}  // namespace taskdag::kernels::rcm_tasks
