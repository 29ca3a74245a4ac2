#include "backends/cuda/algorithm.cuh"
#include "kernels/ordering/seeds/aggregates.hpp"
#include "kernels/ordering/seeds/aggregates_cuda.hpp"
#include "kernels/ordering/seeds/seeds_cuda.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

__global__ void count_seeds_kernel(Index rows, const std::uint32_t* state, Index* count) {
  const auto row = static_cast<Index>(element());
  if (row < rows) count[row] = state[row] == kSeed ? 1 : 0;
}

/// root[k]: the seed of number k.
__global__ void list_seeds_kernel(Index rows, const std::uint32_t* state, const Index* number, Index* root) {
  const auto row = static_cast<Index>(element());
  if (row < rows && state[row] == kSeed) root[number[row]] = row;
}

}  // namespace

Aggregation aggregate_around_seeds(const DeviceGraph& graph, int distance, cudaStream_t stream) {
  const GraphView view = graph.view();
  const auto rows = static_cast<std::size_t>(view.nodes);
  const int blocks = element_blocks(view.nodes);
  const ScratchArray<Role> role(rows, stream);
  const ScratchArray<std::uint32_t> state(rows, stream);
  const ScratchArray<Index> number(rows, stream);
  find_roles(view, kNoHubs, role.data(), state.data(), stream);
  choose_seeds(view, role.data(), distance, state.data(), stream);
  count_seeds_kernel<<<blocks, kElementBlock, 0, stream>>>(view.nodes, state.data(), number.data());
  cuda::check_launch("count_seeds_kernel");
  const Index seeds = number_consecutively(number.data(), view.nodes, stream);
  const ScratchArray<Index> root(static_cast<std::size_t>(seeds), stream);
  list_seeds_kernel<<<blocks, kElementBlock, 0, stream>>>(view.nodes, state.data(), number.data(), root.data());
  cuda::check_launch("list_seeds_kernel");
  const ScratchArray<Index> block = grow_blocks(view, role.data(), state.data(), number.data(), distance, stream);
  return {cuda::fetch_array(block.data(), rows, stream), cuda::fetch_array(root.data(), root.size(), stream)};
}

}  // namespace taskdag::kernels
