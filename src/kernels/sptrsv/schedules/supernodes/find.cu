#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/scan.cuh"
#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/schedules/supernodes/find.hpp"
#include "kernels/sptrsv/schedules/supernodes/order.hpp"

namespace taskdag::kernels::supernodes {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

/// Chains up to this length are told apart.
constexpr Index kLongest = kMostRows + 1;

/// head[s] = s where row s in the direction of the sweep begins a chain, else 0: a running maximum does the rest. Lanes
/// take a row each and look at two numbers; rows that may belong to a chain are looked at by the whole warp.
__global__ void find_heads(SweepOrder order, const Index* col_indices, const Offset* first, const Index* count,
                           Index* head) {
  const auto s = static_cast<Index>(element());
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  bool linked = false;
  Offset mine = 0;  // where the entries that both rows should have begin in each
  Offset before = 0;
  Index shared = 0;
  if (s > 0 && s < order.rows) {
    const Index row = order(s);
    const Index previous = order(s - 1);
    shared = count[previous];
    mine = first[row];
    before = first[previous];
    if (count[row] == shared + 1) {
      linked = col_indices[order.lower ? mine + shared : mine] == previous;
      if (!order.lower) ++mine;
    }
  }
  for (unsigned remaining = __ballot_sync(kFullWarp, linked); remaining != 0; remaining &= remaining - 1) {
    const int owner = __ffs(static_cast<int>(remaining)) - 1;
    const Offset a = __shfl_sync(kFullWarp, mine, owner);
    const Offset b = __shfl_sync(kFullWarp, before, owner);
    const Index n = __shfl_sync(kFullWarp, shared, owner);
    bool same = true;
    for (Index e = lane; e < n; e += kWarpSize) same = same && col_indices[a + e] == col_indices[b + e];
    same = __all_sync(kFullWarp, same);
    if (lane == owner) linked = same;
  }
  if (s < order.rows) head[s] = linked ? 0 : s;
}

/// rows_of[l]: rows in chains of l rows, in rows_of[kLongest] those of longer ones.
__global__ void measure_chains(Index rows, const Index* head, Index* rows_of) {
  __shared__ Index block_rows_of[kLongest + 1];
  if (threadIdx.x <= kLongest) block_rows_of[threadIdx.x] = 0;
  __syncthreads();
  const auto s = static_cast<Index>(element());
  const bool ends = s < rows && (s == rows - 1 || head[s + 1] == s + 1);
  if (ends) {
    const Index length = s - head[s] + 1;
    atomicAdd(&block_rows_of[min(length, kLongest)], length);
  }
  __syncthreads();
  if (threadIdx.x <= kLongest && block_rows_of[threadIdx.x] > 0) {
    atomicAdd(&rows_of[threadIdx.x], block_rows_of[threadIdx.x]);
  }
}

__global__ void settle(SweepOrder order, const Index* head, Index most_rows, const Offset* first, const Index* count,
                       Index* number, Offset* outer_first, Index* outer_count) {
  const auto s = static_cast<Index>(element());
  if (s >= order.rows) return;
  const Index row = order(s);
  const Index mine = (s - head[s]) % most_rows;
  number[row] = mine;
  outer_count[row] = count[row] - mine;
  outer_first[row] = order.lower ? first[row] : first[row] + mine;
}

}  // namespace

Supernodes find(const SweepInput& input, cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  const auto size = static_cast<std::size_t>(rows);
  Supernodes found{1, 0.0, {size, stream}, {{size, stream}, {size, stream}}};
  if (rows == 0) return found;
  const SweepOrder order{rows, input.triangle == Triangle::lower};
  const Offset* const first = input.ranges->first.data();
  const Index* const count = input.ranges->count.data();

  const ScratchArray<Index> begins(size, stream);
  const ScratchArray<Index> head(size, stream);
  find_heads<<<element_blocks(rows), kElementBlock, 0, stream>>>(order, input.pattern.col_indices, first, count,
                                                                 begins.data());
  cuda::check_launch("find_heads");
  cuda::inclusive_maximum_over(begins.data(), head.data(), rows, stream);
  const ScratchArray<Index> rows_of(kLongest + 1, stream);
  cuda::check(cudaMemsetAsync(rows_of.data(), 0, rows_of.size() * sizeof(Index), stream), "clearing counts");
  measure_chains<<<element_blocks(rows), kElementBlock, 0, stream>>>(rows, head.data(), rows_of.data());
  cuda::check_launch("measure_chains");
  const auto in_chains = cuda::fetch_array(rows_of.data(), rows_of.size(), stream);

  const auto most = std::max_element(in_chains.begin() + 1, in_chains.end());
  found.most_rows = std::min(static_cast<Index>(most - in_chains.begin()), kMostRows);
  found.share = 1.0 - static_cast<double>(in_chains[1]) / rows;
  settle<<<element_blocks(rows), kElementBlock, 0, stream>>>(order, head.data(), found.most_rows, first, count,
                                                             found.number.data(), found.outer.first.data(),
                                                             found.outer.count.data());
  cuda::check_launch("settle");
  return found;
}

}  // namespace taskdag::kernels::supernodes
