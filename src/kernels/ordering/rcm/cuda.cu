#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <utility>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "kernels/ordering/graph/components.hpp"
#include "kernels/ordering/rcm/cuda.hpp"
#include "kernels/ordering/rcm/host.hpp"
#include "kernels/ordering/rcm/walk.hpp"

// All components are walked at once. The first walk, in any order inside a level, starts from each component's least
// node (by degree, then index). Each later one starts from the least node of a component's last level and is ordered at
// once: where its depth is no greater than that of the walk before, the start is the one that is sought, and the order
// is already there. So a component takes as many walks as the search alone, and one component of a million nodes costs
// as many launches as a million components of one.
namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;
using cuda::with_scratch;

constexpr Index kNoNode = 0x7FFFFFFF;

/// What is known of each component, at the index of its root.
struct Components {
  Index* least_node;  ///< in the numbering of the matrix
  Index* depth;       ///< of the last walk that went deeper than those before
  Index* reached;     ///< of this walk
  Index* farthest;    ///< least rank in this walk's last level
  bool* settled;      ///< this walk's order stays
};

__global__ void clear_components(Index nodes, Components components) {
  const auto v = static_cast<Index>(element());
  if (v >= nodes) return;
  components.least_node[v] = kNoNode;
  components.depth[v] = -1;
  components.reached[v] = -1;
  components.farthest[v] = kNoNode;
  components.settled[v] = false;
}

__global__ void find_least_nodes(Index nodes, const Index* root, const Index* node_of, Components components) {
  const auto v = static_cast<Index>(element());
  if (v >= nodes) return;
  Index* const least = components.least_node + root[v];
  if (node_of[v] < __ldcg(least)) atomicMin(least, node_of[v]);
}

/// Roots that have neighbours. `isolated`: ranks below have none.
__global__ void list_roots(Index nodes, Index isolated, const Index* root, Index* list, Index* count) {
  const auto v = static_cast<Index>(element()) + isolated;
  if (v < nodes && root[v] == v) list[atomicAdd(count, 1)] = v;
}

/// What a walk leaves, for kernels.
struct Walked {
  Levels levels;
  const Index* queue;
  const Index* level_begin;
};

__device__ Index level_of(const Walked& walked, Index position) {
  return cuda::first_not_below(walked.level_begin, 0, walked.levels.levels, position + 1) - 1;
}

__global__ void measure_depth(Walked walked, const Index* root, Components components) {
  const auto p = static_cast<Index>(element());
  if (p >= walked.levels.nodes) return;
  const Index level = level_of(walked, p);
  Index* const reached = components.reached + root[walked.queue[p]];
  if (level > __ldcg(reached)) atomicMax(reached, level);
}

__global__ void find_farthest(Walked walked, const Index* root, Components components) {
  const auto p = static_cast<Index>(element());
  if (p >= walked.levels.nodes) return;
  const Index v = walked.queue[p];
  const Index r = root[v];
  if (level_of(walked, p) != components.reached[r]) return;
  if (v < __ldcg(components.farthest + r)) atomicMin(components.farthest + r, v);
}

/// Components that went deeper walk again: their farthest node goes to `starts`, their root to `next`.
__global__ void decide(Index count, const Index* roots, bool ordered, Components components, Index* starts, Index* next,
                       Index* next_count) {
  const auto k = static_cast<Index>(element());
  if (k >= count) return;
  const Index r = roots[k];
  if (ordered && components.reached[r] <= components.depth[r]) {
    components.settled[r] = true;
    return;
  }
  const Index index = atomicAdd(next_count, 1);
  next[index] = r;
  starts[index] = components.farthest[r];
  components.depth[r] = components.reached[r];
  components.reached[r] = -1;
  components.farthest[r] = kNoNode;
}

/// The positions of nodes whose component has settled in this walk or an earlier one: the latter are not in the queue.
__global__ void keep_positions(Walked walked, const Index* root, Components components, Index* position_of) {
  const auto p = static_cast<Index>(element());
  if (p >= walked.levels.nodes) return;
  const Index v = walked.queue[p];
  if (components.settled[root[v]]) position_of[v] = p;
}

__global__ void reverse_into(Index nodes, const Index* queue, const Index* node_of, Index* order) {
  const auto p = static_cast<Index>(element());
  if (p < nodes) order[nodes - 1 - p] = node_of[queue[p]];
}

