#include "rival.hpp"

#include <cmath>

#include "../shared_library.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

graph::Run run_of(double seconds, int iterations, const RivalForm& form) {
  if (seconds < 0) throw Error(std::string(form.prepared.rival().form(form.form)) + " failed");
  graph::Run run;
  run.seconds = seconds;
  run.iterations = static_cast<std::uint64_t>(iterations);
  return run;
}

class RivalBfs final : public graph::Algorithm<Index> {
 public:
  RivalBfs(const RivalForm& form, Index source)
      : form_(form), source_(source), depths_(static_cast<std::size_t>(form.prepared.graph().rows)) {}
  graph::Run run(std::uint32_t /*bin_ns*/) override {
    int iterations = 0;
    const double seconds =
        form_.prepared.rival().bfs(form_.prepared.memory(), form_.form, source_, depths_.data(), &iterations);
    return run_of(seconds, iterations, form_);
  }
  [[nodiscard]] std::vector<Index> result() const override { return depths_; }

 private:
  RivalForm form_;
  Index source_;
  std::vector<Index> depths_;
};

/// What our ranks add up to at the fixed point. A vertex without neighbours has 1 − λ and hands nothing on; the others
/// have 1 in the mean. A rival that shares out what such vertices have gives all ranks the same factor.
double sum_of_ranks(const CsrPattern& graph, double damping) {
  double sum = 0;
  for (Index v = 0; v < graph.rows; ++v) sum += graph.row_offsets[v] == graph.row_offsets[v + 1] ? 1 - damping : 1;
  return sum;
}

class RivalPagerank final : public graph::Algorithm<float> {
 public:
  RivalPagerank(const RivalForm& form, float damping, int iterations)
      : form_(form),
        damping_(damping),
        iterations_(iterations),
        scale_(sum_of_ranks(form.prepared.graph(), damping)),
        ranks_(static_cast<std::size_t>(form.prepared.graph().rows)) {}

  void find_iterations(const std::function<bool(const std::vector<float>&)>& good_enough) {
    constexpr int kMost = 1024;
    const auto enough = [&](int iterations) {
      iterations_ = iterations;
      run(0);
      return good_enough(result());
    };
    int few = 0;
    int many = 1;
    for (; !enough(many); many *= 2) {
      few = many;
      if (many >= kMost) throw Error(std::string(form_.prepared.rival().form(form_.form)) + " comes to no end");
    }
    while (many - few > 1) {
      const int middle = few + (many - few) / 2;
      (enough(middle) ? many : few) = middle;
    }
    iterations_ = many;
  }

  graph::Run run(std::uint32_t /*bin_ns*/) override {
    const double seconds =
        form_.prepared.rival().pagerank(form_.prepared.memory(), form_.form, damping_, iterations_, ranks_.data());
    return run_of(seconds, iterations_, form_);
  }
  [[nodiscard]] std::vector<float> result() const override {
    std::vector<float> scaled(ranks_.size());
    for (std::size_t v = 0; v < scaled.size(); ++v) scaled[v] = static_cast<float>(scale_ * ranks_[v]);
    return scaled;
  }

 private:
  RivalForm form_;
  float damping_;
  int iterations_;
  double scale_;
  std::vector<float> ranks_;
};

}  // namespace

GraphRival::GraphRival(const std::string& file) {
  const SharedLibrary library(file);
  library.find("taskdag_graph_rival_form", form);
  library.find("taskdag_graph_rival_has", has);
  library.find("taskdag_graph_rival_prepare", prepare);
  library.find("taskdag_graph_rival_bfs", bfs);
  library.find("taskdag_graph_rival_pagerank", pagerank);
  library.find("taskdag_graph_rival_free", free);
}

PreparedRival::PreparedRival(const GraphRival& rival, const CsrPattern& graph) : rival_(rival), graph_(graph) {
  const taskdag_graph_rival_graph arrays{graph.rows, graph.row_offsets, graph.col_indices};
  memory_ = rival.prepare(&arrays);
  if (memory_ == nullptr) throw Error("the rival cannot have a graph");
}

std::unique_ptr<graph::Algorithm<Index>> make_rival_bfs(const RivalForm& form, Index source) {
  return std::make_unique<RivalBfs>(form, source);
}

std::unique_ptr<graph::Algorithm<float>> make_rival_pagerank(const RivalForm& form, float damping, int iterations) {
  return std::make_unique<RivalPagerank>(form, damping, iterations);
}

std::unique_ptr<graph::Algorithm<float>> make_rival_pagerank_until(
    const RivalForm& form, float damping, const std::function<bool(const std::vector<float>&)>& good_enough) {
  auto algorithm = std::make_unique<RivalPagerank>(form, damping, 1);
  algorithm->find_iterations(good_enough);
  return algorithm;
}

int iterations_until_still(const CsrPattern& graph, double damping, double threshold) {
  const auto vertices = static_cast<std::size_t>(graph.rows);
  const auto degree = [&](Index v) { return graph.row_offsets[v + 1] - graph.row_offsets[v]; };
  std::vector<double> rank(vertices, sum_of_ranks(graph, damping) / graph.rows);
  std::vector<double> share(vertices);
  const double base = (1 - damping) * sum_of_ranks(graph, damping) / graph.rows;
  int iterations = 0;
  for (double change = HUGE_VAL; change > threshold; ++iterations) {
    double alone = 0;
    for (Index v = 0; v < graph.rows; ++v) {
      share.data()[v] = degree(v) == 0 ? 0 : damping * rank.data()[v] / degree(v);
      if (degree(v) == 0) alone += damping * rank.data()[v];
    }
    change = 0;
    for (Index v = 0; v < graph.rows; ++v) {
      double now = base + alone / graph.rows;
      for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        now += share.data()[graph.col_indices[e]];
      }
      change = std::fmax(change, std::abs(now - rank.data()[v]));
      rank.data()[v] = now;
    }
  }
  return iterations;
}

}  // namespace taskdag::benchmark
