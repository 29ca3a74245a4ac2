#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "kernels/ordering/colouring/aggregation_cuda.hpp"
#include "kernels/ordering/seeds/seeds_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

__global__ void sample_kernel(GraphView graph, Index samples, Index* degree, Index* offsets) {
  const auto s = static_cast<Index>(element());
  if (s >= samples) return;
  const Index row = stencil_row(graph.nodes, s);
  const EdgeOffset begin = graph.begin(row);
  degree[s] = graph.degree(row);
  for (Index k = 0; k < kStencilWidth; ++k) {
    offsets[s * kStencilWidth + k] =
        degree[s] <= kStencilWidth && k < degree[s] ? graph.neighbours[begin + k] - row : 0;
  }
}

StencilSample sample_stencils(const GraphView& graph, cudaStream_t stream) {
  const Index samples = stencil_rows(graph.nodes);
  const auto size = static_cast<std::size_t>(samples);
  const ScratchArray<Index> degree(size, stream);
  const ScratchArray<Index> offsets(size * static_cast<std::size_t>(kStencilWidth), stream);
  sample_kernel<<<element_blocks(samples), kElementBlock, 0, stream>>>(graph, samples, degree.data(), offsets.data());
  cuda::check_launch("sample_kernel");
  return {cuda::fetch_array(degree.data(), size, stream), cuda::fetch_array(offsets.data(), offsets.size(), stream)};
}

__global__ void box_kernel(Index rows, Grid grid, Index* block) {
  const auto row = static_cast<Index>(element());
  if (row < rows) block[row] = grid.block_of(row);
}

__global__ void ball_start_kernel(Index rows, Index balls, const Role* role, std::uint8_t* reached,
                                  unsigned long long* within) {
  const auto ball = static_cast<Index>(element());
  if (ball >= balls) return;
  const Index row = ball_centre(rows, balls, ball);
  if (role[row] == Role::hub) return;
  reached[row] = 1;
  atomicAdd(within, 1ULL);
}

/// One round of growth of all balls: rows reached in round r hold r + 1.
__global__ void ball_kernel(GraphView graph, const Role* role, int round, std::uint8_t* reached,
                            unsigned long long* within) {
  const auto row = static_cast<Index>(element());
  bool added = false;
  if (row < graph.nodes && reached[row] == 0 && role[row] != Role::hub) {
    const EdgeOffset end = graph.end(row);
    for (EdgeOffset e = graph.begin(row); e < end && !added; ++e) {
      // What this round reaches holds round + 1, so it does not matter whether it is seen already.
      const std::uint8_t other = reached[graph.neighbours[e]];
      added = other != 0 && other <= round;
    }
    if (added) reached[row] = static_cast<std::uint8_t>(round + 1);
  }
  const int count = __syncthreads_count(added);
  if (threadIdx.x == 0 && count > 0) atomicAdd(within, static_cast<unsigned long long>(count));
}

std::vector<std::int64_t> grow_balls(const GraphView& graph, const Role* role, Index balls, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(graph.nodes);
  const ScratchArray<std::uint8_t> reached(rows, stream);
  const ScratchArray<unsigned long long> within(kBallRounds + 1, stream);
  cuda::check(cudaMemsetAsync(reached.data(), 0, rows, stream), "clearing marks");
  cuda::check(cudaMemsetAsync(within.data(), 0, within.size() * sizeof(unsigned long long), stream), "clearing counts");
  ball_start_kernel<<<element_blocks(balls), kElementBlock, 0, stream>>>(graph.nodes, balls, role, reached.data(),
                                                                         within.data());
  for (int round = 1; round <= kBallRounds; ++round) {
    ball_kernel<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph, role, round, reached.data(),
                                                                           within.data() + round);
  }
  cuda::check_launch("ball_kernel");
  std::vector<std::int64_t> sums;
  std::int64_t total = 0;
  for (const unsigned long long count : cuda::fetch_array(within.data(), within.size(), stream)) {
    total += static_cast<std::int64_t>(count);
    sums.push_back(total);
  }
  return sums;
}

/// Whether a row begins a block of its own, and whether it is alone.
__global__ void count_kernel(Index rows, const Role* role, const std::uint32_t* state, Index* begins, Index* alone) {
  const auto row = static_cast<Index>(element());
  if (row >= rows) return;
  begins[row] = state[row] == kSeed || role[row] == Role::hub ? 1 : 0;
  alone[row] = role[row] == Role::alone ? 1 : 0;
}

__global__ void finish_kernel(Index rows, const Role* role, const Index* number, const Index* alone, Index grown,
                              Index block_size, Index* block) {
  const auto row = static_cast<Index>(element());
  if (row >= rows) return;
  if (role[row] == Role::hub) block[row] = number[row];
  if (role[row] == Role::alone) block[row] = grown + alone[row] / block_size;
}

DeviceAggregation grow(const GraphView& graph, EdgeOffset entries, Index block_size, cudaStream_t stream) {
  const Index rows = graph.nodes;
  const auto size = static_cast<std::size_t>(rows);
  const int blocks = element_blocks(rows);
  const ScratchArray<Role> role(size, stream);
  const ScratchArray<std::uint32_t> state(size, stream);
  find_roles(graph, hub_degree(rows, entries, block_size), role.data(), state.data(), stream);
  const Index balls = ball_count(rows, block_size);
  const int distance = seed_distance(grow_balls(graph, role.data(), balls, stream), balls, block_size);
  choose_seeds(graph, role.data(), distance, state.data(), stream);

  const ScratchArray<Index> number(size, stream);
  const ScratchArray<Index> alone(size, stream);
  count_kernel<<<blocks, kElementBlock, 0, stream>>>(rows, role.data(), state.data(), number.data(), alone.data());
  cuda::check_launch("count_kernel");
  const Index grown = number_consecutively(number.data(), rows, stream);
  const Index lone = number_consecutively(alone.data(), rows, stream);

  ScratchArray<Index> block = grow_blocks(graph, role.data(), state.data(), number.data(), distance, stream);
  finish_kernel<<<blocks, kElementBlock, 0, stream>>>(rows, role.data(), number.data(), alone.data(), grown, block_size,
                                                      block.data());
  cuda::check_launch("finish_kernel");
  const Index all = grown + pieces_of(lone, block_size);
  return {BlockShape::grown, all, block_size, std::move(block)};
}

}  // namespace

DeviceAggregation aggregate(const DeviceGraph& graph, const BlockSize& size, cudaStream_t stream) {
  const GraphView view = graph.view();
  const auto grid = find_grid(sample_stencils(view, stream), view.nodes, size);
  if (!grid) return grow(view, graph.entries, size.rows, stream);
  ScratchArray<Index> block(static_cast<std::size_t>(view.nodes), stream);
  box_kernel<<<element_blocks(view.nodes), kElementBlock, 0, stream>>>(view.nodes, *grid, block.data());
  cuda::check_launch("box_kernel");
  return {BlockShape::grid, grid->blocks(), grid->points, std::move(block)};
}

}  // namespace taskdag::kernels
