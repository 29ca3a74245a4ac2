// Compiled as CUDA where CUDA is: one source for the blocks of a GPU and for host threads.
#include "studies/progression/launch.hpp"

#include <chrono>

#include "studies/progression/multi.hpp"
#include "studies/progression/scanning.hpp"
#include "studies/progression/single.hpp"
#include "taskdag/engine/threads.hpp"
#include "taskdag/error.hpp"

#if defined(__CUDACC__)
#include <array>

#include "taskdag/engine/cuda/owners.cuh"
#endif

namespace taskdag::progression {
namespace {

template <Algorithm algorithm, class Probe>
TASKDAG_TASK void run_block(const DagView& dag, const State& state, const typename Probe::Record& record,
                            std::uint32_t number) {
  Probe probe(record, number);
  Block<Probe> block(dag, state, number, probe);
  if constexpr (algorithm == Algorithm::scanning) scan(block);
  if constexpr (algorithm == Algorithm::single) run_single(block);
  if constexpr (algorithm == Algorithm::multi) run_multi(block);
  probe.flush();
}

template <Algorithm algorithm, class Probe>
double on_host(const Context& context, const DagView& dag, const State& state, const typename Probe::Record& record) {
  if (!engine::threads_are_concurrent(context)) throw Unsupported("blocks wait for each other: threads must be there");
  struct Call {
    const DagView& dag;
    const State& state;
    const typename Probe::Record& record;
  } call{dag, state, record};
  const auto start = std::chrono::steady_clock::now();
  engine::run_on_threads(
      context,
      [](void* target, int thread) {
        const Call& c = *static_cast<Call*>(target);
        run_block<algorithm, Probe>(c.dag, c.state, c.record, static_cast<std::uint32_t>(thread));
      },
      &call);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

#if defined(__CUDACC__)

/// A warp of which several lanes asked for one lock would wait for itself: one thread works.
template <Algorithm algorithm, class Probe>
__global__ void progress(const __grid_constant__ DagView dag, const __grid_constant__ State state,
                         const __grid_constant__ typename Probe::Record record) {
  if (threadIdx.x != 0) return;
  run_block<algorithm, Probe>(dag, state, record, blockIdx.x);
}

class Event {
 public:
  Event() { engine::detail::check(cudaEventCreate(&event_), "creating an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

template <Algorithm algorithm, class Probe>
double on_device(const Context& context, const Settings& settings, DagView dag, State state,
                 typename Probe::Record record) {
  const engine::detail::CurrentDevice device(context.device());
  const auto stream = engine::detail::UniqueStream::create();
  const Event start;
  const Event end;
  std::array<void*, 3> arguments = {&dag, &state, &record};
  const auto* const kernel = reinterpret_cast<const void*>(&progress<algorithm, Probe>);
  cudaFuncAttributes loaded{};  // asking loads the kernel, which would take its time in the first run
  engine::detail::check(cudaFuncGetAttributes(&loaded, kernel), "loading a kernel");
  engine::detail::check(cudaEventRecord(start.get(), stream.get()), "timing a run");
  // Cooperative: all blocks run at once, or the launch is refused.
  engine::detail::check(cudaLaunchCooperativeKernel(kernel, dim3(settings.blocks), dim3(settings.threads),
                                                    arguments.data(), 0, stream.get()),
                        "starting the blocks of a run");
  engine::detail::check(cudaEventRecord(end.get(), stream.get()), "timing a run");
  engine::detail::check(cudaEventSynchronize(end.get()), "a run's kernel");
  float milliseconds = 0;
  engine::detail::check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "timing a run");
  return 1e-3 * static_cast<double>(milliseconds);
}

#endif

template <Algorithm algorithm, class Probe>
double start(const Context& context, [[maybe_unused]] const Settings& settings, const DagView& dag, const State& state,
             const typename Probe::Record& record) {
#if defined(__CUDACC__)
  if (context.backend() == Backend::cuda) return on_device<algorithm, Probe>(context, settings, dag, state, record);
#endif
  return on_host<algorithm, Probe>(context, dag, state, record);
}

template <class Probe>
double choose(const Context& context, const Settings& settings, const DagView& dag, const State& state,
              const typename Probe::Record& record) {
  switch (settings.algorithm) {
    case Algorithm::scanning:
      return start<Algorithm::scanning, Probe>(context, settings, dag, state, record);
    case Algorithm::single:
      return start<Algorithm::single, Probe>(context, settings, dag, state, record);
    case Algorithm::multi:
      return start<Algorithm::multi, Probe>(context, settings, dag, state, record);
  }
  throw InvalidInput("no algorithm of the study");
}

}  // namespace

double launch(const Context& context, const Settings& settings, const DagView& dag, const State& state,
              engine::OperationCounts* totals) {
  if (settings.form == Form::time) return choose<engine::NoProbe>(context, settings, dag, state, {});
  return choose<engine::CountingProbe>(context, settings, dag, state, {totals});
}

}  // namespace taskdag::progression
