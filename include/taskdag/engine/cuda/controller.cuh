/// \file
/// The controller on the device (MHive, sections 3.4 and 6.3): one small block looks at the queues and starts a kernel
/// per task type where that is efficient, again and again.
///
/// CUDA has no waiting for child kernels on the device any more, and a controller that spins on a flag of its children
/// has no promise that they ever start. Two forms have: a chain, in which the controller launches kernels and, behind
/// them, itself (a tail launch starts when all that its launcher has started is over); and a graph, whose WHILE node
/// runs the controller and then the types' kernels, which end at once where none is ordered. In both, when the
/// controller looks, no team works on the queues: its look at ledger and levels is exact, like the host's.
#pragma once

#include "taskdag/engine/cuda/kernels.cuh"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// What one turn starts: teams by type, 0 where nothing.
template <class P>
struct Orders {
  std::uint32_t teams[P::types];
};

/// Least and most teams of a launch.
struct LaunchLimits {
  std::uint32_t warps =
      0;  ///< that oversubscribe the device sufficiently: SMs · resident threads · 1.5 / 32 (MHive, 6.3)
  std::uint32_t rings = 0;  ///< of a multi-queue, 0: another queue; a launch visits them all
};

/// One turn of the controller, by one warp, a lane per task type. @returns false when the run, as far as the device can
/// tell, is over
template <class P>
__device__ bool decide(const ProgramRef<P>& program, const LaunchLimits& limits, int& phase, Orders<P>& orders) {
  static_assert(P::types <= 32, "a lane per task type");
  const int lane = static_cast<int>(threadIdx.x % 32U);
  const Ledger& ledger = *program.ledger;
  const std::uint32_t pending = pending_of(ledger.total);
  bool over = ledger.stop != 0 || pending == 0 || pending == waiting_of(ledger.total);
  phase = next_phase<P>(ledger, phase);
  std::uint32_t teams = 0;
  bool fills_blocks = false;
  ForEach<typename P::AllTypes>::apply([&](auto tag) {
    using T = typename decltype(tag)::type;
    constexpr int number = P::template number_of<T>();
    if (lane != number || over || !runs_in<P>(number, phase)) return;
    using S = Shape<Types<T>>;
    constexpr auto per_team =
        static_cast<std::uint32_t>(S::team_size / TaskTraits<T>::lanes() * TaskTraits<T>::fetch());
    teams = (program.template of<T>().queue.level() + per_team - 1U) / per_team;
    fills_blocks = teams >= 2U * S::teams;
    // One more team per ring: each ring may hold a remainder.
    if (teams != 0) teams += limits.rings;
  });
  // Launches cost: while some type fills several blocks, the others wait until they do too, or nothing else is left.
  const bool some_fill = __any_sync(0xFFFFFFFFU, fills_blocks) != 0;
  if (some_fill && !fills_blocks) teams = 0;
  const auto launches = static_cast<std::uint32_t>(__popc(__ballot_sync(0xFFFFFFFFU, teams != 0)));
  ForEach<typename P::AllTypes>::apply([&](auto tag) {
    using T = typename decltype(tag)::type;
    if (lane != P::template number_of<T>()) return;
    constexpr auto warps = static_cast<std::uint32_t>(Shape<Types<T>>::team_size / 32);
    const std::uint32_t most = limits.warps / (launches != 0 ? launches : 1U) / warps;
    const std::uint32_t least = limits.rings + 1U;
    teams = teams < most ? teams : (most > least ? most : least);
    orders.teams[lane] = over || teams == 0 ? 0U : teams;
  });
  return !over;
}

#if defined(__CUDACC_RDC__)
/// What the kernels of a graph work on, in device memory: it differs between the launches of the graph.
template <class P>
struct GraphRun {
  ProgramRef<P> program;
  LaunchLimits limits;
  ControllerState state;
};

/// A turn in a graph.
template <class P>
__global__ void graph_controller_kernel(GraphRun<P>* run, cudaGraphConditionalHandle go_on) {
  __shared__ Orders<P> orders;
  ControllerState* const state = &run->state;
  int phase = state->phase;
  const bool more = decide(run->program, run->limits, phase, orders);
  __syncwarp();
  const int lane = static_cast<int>(threadIdx.x);
  if (lane < P::types) state->teams[lane] = more ? orders.teams[lane] : 0U;
  if (lane == 0) {
    state->phase = phase;
    if (more) ++state->turns;
    cudaGraphSetConditional(go_on, more ? 1U : 0U);
  }
}

/// The teams of one type that the controller has ordered.
template <class P, class T>
__global__ void __launch_bounds__(Shape<Types<T>>::threads) graph_slice_kernel(const GraphRun<P>* run) {
  extern __shared__ __align__(16) std::byte shared[];
  auto team = Shape<Types<T>>::team(shared, nullptr);
  if (team.number() < run->state.teams[P::template number_of<T>()]) run_slice<P, T>(run->program, team, true);
}

/// A turn in a chain.
template <class P>
__global__ void chain_kernel(const __grid_constant__ ProgramRef<P> program, const LaunchLimits limits,
                             ControllerState* state) {
  __shared__ Orders<P> orders;
  int phase = state->phase;
  if (!decide(program, limits, phase, orders)) return;
  __syncwarp();
  const int lane = static_cast<int>(threadIdx.x);
  ForEach<typename P::AllTypes>::apply([&](auto tag) {
    using T = typename decltype(tag)::type;
    using S = Shape<Types<T>>;
    constexpr int number = P::template number_of<T>();
    if (lane != number || orders.teams[number] == 0) return;
    const std::uint32_t teams = orders.teams[number];
    slice_kernel<P, T>
        <<<(teams + S::teams - 1U) / S::teams, S::threads, S::shared_bytes, cudaStreamFireAndForget>>>(program, teams);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) state->error = static_cast<std::uint32_t>(error);
  });
  __syncwarp();
  if (lane == 0) {
    state->phase = phase;
    ++state->turns;
    chain_kernel<P><<<1, 32, 0, cudaStreamTailLaunch>>>(program, limits, state);
    const cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) state->error = static_cast<std::uint32_t>(error);
  }
}
#endif

}  // namespace detail

TASKDAG_ENGINE_END
