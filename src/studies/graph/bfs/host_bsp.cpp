/// \file
/// Breadth-first search by bulk synchronous iterations on host threads.
#include "studies/graph/host_bsp.hpp"

#include <chrono>

#include "papers/chen/colouring/atomics.hpp"
#include "studies/graph/bfs/forms.hpp"

namespace taskdag::graph {
namespace {

/// @pre the pattern outlives it
class BfsHostBsp final : public Algorithm<Index> {
 public:
  BfsHostBsp(const Context& context, const CsrPattern& graph, Index source)
      : context_(context), graph_(graph), source_(source) {}

  Run run(std::uint32_t /*bin_ns*/) override {
    depth_.assign(static_cast<std::size_t>(graph_.rows), kUnreached);
    depth_.data()[source_] = 0;
    std::vector<Index> frontier{source_};
    PerThread<Index> found(context_);
    Run run;
    const auto start = std::chrono::steady_clock::now();
    for (Index next = 1; !frontier.empty(); ++next) {
      for_each_on_threads(context_, static_cast<std::int64_t>(frontier.size()),
                          [&](std::int64_t k, int thread) { expand(frontier.data()[k], next, found, thread); });
      frontier = found.take();
      ++run.iterations;
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.work = found.all_work();
    return run;
  }
  [[nodiscard]] std::vector<Index> result() const override { return depth_; }

 private:
  void expand(Index v, Index next, PerThread<Index>& found, int thread) {
    const Offset first = graph_.row_offsets[v];
    const Offset last = graph_.row_offsets[v + 1];
    found.work(thread) += static_cast<std::uint64_t>(last - first);
    for (Offset e = first; e < last; ++e) {
      const Index u = graph_.col_indices[e];
      Index& depth = depth_.data()[u];
      if (peek(depth) > next && fetch_min(depth, next) > next) found.of(thread).push_back(u);
    }
  }

  Context context_;
  CsrPattern graph_;
  Index source_;
  std::vector<Index> depth_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_bfs_host_bsp(const Context& context, const CsrPattern& graph, Index source) {
  return std::make_unique<BfsHostBsp>(context, graph, source);
}

}  // namespace taskdag::graph