__global__ void keys_of_nodes(Index nodes, const Index* root, const Index* position_of, Components components,
                              std::uint64_t* key) {
  const auto v = static_cast<Index>(element());
  if (v >= nodes) return;
  const Index r = root[v];
  key[v] = (static_cast<std::uint64_t>(components.least_node[r]) << 32) | static_cast<std::uint32_t>(position_of[v]);
}

/// The search and the ordering of one graph.
class Orderer {
 public:
  Orderer(const RankedGraph& ranked, cudaStream_t stream)
      : ranked_(ranked),
        nodes_(ranked.graph.nodes),
        stream_(stream),
        walker_(ranked, stream),
        root_(at(nodes_), stream),
        least_node_(at(nodes_), stream),
        depth_(at(nodes_), stream),
        reached_(at(nodes_), stream),
        farthest_(at(nodes_), stream),
        settled_(at(nodes_), stream),
        position_of_(at(nodes_), stream),
        two_lists_(2 * at(nodes_), stream),
        roots_(two_lists_.data()),
        next_roots_(two_lists_.data() + nodes_),
        starts_(at(nodes_), stream),
        count_(1, stream),
        components_{least_node_.data(), depth_.data(), reached_.data(), farthest_.data(), settled_.data()} {}

  /// `begin_ordering` is recorded before the last walk. @returns whether the first walk gave up: there is no order then
  bool run(Index* order, const cuda::UniqueEvent& begin_ordering) {
    launch(nodes_, [&](int blocks) { clear_components<<<blocks, kElementBlock, 0, stream_>>>(nodes_, components_); });
    cuda::check(cudaMemsetAsync(position_of_.data(), 0, position_of_.size() * sizeof(Index), stream_),
                "clearing positions");
    find_components(ranked_, root_.data(), stream_);
    Index count = first_starts();
    const bool connected = count == 1 && ranked_.isolated == 0;
    begin_ordering.record(stream_);
    for (bool ordered = false; count > 0; ordered = true) {
      cuda::copy_on_device(walker_.starts(), starts_.data(), at(count), stream_);
      begin_ordering.record(stream_);
      const Levels levels = walker_.walk(count, ordered);
      if (levels.gave_up) return true;
      count = evaluate({levels, walker_.queue(), walker_.level_begin()}, count, ordered, !connected);
    }
    if (connected) {
      launch(nodes_, [&](int blocks) {
        reverse_into<<<blocks, kElementBlock, 0, stream_>>>(nodes_, walker_.queue(), ranked_.node_of.data(), order);
      });
    } else {
      sort_components(order);
    }
    return false;
  }

 private:
  template <class Launch>
  void launch(std::int64_t elements, const Launch& launch_blocks) {
    if (elements == 0) return;
    launch_blocks(element_blocks(elements));
    cuda::check_launch("a kernel of reverse Cuthill-McKee");
  }

  Index fetch_count() { return cuda::fetch(count_.data(), stream_); }
  void clear_count() { cuda::check(cudaMemsetAsync(count_.data(), 0, sizeof(Index), stream_), "clearing a count"); }

  /// Fills roots_ and starts_. @returns how many there are. Synchronises.
  Index first_starts() {
    clear_count();
    launch(nodes_ - ranked_.isolated, [&](int blocks) {
      list_roots<<<blocks, kElementBlock, 0, stream_>>>(nodes_, ranked_.isolated, root_.data(), roots_, count_.data());
    });
    const Index count = fetch_count();
    cuda::copy_on_device(starts_.data(), roots_, at(count), stream_);
    return count;
  }

  /// Settles components, prepares the next walk. @returns how many components walk again. Synchronises.
  Index evaluate(const Walked& walked, Index count, bool ordered, bool keep) {
    const Index walked_nodes = walked.levels.nodes;
    launch(walked_nodes, [&](int blocks) {
      measure_depth<<<blocks, kElementBlock, 0, stream_>>>(walked, root_.data(), components_);
    });
    launch(walked_nodes, [&](int blocks) {
      find_farthest<<<blocks, kElementBlock, 0, stream_>>>(walked, root_.data(), components_);
    });
    clear_count();
    launch(count, [&](int blocks) {
      decide<<<blocks, kElementBlock, 0, stream_>>>(count, roots_, ordered, components_, starts_.data(), next_roots_,
                                                    count_.data());
    });
    if (ordered && keep) {
      launch(walked_nodes, [&](int blocks) {
        keep_positions<<<blocks, kElementBlock, 0, stream_>>>(walked, root_.data(), components_, position_of_.data());
      });
    }
    std::swap(roots_, next_roots_);
    return fetch_count();
  }

