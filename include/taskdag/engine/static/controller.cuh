/// \file
/// A static program under a controller on the device: a graph whose loop runs the controller, then what it has ordered.
/// A turn is a slice of claims, as many as teams are resident, or a level.
#pragma once

#include "taskdag/engine/cuda/graph.cuh"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/static/kernels.cuh"
#include "taskdag/engine/static/turn.hpp"

TASKDAG_ENGINE_BEGIN

namespace detail {

/// What the graph's kernels read, since their parameters are fixed when it is made.
template <class P>
struct StaticGraphState {
  StaticRef<P> program;
  StaticTurn turn;
};

template <class P>
__global__ void static_begin_kernel(const __grid_constant__ StaticRef<P> program, const StaticTurn turn,
                                    StaticGraphState<P>* state) {
  state->program = program;
  state->turn = turn;
}

template <class P, Dependencies Kind>
__global__ void __launch_bounds__(Shape<typename P::AllTypes>::threads,
                                  BlocksWanted<Shape<typename P::AllTypes>::threads, typename P::AllTypes>::value)
    static_turn_kernel(StaticGraphState<P>* state) {
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
  /// blocks: that are resident.
  StaticController(const Context& context, Dependencies dependencies, std::uint32_t blocks)
      : phases_(dependencies == Dependencies::phases),
        teams_(blocks * static_cast<std::uint32_t>(S::teams)),
        state_(context, sizeof(StaticGraphState<P>)) {
    graph_.add_first([&](cudaGraph_t body) {
      return static_cast<cudaGraphNode_t>(add_turn_controller(body, &state()->turn, graph_.condition()));
    });
    if (phases_) {
      add<Dependencies::phases>(blocks);
    } else if (dependencies == Dependencies::individual) {
      add<Dependencies::individual>(blocks);
    } else {
      add<Dependencies::ordered>(blocks);
    }
  }
  /// @throws Unsupported where `stream` is being captured
  void enqueue(const StaticRef<P>& program, cudaStream_t stream) {
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &capture), "looking at a stream");
    if (capture != cudaStreamCaptureStatusNone) {
      throw Unsupported(
          "a run under the device controller is a graph with a loop, and cannot be captured into another");
    }
    StaticTurn turn{};
    turn.total = phases_ ? program.levels : program.claims;
    turn.most = teams_;
    turn.tickets = phases_ ? &program.tickets[0].next : nullptr;
    static_begin_kernel<P><<<1, 1, 0, stream>>>(program, turn, state());
    check(cudaGetLastError(), "starting a static program");
    graph_.launch(stream);
  }

 private:
  using S = Shape<typename P::AllTypes>;
  template <Dependencies Kind>
  void add(std::uint32_t blocks) {
    graph_.add(&static_turn_kernel<P, Kind>, blocks, S::threads, S::shared_bytes, state());
  }
  [[nodiscard]] StaticGraphState<P>* state() const { return static_cast<StaticGraphState<P>*>(state_.data()); }

  bool phases_;
  std::uint32_t teams_;
  Memory state_;
  LoopGraph graph_;
};

}  // namespace detail

TASKDAG_ENGINE_END
