#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "kernels/ordering/colouring/colour_cuda.hpp"
#include "kernels/ordering/colouring/first_fit.hpp"

namespace taskdag::kernels {
namespace {

using cuda::DeviceAtomic;
using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;

constexpr Index kNone = -1;

/// Sorts order and key by key, ascending and stably. @returns the sorted order
struct Sorter {
  Index size;
  cudaStream_t stream;
  cuda::ScratchArray<std::uint64_t> sorted_key;
  cuda::ScratchArray<Index> sorted;

  Sorter(Index n, cudaStream_t s)
      : size(n), stream(s), sorted_key(static_cast<std::size_t>(n), s), sorted(static_cast<std::size_t>(n), s) {}
  const Index* sort(const std::uint64_t* key, const Index* order, int bits) {
    cuda::sort_pairs(key, sorted_key.data(), order, sorted.data(), size, bits, stream);
    return sorted.data();
  }
};

__global__ void key_kernel(DevicePattern graph, ColourOptions options, std::uint64_t* key, Index* order) {
  const auto v = static_cast<Index>(element());
  if (v >= graph.rows) return;
  key[v] = colour_key(options, v, graph.row_offsets[v + 1] - graph.row_offsets[v]);
  order[v] = v;
}

__global__ void class_key_kernel(Index size, const Index* colour, Index colours, std::uint64_t* key, Index* order) {
  const auto v = static_cast<Index>(element());
  if (v >= size) return;
  key[v] = static_cast<std::uint64_t>(colours - 1 - colour[v]);
  order[v] = v;
}

__global__ void rank_kernel(Index size, const Index* order, Index* rank, Index* colour) {
  const auto position = static_cast<Index>(element());
  if (position >= size) return;
  rank[order[position]] = position;
  colour[position] = kNone;
}

/// A lane colours a vertex. Warps take 32 consecutive positions of the order by ticket, so the first vertex without a
/// colour is held by a running warp; lanes look again instead of waiting, so a lane may need a colour of its own warp.
///
/// | what   | written by           | read by           | order                                               |
/// |--------|----------------------|-------------------|-----------------------------------------------------|
/// | colour | the vertex's lane    | later neighbours' | relaxed: the colour is its own flag                 |
__global__ void __launch_bounds__(kElementBlock)
    first_fit_kernel(DevicePattern graph, const Index* order, const Index* rank, Index* colour, int* ticket) {
  const int lane = static_cast<int>(threadIdx.x) % cuda::kWarpSize;
  const cuda::TicketCounter tickets{ticket};
  const auto position =
      static_cast<Index>(std::int64_t{cuda::TicketCounter::receive(tickets.request(lane))} * cuda::kWarpSize + lane);
  bool open = position < graph.rows;
  const Index v = open ? order[position] : 0;
  const Offset first = open ? graph.row_offsets[v] : 0;
  const Offset last = open ? graph.row_offsets[v + 1] : 0;
  ColourWindow window;
  Offset e = first;
  while (__any_sync(cuda::kFullWarp, open)) {
    if (!open) continue;
    for (; e < last; ++e) {  // goes on where it had to stop
      const Index u = graph.col_indices[e];
      if (rank[u] >= position) continue;
      const Index found = DeviceAtomic<Index>(colour[u]).load(::cuda::memory_order_relaxed);
      if (found == kNone) break;
      window.add(found);
    }
    if (e < last) continue;
    if (window.has_free()) {
      DeviceAtomic<Index>(colour[v]).store(window.first_free(), ::cuda::memory_order_relaxed);
      open = false;
    } else {
      window.advance();
      e = first;
    }
  }
}

int bits_for(std::uint64_t most) {
  int bits = 1;
  while (bits < 64 && (most >> static_cast<unsigned>(bits)) != 0) ++bits;
  return bits;
}

}  // namespace

Index cuda_colour_graph(const DevicePattern& graph, const ColourOptions& options, Index* colour, cudaStream_t stream) {
  if (graph.rows == 0) return 0;
  const auto size = static_cast<std::size_t>(graph.rows);
  const int blocks = element_blocks(graph.rows);
  const cuda::ScratchArray<std::uint64_t> key(size, stream);
  const cuda::ScratchArray<Index> natural(size, stream);
  const cuda::ScratchArray<Index> rank(size, stream);
  const cuda::ScratchArray<int> ticket(1, stream);
  Sorter sorter(graph.rows, stream);

  const auto in_order = [&](const Index* order) {
    rank_kernel<<<blocks, kElementBlock, 0, stream>>>(graph.rows, order, rank.data(), colour);
    cuda::check(cudaMemsetAsync(ticket.data(), 0, sizeof(int), stream), "clearing a counter");
    first_fit_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, order, rank.data(), colour, ticket.data());
    cuda::check_launch("first_fit_kernel");
    return cuda::largest(colour, graph.rows, stream) + 1;
  };

  key_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, options, key.data(), natural.data());
  cuda::check_launch("key_kernel");
  const bool sorted_already = options.order == ColourOrder::natural;
  Index colours = in_order(sorted_already ? natural.data() : sorter.sort(key.data(), natural.data(), 64));
  for (int round = 0; round < options.improvements; ++round) {
    class_key_kernel<<<blocks, kElementBlock, 0, stream>>>(graph.rows, colour, colours, key.data(), natural.data());
    cuda::check_launch("class_key_kernel");
    colours = in_order(sorter.sort(key.data(), natural.data(), bits_for(static_cast<std::uint64_t>(colours))));
  }
  return colours;
}

}  // namespace taskdag::kernels
