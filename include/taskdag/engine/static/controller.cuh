/// \file
/// A static program under a controller on the device: a graph whose loop runs the controller, then what it has ordered.
/// A turn is a slice of claims, as many as teams are resident, or a level.
#pragma once

#include <optional>

#include "taskdag/engine/cuda/graph.cuh"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/static/kernels.cuh"

TASKDAG_ENGINE_BEGIN

namespace detail {

#if defined(__CUDACC_RDC__)
/// What the graph's kernels read, since their parameters are fixed when it is made.
template <class P>
struct StaticGraphState {
  StaticRef<P> program;
  StaticTurn turn;
};

template <class P>
__global__ void static_begin_kernel(const __grid_constant__ StaticRef<P> program, StaticGraphState<P>* state) {
  state->program = program;
  state->turn.done = 0;
  state->turn.teams = 0;
}

/// One thread. most: teams of a turn.
template <class P, Dependencies Kind>
__global__ void static_controller_kernel(StaticGraphState<P>* state, std::uint32_t most,
                                         cudaGraphConditionalHandle go_on) {
  StaticTurn& turn = state->turn;
  constexpr bool phases = Kind == Dependencies::phases;
  const std::uint32_t left = (phases ? state->program.levels : state->program.claims) - turn.done;
  turn.teams = phases ? most : (left < most ? left : most);
  turn.done += phases ? (left != 0 ? 1U : 0U) : turn.teams;
  if (left != 0) ++turn.turns;
  if (phases && left == 0) {  // nobody works on the program: the next run begins
    AtomicRef<std::uint64_t> tickets(state->program.tickets[0].next);
    tickets.store(((tickets.load(relaxed) >> 32U) + 1U) << 32U, relaxed);
  }
  if (left == 0) turn.teams = 0;
  cudaGraphSetConditional(go_on, left != 0 ? 1U : 0U);
}

template <class P, Dependencies Kind>
__global__ void __launch_bounds__(Shape<typename P::AllTypes>::threads) static_turn_kernel(StaticGraphState<P>* state) {
  extern __shared__ __align__(16) std::byte shared[];
  using S = Shape<typename P::AllTypes>;
  auto team = S::team(shared, nullptr);
  const StaticRef<P>& program = state->program;
  if (team.number() >= state->turn.teams) return;
  if constexpr (Kind == Dependencies::phases) {
    const auto run = static_cast<std::uint32_t>(AtomicRef<std::uint64_t>(program.tickets[0].next).load(relaxed) >> 32U);
    const std::uint32_t level = state->turn.done - 1U;
    run_levels<P>(program, team, level, level + 1U, gridDim.x * static_cast<std::uint32_t>(S::teams), run,
                  [](std::uint32_t) {});
  } else {
    // Each claim is a ticket, taken by one team in one turn: the tickets of all turns together end the run.
    run_claims<P, typename P::AllTypes, Kind>(program, team, StaticLaunch{0, 0, program.claims, program.claims, true});
  }
}

template <class P>
class StaticController {
 public:
  StaticController(const Context& context, Dependencies dependencies, std::uint32_t blocks)
      : state_(context, sizeof(StaticGraphState<P>)) {
    if (dependencies == Dependencies::phases) {
      add<Dependencies::phases>(blocks);
    } else if (dependencies == Dependencies::individual) {
      add<Dependencies::individual>(blocks);
    } else {
      add<Dependencies::ordered>(blocks);
    }
  }
  void enqueue(const StaticRef<P>& program, cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &capture), "looking at a stream");
    if (capture != cudaStreamCaptureStatusNone) {
      throw Unsupported(
          "a run under the device controller is a graph with a loop, and cannot be captured into another");
    }
    static_begin_kernel<P><<<1, 1, 0, stream>>>(program, state());
    check(cudaGetLastError(), "starting a static program");
    graph_.launch(stream);
  }

 private:
  template <Dependencies Kind>
  void add(std::uint32_t blocks) {
    using S = Shape<typename P::AllTypes>;
    graph_.add(&static_controller_kernel<P, Kind>, 1, 1, 0, state(), blocks * static_cast<std::uint32_t>(S::teams),
               graph_.condition());
    graph_.add(&static_turn_kernel<P, Kind>, blocks, S::threads, S::shared_bytes, state());
  }
  [[nodiscard]] StaticGraphState<P>* state() const { return static_cast<StaticGraphState<P>*>(state_.data()); }

  Memory state_;
  LoopGraph graph_;
};
#else
/// Kernels that start kernels, or decide on them, need nvcc -rdc=true.
template <class P>
class StaticController {
 public:
  StaticController(const Context& /*context*/, Dependencies /*dependencies*/, std::uint32_t /*blocks*/) {
    throw Unsupported("the device controller decides on kernels from kernels: compile the program with nvcc -rdc=true");
  }
  void enqueue(const StaticRef<P>& /*program*/, cudaStream_t /*stream*/) {}
};
#endif

}  // namespace detail

TASKDAG_ENGINE_END
