#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "kernels/ordering/graph/components.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

// A forest in `parent`: parent[v] <= v, roots point at themselves. Any thread may lower any parent to a smaller member
// of the same component; roots are hooked by compare-and-swap, so that no hook is lost. Loads may be old: an old parent
// is an ancestor too. L2 loads, because other processors write.

__device__ Index parent_of(const Index* parent, Index v) { return __ldcg(parent + v); }

/// The root above v; halves the path on its way.
__device__ Index root_of(Index* parent, Index v) {
  Index up = parent_of(parent, v);
  while (up != v) {
    const Index above = parent_of(parent, up);
    if (above != up) parent[v] = above;
    v = up;
    up = above;
  }
  return v;
}

__global__ void start_alone(Index nodes, Index* parent) {
  const auto v = static_cast<Index>(element());
  if (v < nodes) parent[v] = v;
}

__global__ void hook(EdgeOffset entries, const Index* from, const Index* to, Index* parent) {
  const EdgeOffset e = element();
  if (e >= entries || from[e] < to[e]) return;  // each edge is there twice
  Index left = root_of(parent, from[e]);
  Index right = root_of(parent, to[e]);
  while (left != right) {
    if (left < right) {
      const Index swapped = left;
      left = right;
      right = swapped;
    }
    const Index seen = atomicCAS(parent + left, left, right);
    if (seen == left) return;
    left = root_of(parent, seen);
    right = root_of(parent, right);
  }
}

/// Not in place: a thread that halves a path there may write an older parent after the root.
__global__ void find_roots(Index nodes, Index* parent, Index* root) {
  const auto v = static_cast<Index>(element());
  if (v < nodes) root[v] = root_of(parent, v);
}

}  // namespace

void find_components(const RankedGraph& ranked, Index* root, cudaStream_t stream) {
  const DeviceGraph& graph = ranked.graph;
  const cuda::ScratchArray<Index> parent(at(graph.nodes), stream);
  start_alone<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph.nodes, parent.data());
  cuda::check_launch("start_alone");
  if (graph.entries > 0) {
    hook<<<element_blocks(graph.entries), kElementBlock, 0, stream>>>(graph.entries, ranked.rank_of_entry.data(),
                                                                      graph.neighbours.data(), parent.data());
    cuda::check_launch("hook");
  }
  find_roots<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph.nodes, parent.data(), root);
  cuda::check_launch("find_roots");
}

}  // namespace taskdag::kernels