  /// Components by their least node, positions inside; all reversed.
  void sort_components(Index* order) {
    launch(nodes_, [&](int blocks) {
      find_least_nodes<<<blocks, kElementBlock, 0, stream_>>>(nodes_, root_.data(), ranked_.node_of.data(),
                                                              components_);
    });
    const ScratchArray<std::uint64_t> key(at(nodes_), stream_);
    const ScratchArray<std::uint64_t> sorted(at(nodes_), stream_);
    launch(nodes_, [&](int blocks) {
      keys_of_nodes<<<blocks, kElementBlock, 0, stream_>>>(nodes_, root_.data(), position_of_.data(), components_,
                                                           key.data());
    });
    const int bits = 32 + std::bit_width(static_cast<std::uint32_t>(nodes_));
    with_scratch(
        [&](void* scratch, std::size_t& bytes) {
          return cub::DeviceRadixSort::SortPairsDescending(scratch, bytes, key.data(), sorted.data(),
                                                           ranked_.node_of.data(), order, nodes_, 0, bits, stream_);
        },
        stream_);
  }

  const RankedGraph& ranked_;
  Index nodes_;
  cudaStream_t stream_;
  Walker walker_;
  ScratchArray<Index> root_;  ///< rank → least rank of its component
  ScratchArray<Index> least_node_;
  ScratchArray<Index> depth_;
  ScratchArray<Index> reached_;
  ScratchArray<Index> farthest_;
  ScratchArray<bool> settled_;
  ScratchArray<Index> position_of_;  ///< rank → position in the queue of the walk that settled its component
  ScratchArray<Index> two_lists_;
  Index* roots_;  ///< of the components that walk
  Index* next_roots_;
  ScratchArray<Index> starts_;
  ScratchArray<Index> count_;
  Components components_;
};

}  // namespace

namespace {

/// A graph of many levels with few nodes each: the pattern goes to the host, the order comes back.
void order_on_host(const DevicePattern& a, Index* order, OrderingTimes& times, cudaStream_t stream) {
  const std::vector<Offset> offsets = cuda::fetch_array(a.row_offsets, at(a.rows) + 1, stream);
  const std::vector<Index> columns = cuda::fetch_array(a.col_indices, at(a.entries), stream);
  std::vector<Index> host_order(at(a.rows));
  host::ThreadPool one(1);
  host_reverse_cuthill_mckee({a.rows, a.rows, offsets.data(), columns.data()}, one, host_order.data(), &times);
  cuda::copy_to_device(order, host_order.data(), host_order.size(), stream);
  cuda::synchronize(stream);
}

}  // namespace

void cuda_reverse_cuthill_mckee(const DevicePattern& a, Index* order, OrderingTimes* times, cudaStream_t stream) {
  if (a.rows == 0) return;
  const cuda::UniqueEvent begin;
  const cuda::UniqueEvent begin_search;
  const cuda::UniqueEvent begin_ordering;
  const cuda::UniqueEvent end;
  begin.record(stream);
  const RankedGraph ranked = rank_by_degree(symmetrised_graph(a, stream), stream);
  begin_search.record(stream);
  const bool gave_up = Orderer(ranked, stream).run(order, begin_ordering);
  end.record(stream);
  cuda::synchronize(stream);
  OrderingTimes spent;
  if (gave_up) order_on_host(a, order, spent, stream);
  if (!times) return;
  const auto seconds = [](const cuda::UniqueEvent& from, const cuda::UniqueEvent& to) {
    return 1e-3 * static_cast<double>(to.milliseconds_since(from));
  };
  times->graph = spent.graph + seconds(begin, begin_search);
  times->search = spent.search + seconds(begin_search, gave_up ? end : begin_ordering);
  times->ordering = spent.ordering + (gave_up ? 0.0 : seconds(begin_ordering, end));
  times->handed_to_host = gave_up;
}

}  // namespace taskdag::kernels
