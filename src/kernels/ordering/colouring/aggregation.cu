#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "base/index.hpp"
#include "kernels/ordering/colouring/aggregation_cuda.hpp"

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

/// Roles, and the priorities that the choice of seeds starts from.
__global__ void role_kernel(GraphView graph, EdgeOffset hub_degree, Role* role, std::uint32_t* state) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  role[row] = role_of(graph, row, hub_degree);
  state[row] = role[row] == Role::normal ? seed_priority(row) : kNoSeed;
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

/// out[i]: the largest of what i and its neighbours hold. Hubs hold nothing and hand nothing on.
__global__ void largest_kernel(GraphView graph, const Role* role, const std::uint32_t* in, std::uint32_t* out) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  std::uint32_t largest = in[row];
  if (role[row] == Role::normal) {
    const EdgeOffset end = graph.end(row);
    for (EdgeOffset e = graph.begin(row); e < end; ++e) largest = max(largest, in[graph.neighbours[e]]);
  }
  out[row] = largest;
}

/// Rows that hold the largest priority within the distance become seeds, those near a seed drop out.
__global__ void decide_kernel(Index rows, const std::uint32_t* largest, std::uint32_t* state, int* open) {
  const auto row = static_cast<Index>(element());
  bool undecided = false;
  if (row < rows && state[row] != kNoSeed && state[row] != kSeed) {
    if (largest[row] == state[row]) {
      state[row] = kSeed;
    } else if (largest[row] == kSeed) {
      state[row] = kNoSeed;
    } else {
      undecided = true;
    }
  }
  if (__syncthreads_or(undecided) != 0 && threadIdx.x == 0) *open = 1;
}

void choose_seeds(const GraphView& graph, const Role* role, int distance, std::uint32_t* state, cudaStream_t stream) {
  const auto rows = static_cast<std::size_t>(graph.nodes);
  const int blocks = element_blocks(graph.nodes);
  const ScratchArray<std::uint32_t> here(rows, stream);
  const ScratchArray<std::uint32_t> there(rows, stream);
  const ScratchArray<int> open(1, stream);
  do {
    cuda::check(cudaMemsetAsync(open.data(), 0, sizeof(int), stream), "clearing a flag");
    const std::uint32_t* in = state;
    for (int step = 0; step < distance; ++step) {
      std::uint32_t* const out = step % 2 == 0 ? here.data() : there.data();
      largest_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, role, in, out);
      in = out;
    }
    decide_kernel<<<blocks, kElementBlock, 0, stream>>>(graph.nodes, in, state, open.data());
    cuda::check_launch("decide_kernel");
  } while (cuda::fetch(open.data(), stream) != 0);
}

/// Whether a row begins a block of its own, and whether it is alone.
__global__ void count_kernel(Index rows, const Role* role, const std::uint32_t* state, Index* begins, Index* alone) {
  const auto row = static_cast<Index>(element());
  if (row >= rows) return;
  begins[row] = state[row] == kSeed || role[row] == Role::hub ? 1 : 0;
  alone[row] = role[row] == Role::alone ? 1 : 0;
}

__global__ void start_kernel(Index rows, const std::uint32_t* state, const Index* number, Index* block) {
  const auto row = static_cast<Index>(element());
  if (row < rows) block[row] = state[row] == kSeed ? number[row] : -1;
}

__global__ void grow_kernel(GraphView graph, const Role* role, const Index* in, Index* out) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  const bool joins = in[row] < 0 && role[row] == Role::normal;
  out[row] = joins ? elect_block(graph, in, row) : in[row];
}

__global__ void finish_kernel(Index rows, const Role* role, const Index* number, const Index* alone, Index grown,
                              Index block_size, Index* block) {
  const auto row = static_cast<Index>(element());
  if (row >= rows) return;
  if (role[row] == Role::hub) block[row] = number[row];
  if (role[row] == Role::alone) block[row] = grown + alone[row] / block_size;
}

/// Replaces counts by their exclusive sums. @returns the total. Synchronises.
Index number_consecutively(Index* counts, Index rows, cudaStream_t stream) {
  const Index last = cuda::fetch(counts + rows - 1, stream);
  cuda::exclusive_sum(counts, counts, rows, stream);
  return cuda::fetch(counts + rows - 1, stream) + last;
}

DeviceAggregation grow(const GraphView& graph, EdgeOffset entries, Index block_size, cudaStream_t stream) {
  const Index rows = graph.nodes;
  const auto size = static_cast<std::size_t>(rows);
  const int blocks = element_blocks(rows);
  const ScratchArray<Role> role(size, stream);
  const ScratchArray<std::uint32_t> state(size, stream);
  role_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, hub_degree(rows, entries, block_size), role.data(),
                                                    state.data());
  cuda::check_launch("role_kernel");
  const Index balls = ball_count(rows, block_size);
  const int distance = seed_distance(grow_balls(graph, role.data(), balls, stream), balls, block_size);
  choose_seeds(graph, role.data(), distance, state.data(), stream);

  const ScratchArray<Index> number(size, stream);
  const ScratchArray<Index> alone(size, stream);
  count_kernel<<<blocks, kElementBlock, 0, stream>>>(rows, role.data(), state.data(), number.data(), alone.data());
  cuda::check_launch("count_kernel");
  const Index grown = number_consecutively(number.data(), rows, stream);
  const Index lone = number_consecutively(alone.data(), rows, stream);

  ScratchArray<Index> here(size, stream);
  ScratchArray<Index> there(size, stream);
  start_kernel<<<blocks, kElementBlock, 0, stream>>>(rows, state.data(), number.data(), here.data());
  Index* in = here.data();
  Index* out = there.data();
  for (int round = 0; round < distance; ++round) {
    grow_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, role.data(), in, out);
    std::swap(in, out);
  }
  finish_kernel<<<blocks, kElementBlock, 0, stream>>>(rows, role.data(), number.data(), alone.data(), grown, block_size,
                                                      in);
  cuda::check_launch("finish_kernel");
  const Index all = grown + pieces_of(lone, block_size);
  return {BlockShape::grown, all, block_size, in == here.data() ? std::move(here) : std::move(there)};
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
