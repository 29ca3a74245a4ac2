/// \file
/// The kernel of eliminate(), for the sources that instantiate it.
#pragma once

#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/eliminate.cuh"
#include "kernels/factor/cuda/task.cuh"

namespace taskdag::kernels::elimination {

template <FactorKind Kind, RowForm Widest, bool kRegisters, TicketFor Taker>
__global__ void __launch_bounds__(kEliminateBlock, blocks_per_multiprocessor(Widest, kRegisters))
    eliminate_kernel(const Parameters p, int* next_counter) {
  constexpr int kWarps = kEliminateBlock / kWarpSize;
  constexpr int kWarpsStaged = Widest > RowForm::targets ? kWarps : 1;
  __shared__ WarpStage stages[kWarpsStaged];
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (blockIdx.x == 0 && threadIdx.x == 0) *next_counter = 0;
  const auto fetch = [&](Index t) { return t < p.lists.tasks.tasks ? load_words(p.lists.tasks.task + t) : int4{}; };
  const auto work = [&](const int4& words) {
    eliminate_task<Kind, Widest, kRegisters>(p, lane, words, stages[warp % kWarpsStaged]);
  };
  if constexpr (Taker == TicketFor::block) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = p.tickets.request(lane);
    __syncthreads();
    const Index mine = ticket * kWarps + warp;
    if (mine < p.lists.tasks.tasks) work(fetch(mine));
  } else {
    Index ticket = TicketCounter::receive(p.tickets.request(lane));
    int requested = p.tickets.request(lane);
    // The next task travels while this one is worked on, and the ticket after it.
    int4 words = fetch(ticket);
    while (ticket < p.lists.tasks.tasks) {
      const int4 now = words;
      ticket = TicketCounter::receive(requested);
      requested = p.tickets.request(lane);
      words = fetch(ticket);
      work(now);
    }
  }
}

template <RowForm Widest, bool kRegisters>
void eliminate(const Parameters& parameters, int* next_counter, const EliminateLaunch& how) {
  const auto launch = [&](auto kernel) {
    kernel<<<how.blocks, kEliminateBlock, 0, how.stream>>>(parameters, next_counter);
    cuda::check_launch("eliminate_kernel");
  };
  const auto launch_kind = [&](auto kind) {
    if (how.taker == TicketFor::block) {
      launch(eliminate_kernel<kind(), Widest, kRegisters, TicketFor::block>);
    } else {
      launch(eliminate_kernel<kind(), Widest, kRegisters, TicketFor::warp>);
    }
  };
  if (how.kind == FactorKind::ic) {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ic>{});
  } else {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ilu>{});
  }
}

}  // namespace taskdag::kernels::elimination
