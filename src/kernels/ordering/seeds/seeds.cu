#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.hpp"
#include "kernels/ordering/seeds/seeds_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

__global__ void role_kernel(GraphView graph, EdgeOffset hub_degree, Role* role, std::uint32_t* state) {
  const auto row = static_cast<Index>(element());
  if (row >= graph.nodes) return;
  role[row] = role_of(graph, row, hub_degree);
  state[row] = first_state(role[row], row);
}

__global__ void largest_kernel(GraphView graph, const Role* role, const std::uint32_t* in, std::uint32_t* out) {
  const auto row = static_cast<Index>(element());
  if (row < graph.nodes) out[row] = largest_around(graph, role[row], in, row);
}

__global__ void decide_kernel(Index rows, const std::uint32_t* largest, std::uint32_t* state, int* open) {
  const auto row = static_cast<Index>(element());
  bool undecided = false;
  if (row < rows) {
    const std::uint32_t next = next_state(state[row], largest[row]);
    state[row] = next;
    undecided = !is_decided(next);
  }
  if (__syncthreads_or(undecided) != 0 && threadIdx.x == 0) *open = 1;
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

}  // namespace

void find_roles(const GraphView& graph, EdgeOffset hub_degree, Role* role, std::uint32_t* state, cudaStream_t stream) {
  role_kernel<<<element_blocks(graph.nodes), kElementBlock, 0, stream>>>(graph, hub_degree, role, state);
  cuda::check_launch("role_kernel");
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

ScratchArray<Index> grow_blocks(const GraphView& graph, const Role* role, const std::uint32_t* state,
                                const Index* number, int rounds, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(graph.nodes);
  const int blocks = element_blocks(graph.nodes);
  ScratchArray<Index> here(size, stream);
  ScratchArray<Index> there(size, stream);
  start_kernel<<<blocks, kElementBlock, 0, stream>>>(graph.nodes, state, number, here.data());
  Index* in = here.data();
  Index* out = there.data();
  for (int round = 0; round < rounds; ++round) {
    grow_kernel<<<blocks, kElementBlock, 0, stream>>>(graph, role, in, out);
    std::swap(in, out);
  }
  cuda::check_launch("grow_kernel");
  return in == here.data() ? std::move(here) : std::move(there);
}

Index number_consecutively(Index* counts, Index rows, cudaStream_t stream) {
  const Index last = cuda::fetch(counts + rows - 1, stream);
  cuda::exclusive_sum(counts, counts, rows, stream);
  return cuda::fetch(counts + rows - 1, stream) + last;
}

}  // namespace taskdag::kernels
