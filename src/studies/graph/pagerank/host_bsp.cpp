/// \file
/// PageRank by bulk synchronous iterations on host threads.
#include "studies/graph/host_bsp.hpp"

#include <chrono>

#include "studies/graph/pagerank/forms.hpp"

namespace taskdag::graph {
namespace {

/// @pre the pattern outlives it
class PagerankHostBsp final : public Algorithm<float> {
 public:
  PagerankHostBsp(const Context& context, const CsrPattern& graph, const PagerankOptions& options)
      : context_(context), graph_(graph), options_(options) {}

  Run run(std::uint32_t /*bin_ns*/) override {
    const auto size = static_cast<std::size_t>(graph_.rows);
    rank_.assign(size, 0.0F);
    residue_.assign(size, 1.0F - options_.damping);
    share_.assign(size, 0.0F);
    PerThread<Index> found(context_);
    collect(found);
    std::vector<Index> frontier = found.take();
    Run run;
    const auto start = std::chrono::steady_clock::now();
    while (!frontier.empty()) {
      for_each_on_threads(context_, static_cast<std::int64_t>(frontier.size()),
                          [&](std::int64_t k, int thread) { push(frontier.data()[k], found, thread); });
      collect(found);
      frontier = found.take();
      ++run.iterations;
    }
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    run.work = found.all_work();
    return run;
  }
  [[nodiscard]] std::vector<float> result() const override { return rank_; }

 private:
  /// The next frontier: each of its vertices takes its residue.
  void collect(PerThread<Index>& found) {
    for_each_on_threads(context_, graph_.rows, [&](std::int64_t k, int thread) {
      const auto v = static_cast<Index>(k);
      float& residue = residue_.data()[v];
      if (residue <= options_.threshold) return;
      rank_.data()[v] += residue;
      share_.data()[v] =
          residue * options_.damping / static_cast<float>(graph_.row_offsets[v + 1] - graph_.row_offsets[v]);
      residue = 0.0F;
      found.of(thread).push_back(v);
    });
  }
  void push(Index v, PerThread<Index>& found, int thread) {
    const Offset first = graph_.row_offsets[v];
    const Offset last = graph_.row_offsets[v + 1];
    found.work(thread) += static_cast<std::uint64_t>(last - first);
    for (Offset e = first; e < last; ++e) {
      std::atomic_ref<float>(residue_.data()[graph_.col_indices[e]])
          .fetch_add(share_.data()[v], std::memory_order_relaxed);
    }
  }

  Context context_;
  CsrPattern graph_;
  PagerankOptions options_;
  std::vector<float> rank_;
  std::vector<float> residue_;
  std::vector<float> share_;
};

}  // namespace

std::unique_ptr<Algorithm<float>> make_pagerank_host_bsp(const Context& context, const CsrPattern& graph,
                                                         const PagerankOptions& options) {
  return std::make_unique<PagerankHostBsp>(context, graph, options);
}

}  // namespace taskdag::graph
