#include "quicksort.hpp"

#include "network.hpp"
#include "scan.hpp"
#include "taskdag/engine/runner.hpp"

namespace quicksort {

namespace engine = taskdag::engine;

using Key = std::uint32_t;

constexpr int kLanes = 256;
constexpr std::uint32_t kSmall = 1024;  ///< keys that one worker sorts in its shared memory; a power of two
constexpr Key kLargest = 0xFFFFFFFFU;

/// Ranges are partitioned from one buffer into the other; sorted keys end up in buffer 0.
struct Keys {
  Key* buffer[2];
};

struct Range {
  std::uint32_t first;
  std::uint32_t size;
  std::uint32_t buffer;  ///< that holds it
};

// [snippet small]
struct SortSmall {
  using Item = Range;
  static constexpr auto name = "sort small";
  static constexpr engine::WorkerSize worker = engine::block_worker(kLanes);
  static constexpr std::size_t shared_bytes = kSmall * sizeof(Key);
  static constexpr int max_children = 0;
  static constexpr bool waits = false;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Range& range) {
    const auto& group = context.group();
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    Key* const shared = reinterpret_cast<Key*>(context.shared());
    const Key* const from = context.data().buffer[range.buffer] + range.first;
    Key* const to = context.data().buffer[0] + range.first;
    std::uint32_t size = 1;
    while (size < range.size) size *= 2;
    for (std::uint32_t i = rank; i < size; i += lanes) shared[i] = i < range.size ? from[i] : kLargest;
    bitonic_sort(group, shared, size);
    for (std::uint32_t i = rank; i < range.size; i += lanes) to[i] = shared[i];
  }
};
// [snippet end]

/// The middle one of three keys from anywhere in the range, so that no order of the keys is a bad one for long.
TASKDAG_TASK inline Key pivot_of(const Key* keys, const Range& range) {
  Key sample[3];
  std::uint32_t random = range.first ^ range.size;
  for (Key& key : sample) {
    random = random * 1664525U + 1013904223U;  // D. E. Knuth, The Art of Computer Programming 2, section 3.3.4
    key = keys[(random >> 2U) % range.size];
  }
  const Key low = sample[0] < sample[1] ? sample[0] : sample[1];
  const Key high = sample[0] < sample[1] ? sample[1] : sample[0];
  return sample[2] < low ? low : sample[2] > high ? high : sample[2];
}

/// Smaller keys to the left, larger ones to the right of the other buffer; keys equal to the pivot are sorted then.
struct Partition {
  using Item = Range;
  static constexpr auto name = "partition";
  static constexpr engine::WorkerSize worker = engine::block_worker(kLanes);
  static constexpr std::uint32_t per_lane = 8;  ///< keys of a lane between two scans
  static constexpr std::size_t shared_bytes = std::size_t{2} * kLanes * sizeof(std::uint32_t);
  static constexpr int max_children = 2;
  static constexpr bool waits = false;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Range& range) {
    const auto& group = context.group();
    const auto rank = static_cast<std::uint32_t>(group.rank());
    const auto lanes = static_cast<std::uint32_t>(group.size());
    auto* const scratch = reinterpret_cast<std::uint32_t*>(context.shared());
    const Key* const from = context.data().buffer[range.buffer] + range.first;
    Key* const to = context.data().buffer[1 - range.buffer] + range.first;
    Key* const sorted = context.data().buffer[0] + range.first;

    const Key pivot = pivot_of(from, range);
    std::uint32_t smaller = 0;
    std::uint32_t larger = 0;
    for (std::uint32_t tile = 0; tile < range.size; tile += lanes * per_lane) {
      Key keys[per_lane];
      std::uint32_t mine = 0;  // smaller keys, and larger ones times 2^16: one scan for both
      for (std::uint32_t k = 0; k < per_lane; ++k) {
        const std::uint32_t i = tile + k * lanes + rank;
        keys[k] = i < range.size ? from[i] : pivot;
        mine += keys[k] < pivot ? 1U : keys[k] > pivot ? 0x10000U : 0U;
      }
      const Scan places = scan(group, scratch, mine);
      std::uint32_t left = smaller + (places.before & 0xFFFFU);
      std::uint32_t right = range.size - 1U - larger - (places.before >> 16U);
      for (const Key key : keys) {
        if (key < pivot) to[left++] = key;
        if (key > pivot) to[right--] = key;
      }
      smaller += places.total & 0xFFFFU;
      larger += places.total >> 16U;
    }
    // `from` may be `sorted`: its last keys were read before the last scan.
    for (std::uint32_t i = smaller + rank; i < range.size - larger; i += lanes) sorted[i] = pivot;

    // [snippet children]
    group.sync();  // lane 0 hands on what all lanes have written
    if (rank == 0) {
      create(context, {range.first, smaller, 1 - range.buffer});
      create(context, {range.first + range.size - larger, larger, 1 - range.buffer});
    }
    // [snippet end]
  }

 private:
  template <class Context>
  TASKDAG_TASK static void create(Context& context, const Range& range) {
    if (range.size > kSmall) {
      context.template enqueue<Partition>(range);
    } else if (range.size > 0) {
      context.template enqueue<SortSmall>(range);
    }
  }
};
static_assert(Partition::per_lane * kLanes < 0x10000U, "counts of a tile fit into half a word");

using Program = engine::Program<Keys, engine::PhaseQueue<engine::Phaseless<Partition, SortSmall>>>;

Sorted sort(const taskdag::Context& context, const example::EngineOptions& options, std::span<const Key> keys) {
  const engine::Array<Key> first(context, keys);
  const engine::Array<Key> second(context, keys.size());
  engine::Runner<Program> runner(context, options.runner);
  if (!keys.empty()) runner.enqueue<Partition>({0, static_cast<std::uint32_t>(keys.size()), 0});
  const engine::Report report = runner.run({{first.data(), second.data()}}, options.run);
  return {report, first.download()};
}

}  // namespace quicksort
