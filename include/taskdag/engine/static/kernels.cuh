/// \file
/// The kernels of a static program: thin, the loops are in loop.hpp.
#pragma once

#include "taskdag/engine/cuda/team.cuh"
#include "taskdag/engine/static/loop.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

template <class List>
struct FirstOf;
template <class T, class... Ts>
struct FirstOf<Types<T, Ts...>> {
  using type = T;
};

/// Blocks of Threads threads that a multiprocessor is to hold, by the types' threads_per_multiprocessor: how many
/// threads registers must leave room for.
template <int Threads, class List>
struct BlocksWanted;
template <int Threads, class... Ts>
struct BlocksWanted<Threads, Types<Ts...>> {
  template <class T>
  static constexpr int of() {
    if constexpr (requires { T::threads_per_multiprocessor; }) return T::threads_per_multiprocessor / Threads;
    return 1;
  }
  static constexpr int value = [] {
    int most = 1;
    ((most = of<Ts>() > most ? of<Ts>() : most), ...);
    return most;
  }();
};

/// Ordered and individual.
template <class P, class List, Dependencies Kind>
__global__ void __launch_bounds__(Shape<List>::threads, BlocksWanted<Shape<List>::threads, List>::value)
    static_kernel(const __grid_constant__ StaticRef<P> program, const StaticLaunch launch) {
  extern __shared__ __align__(16) std::byte shared[];
  auto team = Shape<List>::team(shared, nullptr);
  run_claims<P, List, Kind>(program, team, launch);
}

/// Ordered, by persistent teams, for the one type of a program that looks ahead.
template <class P, class T>
__global__ void __launch_bounds__(Shape<Types<T>>::threads, BlocksWanted<Shape<Types<T>>::threads, Types<T>>::value)
    static_ahead_kernel(const __grid_constant__ StaticRef<P> program, const StaticLaunch launch) {
  extern __shared__ __align__(16) std::byte shared[];
  auto team = Shape<Types<T>>::team(shared, nullptr);
  run_claims_ahead<P, T>(program, team, launch);
}

/// The levels first to end − 1; several: all blocks are resident, and meet at the end of each.
template <class P>
__global__ void __launch_bounds__(Shape<typename P::AllTypes>::threads,
                                  BlocksWanted<Shape<typename P::AllTypes>::threads, typename P::AllTypes>::value)
    static_levels_kernel(const __grid_constant__ StaticRef<P> program, std::uint32_t first, std::uint32_t end) {
  extern __shared__ __align__(16) std::byte shared[];
  using S = Shape<typename P::AllTypes>;
  auto team = S::team(shared, nullptr);
  AtomicRef<std::uint64_t> tickets(program.tickets[0].next);
  const auto run = static_cast<std::uint32_t>(tickets.load(relaxed) >> 32U);
  run_levels<P>(program, team, first, end, gridDim.x * static_cast<std::uint32_t>(S::teams), run,
                [&](std::uint32_t level) {
                  __syncthreads();
                  if (threadIdx.x == 0) {
                    // acq_rel, and the barriers of the block around it: who gets through has read from all.
                    AtomicRef<std::uint64_t> arrivals(program.arrivals->count);
                    const std::uint64_t all = std::uint64_t{level - first + 1U} * gridDim.x;
                    const std::uint64_t before = arrivals.fetch_add(1U, acq_rel);
                    if (level + 1U == end) {
                      if (before + 1U == all) {  // the last of all: it begins the next launch, or the next run
                        arrivals.store(0U, relaxed);
                        if (end == program.levels) tickets.store(std::uint64_t{run + 1U} << 32U, relaxed);
                      }
                    } else {
                      while (arrivals.load(acquire) < all) __nanosleep(20);
                    }
                  }
                  if (level + 1U != end) __syncthreads();
                });
}

}  // namespace detail

TASKDAG_ENGINE_END
