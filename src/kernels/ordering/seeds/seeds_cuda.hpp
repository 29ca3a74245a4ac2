/// \file
/// Seeds and blocks around them on CUDA, by the rules of seeds.hpp.
#pragma once

#include <cuda_runtime_api.h>

#include "backends/cuda/memory.hpp"
#include "kernels/ordering/seeds/seeds.hpp"

namespace taskdag::kernels {

/// Roles, and the states that choose_seeds() starts from. Asynchronous.
void find_roles(const GraphView& graph, EdgeOffset hub_degree, Role* role, std::uint32_t* state, cudaStream_t stream);

/// In the end the state of each row is kSeed or kNoSeed. Synchronises `stream`.
void choose_seeds(const GraphView& graph, const Role* role, int distance, std::uint32_t* state, cudaStream_t stream);

/// By row the number of the seed whose block it has joined after so many rounds, or −1. number: of each seed.
/// Asynchronous.
cuda::ScratchArray<Index> grow_blocks(const GraphView& graph, const Role* role, const std::uint32_t* state,
                                      const Index* number, int rounds, cudaStream_t stream);

/// Replaces counts by their exclusive sums. @returns the total. Synchronises `stream`.
Index number_consecutively(Index* counts, Index rows, cudaStream_t stream);

}  // namespace taskdag::kernels
