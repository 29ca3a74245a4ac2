#include <cooperative_groups.h>

#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/cooperative.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/generation.hpp"
#include "backends/cuda/launch.hpp"
#include "base/index.hpp"
#include "kernels/ordering/rcm/walk.hpp"
#include "kernels/ordering/rcm/walk/team.cuh"
#include "kernels/ordering/rcm/walk/wide.cuh"

// One kernel walks all levels. Levels of few nodes are walked by block 0 alone, whose barrier costs nanoseconds; those
// of some thousand by the cluster of blocks that it belongs to, whose barrier costs a few hundred (from compute
// capability 9.0 on), because one multiprocessor alone has too few memory requests in flight; the others wait at the
// grid's barrier meanwhile. Wider ones are walked by the whole grid, which is launched cooperatively.
namespace taskdag::kernels {
namespace {

using namespace rcm;

/// Levels of so many nodes times lanes are walked by one block, by a cluster. Measured on an H200.
constexpr Index kNarrowWithCluster = 1024;
constexpr Index kNarrowAlone = kListed;
constexpr Index kMiddle = 8192;

template <bool kOrdered>
__global__ void __launch_bounds__(kBlock, 1) walk_levels(Walk walk) {
  __shared__ Index lists[2 * kListed];
  const cg::grid_group grid = cg::this_grid();
  Index begin = 0;
  Index end = walk.starts;
  Index level = 0;
  Index wide = 0;
  while (begin < end) {
    if (end - begin <= walk.middle) {
      if (blockIdx.x < team_size()) walk_team<kOrdered>(walk, begin, end, level, lists);
      grid.sync();
      begin = __ldcg(&walk.state->begin);
      end = __ldcg(&walk.state->end);
      level = __ldcg(&walk.state->level);
    } else {
      const Index new_end = walk_wide<kOrdered>(walk, begin, end, level, wide++);
      begin = end;
      end = new_end;
      ++level;
      if (begin == end && grid.thread_rank() == 0) {
        walk.level_begin[level] = end;
        walk.state->end = end;
        walk.state->level = level;
      }
    }
  }
}

__global__ void free_all(Index nodes, Index* owner, State* state) {
  const auto v = static_cast<Index>(cuda::element());
  if (v < nodes) owner[v] = kFree;
  if (v == 0) *state = {0, 0, 0, 0, {0, 0, 0}};
}

__global__ void own_starts(Index starts, const Index* queue, Index* owner) {
  const auto p = static_cast<Index>(cuda::element());
  if (p < starts) owner[queue[p]] = -1;
}

int log2_lanes_for(const DeviceGraph& graph) {
  const EdgeOffset average = graph.nodes == 0 ? 0 : graph.entries / graph.nodes;
  int log2_lanes = 0;
  while (log2_lanes < 5 && (EdgeOffset{kBatch} << log2_lanes) < average) ++log2_lanes;
  return log2_lanes;
}

/// As many blocks as can run at the same time and have something to do; in clusters where device and code have them.
WalkShape shape_for(Index nodes) {
  const int useful = std::max(1, std::min(cuda::device_limits().multiprocessors, nodes / kBlock));
  if (cuda::generation() < 90 || useful < kTeam) return {useful, 1};
  cuda::Launch launch(kTeam, kBlock, 0, nullptr);
  const cudaLaunchConfig_t& config = launch.clusters_of(kTeam).config();
  int clusters = 0;
  int clusters_unordered = 0;
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters, walk_levels<true>, &config), "asking for clusters");
  cuda::check(cudaOccupancyMaxActiveClusters(&clusters_unordered, walk_levels<false>, &config), "asking for clusters");
  clusters = std::min(clusters, clusters_unordered);
  if (clusters == 0) return {useful, 1};
  return {kTeam * std::min(clusters, useful / kTeam), kTeam};
}

/// What to try where a shape does not fit the stream's share of the device: half as many clusters, and after one of
/// them as many blocks that are in none.
WalkShape smaller(const WalkShape& shape) {
  const int clusters = shape.blocks / shape.team;
  if (clusters > 1) return {(clusters + 1) / 2 * shape.team, shape.team};
  return {shape.team, 1};
}

}  // namespace

Walker::Walker(const RankedGraph& ranked, cudaStream_t stream)
    : graph_(ranked.graph.view()),
      log2_lanes_(log2_lanes_for(ranked.graph)),
      hub_(Index{64} << log2_lanes_),
      hubs_(ranked.most_neighbours > hub_),
      shape_(shape_for(ranked.graph.nodes)),
      stream_(stream),
      queue_(at(ranked.graph.nodes), stream),
      level_begin_(at(ranked.graph.nodes) + 1, stream),
      owner_(at(ranked.graph.nodes), stream),
      block_total_(static_cast<std::size_t>(shape_.blocks), stream),
      state_(sizeof(State) / sizeof(Index), stream) {}

Levels Walker::walk(Index starts, bool ordered) {
  if (starts == 0) return {};
  auto* const state = reinterpret_cast<State*>(state_.data());
  free_all<<<cuda::element_blocks(graph_.nodes), cuda::kElementBlock, 0, stream_>>>(graph_.nodes, owner_.data(), state);
  cuda::check_launch("free_all");
  own_starts<<<cuda::element_blocks(starts), cuda::kElementBlock, 0, stream_>>>(starts, queue_.data(), owner_.data());
  cuda::check_launch("own_starts");
  while (!launch(starts, ordered)) shape_ = smaller(shape_);
  const State reached = cuda::fetch(state, stream_);
  return {reached.level, reached.end, reached.gave_up != 0};
}

bool Walker::launch(Index starts, bool ordered) const {
  const bool clusters = shape_.team > 1;
  const Index narrow = (clusters ? kNarrowWithCluster : kNarrowAlone) >> log2_lanes_;
  const Walk walk{graph_,
                  log2_lanes_,
                  hub_,
                  hubs_,
                  narrow,
                  clusters ? std::min(kMiddle >> log2_lanes_, shape_.team * kListed) : narrow,
                  starts,
                  queue_.data(),
                  level_begin_.data(),
                  owner_.data(),
                  block_total_.data(),
                  reinterpret_cast<State*>(state_.data())};
  cuda::Launch launch(shape_.blocks, kBlock, 0, stream_);
  launch.cooperative();
  if (clusters) launch.clusters_of(shape_.team);
  const cudaError_t error = launch.attempt(ordered ? walk_levels<true> : walk_levels<false>, walk);
  if (shape_.blocks > 1 && cuda::does_not_fit(error)) return false;
  cuda::check(error, "walk_levels");
  return true;
}

}  // namespace taskdag::kernels
