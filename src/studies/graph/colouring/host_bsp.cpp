/// \file
/// Greedy colouring by bulk synchronous iterations on host threads.
#include "studies/graph/host_bsp.hpp"

#include <chrono>
#include <numeric>

#include "papers/chen/colouring/step.hpp"
#include "studies/graph/colouring/forms.hpp"
#include "taskdag/engine/worker.hpp"

namespace taskdag::graph {
namespace {

/// @pre the pattern outlives it
class ColouringHostBsp final : public Algorithm<Index> {
 public:
  ColouringHostBsp(const Context& context, const CsrPattern& graph)
      : context_(context), graph_{graph.rows, graph.row_offsets, graph.col_indices} {}

  Run run(std::uint32_t /*bin_ns*/) override {
    colour_.assign(static_cast<std::size_t>(graph_.vertices), kNoColour);
    std::vector<Index> frontier(colour_.size());
    std::iota(frontier.begin(), frontier.end(), 0);
    PerThread<Index> losers(context_);
    Run run;
    const auto start = std::chrono::steady_clock::now();
    while (!frontier.empty()) {
      const auto size = static_cast<std::int64_t>(frontier.size());
      for_each_on_threads(context_, size, [&](std::int64_t k, int thread) {
        ColourStep<1> step;
        losers.work(thread) +=
            step.assign(engine::HostGroup(), graph_, colour_.data(), 1, [&](int) { return frontier.data()[k]; });
      });
      for_each_on_threads(context_, size, [&](std::int64_t k, int thread) {
        const Index v = frontier.data()[k];
        ColourStep<1> step;
        step.check(engine::HostGroup(), graph_, colour_.data(), 1, [v](int) { return v; });
        if ((step.conflict[0] & kLoses) != 0) losers.of(thread).push_back(v);
      });
      frontier = losers.take();
      ++run.iterations;
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.work = losers.all_work();
    return run;
  }
  [[nodiscard]] std::vector<Index> result() const override { return colour_; }

 private:
  Context context_;
  GraphView graph_;
  std::vector<Index> colour_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_colouring_host_bsp(const Context& context, const CsrPattern& graph) {
  return std::make_unique<ColouringHostBsp>(context, graph);
}

}  // namespace taskdag::graph
