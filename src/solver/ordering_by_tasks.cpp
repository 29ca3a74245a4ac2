/// \file
/// Orderings by programs of the task engine.
#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "context/state.hpp"
#include "kernels/ordering/graph/adjacency.hpp"
#include "kernels/papers/papers.hpp"
#include "solver/block_ordering_impl.hpp"
#include "solver/ordering_impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

/// @pre the pattern is in host memory
kernels::HostGraph graph_of(const Context& context, const CsrPattern& pattern) {
  if (context.state()->pool) return kernels::symmetrised_graph(pattern, *context.state()->pool);
  host::ThreadPool one(1);
  return kernels::symmetrised_graph(pattern, one);
}

/// A pattern in host memory, of one in either.
class OnHost {
 public:
  OnHost(const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) : pattern_(pattern) {
    if (space == MemorySpace::host) return;
    fetched_ = cuda::fetch_pattern(context, pattern, stream);
    pattern_ = {pattern.rows, pattern.cols, fetched_.offsets.data(), fetched_.columns.data()};
  }
  [[nodiscard]] const CsrPattern& pattern() const { return pattern_; }

 private:
  cuda::FetchedPattern fetched_;
  CsrPattern pattern_;
};

/// Rows by colour, then index; colours that no row has are left out.
BlockOrdering order_by_colour(const std::vector<Index>& colour) {
  const Index colours = *std::max_element(colour.begin(), colour.end()) + 1;
  std::vector<Index> end(at(colours) + 1, 0);
  for (const Index c : colour) ++end[at(c) + 1];
  std::partial_sum(end.begin(), end.end(), end.begin());
  BlockOrdering ordering;
  ordering.block_size = 1;
  ordering.order.resize(colour.size());
  std::vector<Index> next = end;
  for (std::size_t row = 0; row < colour.size(); ++row) {
    ordering.order[at(next[at(colour[row])]++)] = static_cast<Index>(row);
  }
  ordering.blocks.block_offsets.resize(colour.size() + 1);
  std::iota(ordering.blocks.block_offsets.begin(), ordering.blocks.block_offsets.end(), 0);
  end.erase(std::unique(end.begin(), end.end()), end.end());
  ordering.blocks.colour_offsets = std::move(end);
  return ordering;
}

}  // namespace

BlockOrdering speculative_multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                      engine::Scheduler scheduler, Stream stream) {
  const kernels::Papers& papers = kernels::papers("the form speculative of a colouring");
  const OnHost on_host(context, pattern, space, stream);
  const kernels::HostGraph graph = graph_of(context, on_host.pattern());
  const kernels::GraphView view = graph.view();
  const kernels::EdgeOffset edges = view.offsets[view.nodes];
  if (edges > std::numeric_limits<Offset>::max()) {
    throw Unsupported("colouring by tasks: the graph of A + Aᵀ has " + std::to_string(edges) +
                      " edges, more than 2147483647: use the form hashed");
  }
  std::vector<Offset> offsets(at(view.nodes) + 1);
  std::transform(view.offsets, view.offsets + view.nodes + 1, offsets.begin(),
                 [](kernels::EdgeOffset e) { return static_cast<Offset>(e); });
  const CsrPattern symmetric{view.nodes, view.nodes, offsets.data(), view.neighbours};
  const std::vector<Index> colour = papers.colour(context, symmetric, scheduler);
  if (*std::min_element(colour.begin(), colour.end()) < 0) {
    throw Error("colouring by tasks: a row has got no colour: a defect");
  }
  BlockOrdering ordering = order_by_colour(colour);
  if (const auto fault = find_fault(ordering.blocks, symmetric, ordering.order)) {
    throw Error("colouring by tasks: " + *fault + ": a defect");
  }
  return ordering;
}

void order_by_tasks(const Context& context, const CsrPattern& pattern, MemorySpace space, Index* order,
                    MemorySpace order_space, const OrderingOptions& options, OrderingTimes& times, Stream stream) {
  using Seconds = std::chrono::duration<double>;
  const kernels::Papers& papers = kernels::papers("the form tasks of reverse Cuthill-McKee");
  const auto begin = std::chrono::steady_clock::now();
  const OnHost on_host(context, pattern, space, stream);
  const kernels::HostGraph graph = graph_of(context, on_host.pattern());
  const double prepared = Seconds(std::chrono::steady_clock::now() - begin).count();
  const kernels::OrderByTasks made = papers.reverse_cuthill_mckee(context, graph.view(), options);
  if (order_space == MemorySpace::device) {
    cuda::store_order(context, made.order, order, stream);
  } else {
    std::copy(made.order.begin(), made.order.end(), order);
  }
  times.graph = prepared + made.set_up;
  times.search = made.search;
  times.ordering = Seconds(std::chrono::steady_clock::now() - begin).count() - times.graph - times.search;
  times.form = RcmForm::tasks;
}

}  // namespace taskdag
