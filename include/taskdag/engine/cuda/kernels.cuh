/// \file
/// The engine's kernels: thin, the loops are in team.hpp.
#pragma once

#include "taskdag/engine/cuda/team.cuh"
#include "taskdag/engine/levels.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// The types that run in a phase, the phaseless ones included.
template <class P, int Phase, class List>
struct TypesIn;
template <class P, int Phase, class... Ts>
struct TypesIn<P, Phase, Types<Ts...>> {
  using type =
      typename Concat<Types<>,
                      std::conditional_t<runs_in<P>(P::template number_of<Ts>(), Phase), Types<Ts>, Types<>>...>::type;
};
template <class P, int Phase>
using PhaseTypes = typename TypesIn<P, Phase, typename P::AllTypes>::type;

/// Megakernel of one phase.
template <class P, int Phase>
__global__ void __launch_bounds__(Shape<PhaseTypes<P, Phase>>::threads)
    persistent_kernel(const __grid_constant__ ProgramRef<P> program) {
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ IdleGate gate;
  if (threadIdx.x == 0) gate.clear();
  __syncthreads();
  auto team = Shape<PhaseTypes<P, Phase>>::team(shared, &gate);
  run_persistent<P, Phase>(program, team);
}

/// Whether one kernel can hold the types of all phases without giving any phase larger teams than its own kernel has.
template <class P, int Phase = 0>
constexpr bool one_shape() {
  if constexpr (Phase >= P::phases) {
    return P::phases > 0;
  } else {
    return TeamSizeOf<PhaseTypes<P, Phase>>::value == TeamSizeOf<PhaseTypes<P, 0>>::value && one_shape<P, Phase + 1>();
  }
}

/// Megakernel of all phases.
template <class P>
__global__ void __launch_bounds__(Shape<typename P::AllTypes>::threads)
    phases_kernel(const __grid_constant__ ProgramRef<P> program) {
  extern __shared__ __align__(16) std::byte shared[];
  __shared__ IdleGate gate;
  auto team = Shape<typename P::AllTypes>::team(shared, &gate);
  run_all_phases<P>(program, team);
}

/// Between two turns of a controller on the device; device memory, zeroed before the first.
struct ControllerState {
  std::uint32_t turns;
  std::int32_t phase;
  std::uint32_t error;      ///< a cudaError_t of a launch
  std::uint32_t teams[32];  ///< of each type in this turn; for kernels of a graph
};

/// Teams of one type, one claim each. `claims`: teams that take part.
template <class P, class T>
__global__ void __launch_bounds__(Shape<Types<T>>::threads)
    slice_kernel(const __grid_constant__ ProgramRef<P> program, std::uint32_t claims) {
  extern __shared__ __align__(16) std::byte shared[];
  auto team = Shape<Types<T>>::team(shared, nullptr);
  if (team.number() < claims) run_slice<P, T>(program, team, true);
}

/// What the host's controller looks at; one thread. `levels` and `ledger` are in host memory.
template <class P>
__global__ void look_kernel(const __grid_constant__ ProgramRef<P> program, Levels<P>* levels, Ledger* ledger) {
  ForEach<typename P::AllTypes>::apply(
      [&](auto tag) { read_levels<P, typename decltype(tag)::type>(program, *levels); });
  *ledger = *program.ledger;
}

template <class P, class T>
__global__ void push_all_kernel(const __grid_constant__ ProgramRef<P> program, const typename T::Item* items,
                                std::uint32_t size) {
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  typename P::Probe probe(program.record, 0);
  push<P, T>(program, Lanes::converged(), items[i], {i / 32U, key_of<T>(items[i], i), 0}, probe);
}

/// No team works on the queues meanwhile. Where teams do not steal, a thread stands for a team: there are enough of
/// them.
template <class P, class T>
__global__ void move_all_kernel(const __grid_constant__ ProgramRef<P> program, const typename P::template Queue<T> from,
                                const typename P::template Queue<T> to) {
  typename P::Probe probe(program.record, 0);
  const std::uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  std::uint32_t cursor = 0;
  while (from.level() != 0) {
    const Claim claim = from.claim(1, from.glance(thread, probe), true, thread, cursor, probe);
    if (claim.count == 0) continue;
    typename P::Probe::Stamp stamp{};
    const typename T::Item item = from.read(claim, 0, stamp, probe);
    from.leave(claim, 0, probe);
    static_cast<void>(to.push(Lanes::converged(), item, {thread, key_of<T>(item, thread), 0}, probe));
  }
}

}  // namespace detail

TASKDAG_ENGINE_END
