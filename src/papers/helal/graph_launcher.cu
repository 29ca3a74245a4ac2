/// \file
/// Launches adaptive tasks as nodes of CUDA graphs.
#include <algorithm>
#include <array>
#include <utility>

#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "papers/helal/launches.hpp"
#include "taskdag/engine/cuda/graph.cuh"

namespace taskdag::kernels {
namespace {

/// A graph, launched by itself or as a node of the graph that a stream is being captured into.
class Graph {
 public:
  Graph() { cuda::check(cudaGraphCreate(&graph_, 0), "creating a graph"); }
  Graph(Graph&& other) noexcept
      : graph_(std::exchange(other.graph_, nullptr)), executable_(std::exchange(other.executable_, nullptr)) {}
  Graph& operator=(Graph&&) = delete;
  ~Graph() {
    if (executable_) static_cast<void>(cudaGraphExecDestroy(executable_));
    if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
  }
  [[nodiscard]] cudaGraph_t get() const { return graph_; }

  /// Once it has all its nodes.
  void complete() { cuda::check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiating a graph"); }
  void launch(cudaStream_t stream) const {
    if (cuda::is_capturing(stream)) return nest(stream);
    cuda::check(cudaGraphLaunch(executable_, stream), "launching a graph");
  }

 private:
  void nest(cudaStream_t stream) const {
    cudaGraphNodeParams node{};
    node.type = cudaGraphNodeTypeGraph;
    node.graph.graph = graph_;
    engine::detail::capture_node(stream, node, "a graph as a node of another");
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

/// Tasks as kernel nodes. More than kMaxAdaptiveTasks of them (levels, which cannot be made fewer) become several
/// graphs, one after the other in the stream.
class GraphLauncher final : public CoarseLauncher {
 public:
  GraphLauncher(Launches launches, const CoarseDag& coarse) {
    std::vector<cudaGraphNode_t> node(at(launches.size()));
    std::vector<cudaGraphNode_t> before;
    for (Index first = 0; first < launches.size(); first += kMaxAdaptiveTasks) {
      Graph graph;
      const Index end = std::min(launches.size(), first + kMaxAdaptiveTasks);
      for (Index t = first; t < end; ++t) {
        before.clear();
        for (auto e = coarse.predecessor_offsets[at(t)]; e < coarse.predecessor_offsets[at(t) + 1]; ++e) {
          const Index p = coarse.predecessors[static_cast<std::size_t>(e)];
          if (p >= first) before.push_back(node[at(p)]);
        }
        auto arguments = launches.parameters(t);
        cudaKernelNodeParams parameters{};
        parameters.func = const_cast<void*>(launches.kernel(t));
        parameters.gridDim = launches.blocks(t);
        parameters.blockDim = {kCoarseBlock, 1, 1};
        parameters.kernelParams = arguments.data();
        cuda::check(cudaGraphAddKernelNode(&node[at(t)], graph.get(), before.data(), before.size(), &parameters),
                    "adding an adaptive task to a graph");
      }
      graph.complete();
      graphs_.push_back(std::move(graph));
    }
  }
  void run(cudaStream_t stream) override {
    for (const Graph& graph : graphs_) graph.launch(stream);
  }

 private:
  std::vector<Graph> graphs_;
};

}  // namespace

std::unique_ptr<CoarseLauncher> make_graph_launcher(Launches launches, const CoarseDag& coarse) {
  return std::make_unique<GraphLauncher>(std::move(launches), coarse);
}

}  // namespace taskdag::kernels
