/// \file
/// SortBlock: steps of the network within the worker's own chunk.
#pragma once

#include "kernels/rcm/tasks/types.hpp"

namespace taskdag::kernels::rcm_tasks {

/// One pass of algorithm A.2's inner loop over a chunk in shared memory; `at`: place of the chunk among all keys.
template <class Group>
TASKDAG_TASK void swap_in_chunk(const Group& group, SortKey* keys, std::uint32_t at, std::uint32_t run,
                                std::uint32_t distance) {
  const auto lanes = static_cast<std::uint32_t>(group.size());
  for (auto pair = static_cast<std::uint32_t>(group.rank()); pair < kChunk / 2; pair += lanes) {
    const std::uint32_t low = 2 * pair - (pair & (distance - 1));
    const std::uint32_t high = low + distance;
    const bool up = ((at + low) & run) == 0;
    const SortKey a = keys[low];
    const SortKey b = keys[high];
    const bool swap = (a > b) == up;  // no two keys are equal but the padding
    keys[low] = swap ? b : a;
    keys[high] = swap ? a : b;
  }
  group.sync();
}

/// Sorts its chunks, each up or down in turns (run == kChunk), or ends the merging of runs that are longer than a
/// chunk.
template <class Flow>
struct SortBlock {
  using Item = SortStep;
  static constexpr auto name = "sort block";
  static constexpr engine::WorkerSize worker = kWorker;
  static constexpr std::size_t shared_bytes = sizeof(SortKey) * kChunk;
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
    const std::uint32_t count = step.run == kChunk ? data.state->children : padded(data.state->children);
    for (std::uint32_t chunk = step.first; chunk < step.end; ++chunk) {
      const std::uint32_t at = chunk * kChunk;
      for (std::uint32_t i = rank; i < kChunk; i += lanes) keys[i] = at + i < count ? data.keys[at + i] : kLargestKey;
      group.sync();
      for (std::uint32_t run = step.run == kChunk ? 2 : step.run; run <= step.run; run *= 2) {
        const std::uint32_t longest = run < kChunk ? run / 2 : kChunk / 2;
        for (std::uint32_t distance = longest; distance > 0; distance /= 2) {
          swap_in_chunk(group, keys, at, run, distance);
        }
      }
      for (std::uint32_t i = rank; i < kChunk; i += lanes) data.keys[at + i] = keys[i];
      group.sync();
    }
    Flow::template done<SortDelegate<Flow>>(context, step.first == 0, {step.run, step.distance, -1});
  }
};

}  // namespace taskdag::kernels::rcm_tasks
