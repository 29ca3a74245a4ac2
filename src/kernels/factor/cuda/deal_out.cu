#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/deal_out.cuh"

namespace taskdag::kernels::elimination {
namespace {

using cuda::element;

constexpr int kSchedulerBlock = 128;

__global__ void deal_out_updates(const RoundScheduler scheduler) {
  __shared__ RoundScheduler::Row state[kSchedulerBlock / kWarpSize];
  const auto p = static_cast<Index>((std::int64_t{blockIdx.x} * kSchedulerBlock + threadIdx.x) / kWarpSize);
  if (p >= scheduler.lists.tasks.rows) return;
  scheduler.deal_out(p, static_cast<int>(threadIdx.x) % kWarpSize, state[threadIdx.x / kWarpSize]);
}

/// One warp a position: moves the row's updates to where they stay.
__global__ void place_updates(Index positions, EliminationRow* rows, const std::int64_t* first, const Index* lanes,
                              const ValueReference* dealt, const std::int32_t* where, ValueReference* updates) {
  const auto p = static_cast<Index>(element() / kWarpSize);
  if (p >= positions) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const EliminationRow row = rows[p];
  const ValueReference* const from = dealt + row.first_update;
  ValueReference* const to = updates + first[p];
  if (row.form == RowForm::rounds) {
    auto* const round_updates = reinterpret_cast<RoundUpdate*>(to);
    for (Index k = lane; k < row.rounds * lanes[row.row]; k += kWarpSize) round_updates[k] = {kNoValue, -1};
    __syncwarp();
    for (Index u = lane; u < row.update_count; u += kWarpSize) {
      round_updates[where[row.first_update + u]] = {from[u], from[row.update_count + u]};
    }
  } else {
    const auto size = static_cast<Index>(first[p + 1] - first[p]);
    for (Index k = lane; k < size; k += kWarpSize) to[k] = from[k];
  }
  __syncwarp();
  if (lane == 0) rows[p].first_update = static_cast<Offset>(first[p]);
}

}  // namespace

void deal_out(const RoundScheduler& scheduler, Index rows, cudaStream_t stream) {
  const auto threads = static_cast<std::size_t>(rows) * kWarpSize;
  const int blocks = static_cast<int>((threads + kSchedulerBlock - 1) / kSchedulerBlock);
  deal_out_updates<<<blocks, kSchedulerBlock, 0, stream>>>(scheduler);
  cuda::check_launch("deal_out_updates");
}

void place(Index positions, EliminationRow* rows, const std::int64_t* first, const Index* lanes,
           const ValueReference* dealt, const std::int32_t* where, ValueReference* updates, cudaStream_t stream) {
  const int blocks = cuda::element_blocks(std::int64_t{positions} * kWarpSize);
  place_updates<<<blocks, cuda::kElementBlock, 0, stream>>>(positions, rows, first, lanes, dealt, where, updates);
  cuda::check_launch("place_updates");
}

}  // namespace taskdag::kernels::elimination
