#include "studies/graph/pagerank/pagerank.hpp"

#include <cmath>

#include "studies/graph/pagerank/forms.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {

double pagerank_tolerance(const PagerankOptions& options) {
  return 2.0 * options.threshold / (1.0 - static_cast<double>(options.damping));
}

std::vector<double> reference_pagerank(const CsrPattern& graph, const PagerankOptions& options) {
  constexpr double kResidue = 1e-12;
  const double damping = options.damping;
  std::vector<double> rank(static_cast<std::size_t>(graph.rows), 1.0 - damping);
  for (double change = 1.0; change > kResidue;) {
    change = 0.0;
    for (Index v = 0; v < graph.rows; ++v) {  // the newest ranks of all: Gauss–Seidel
      double sum = 0.0;
      for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        const Index u = graph.col_indices[e];
        sum += rank.data()[u] / (graph.row_offsets[u + 1] - graph.row_offsets[u]);
      }
      const double now = 1.0 - damping + damping * sum;
      change = std::fmax(change, std::abs(now - rank.data()[v]));
      rank.data()[v] = now;
    }
  }
  return rank;
}

double pagerank_error_bound(const CsrPattern& graph, const std::vector<float>& found, const PagerankOptions& options) {
  if (found.size() != static_cast<std::size_t>(graph.rows)) return HUGE_VAL;
  if (found.empty()) return 0.0;
  const double damping = options.damping;
  std::vector<double> share(found.size());
  for (Index v = 0; v < graph.rows; ++v) {
    const Offset degree = graph.row_offsets[v + 1] - graph.row_offsets[v];
    share.data()[v] = degree == 0 ? 0.0 : damping * static_cast<double>(found.data()[v]) / degree;
  }
  double sum = 0.0;
  for (Index v = 0; v < graph.rows; ++v) {
    double now = 1.0 - damping;
    for (Offset e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) now += share.data()[graph.col_indices[e]];
    sum += std::abs(now - static_cast<double>(found.data()[v]));
  }
  const double bound = sum / (1.0 - damping) / static_cast<double>(found.size());
  return bound >= 0.0 ? bound : HUGE_VAL;
}

double pagerank_error(const std::vector<float>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double sum = 0.0;
  for (std::size_t v = 0; v < found.size(); ++v) sum += std::abs(static_cast<double>(found[v]) - expected[v]);
  return found.empty() ? 0.0 : sum / static_cast<double>(found.size());
}

std::unique_ptr<Algorithm<float>> make_pagerank(const Context& context, const CsrPattern& graph,
                                                const PagerankOptions& options, const Form& form) {
  if (form.kind == Kind::asynchronous && form.written) return make_pagerank_written(context, graph, options, form);
  if (form.kind == Kind::asynchronous) return make_pagerank_tasks(context, graph, options, form);
  if (context.backend() == Backend::cuda) return make_pagerank_cuda_bsp(context, graph, options, form);
  if (form.kind != Kind::bsp) throw Unsupported("kernels are launched on CUDA only");
  return make_pagerank_host_bsp(context, graph, options);
}

}  // namespace taskdag::graph
