/// \file
/// Launches adaptive tasks as nodes of CUDA graphs.
#include <algorithm>
#include <array>
#include <utility>

#include "base/index.hpp"
#include "papers/helal/launches.hpp"

namespace taskdag::kernels {
namespace {

class Graph {
 public:
  Graph() { cuda::check(cudaGraphCreate(&graph_, 0), "creating a graph"); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphDestroy(graph_)); }
  [[nodiscard]] cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

class ExecutableGraph {
 public:
  explicit ExecutableGraph(const Graph& graph) {
    cuda::check(cudaGraphInstantiate(&graph_, graph.get(), 0), "instantiating a graph");
  }
  ExecutableGraph(ExecutableGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  ExecutableGraph& operator=(ExecutableGraph&&) = delete;
  ~ExecutableGraph() {
    if (graph_) static_cast<void>(cudaGraphExecDestroy(graph_));
  }
  void launch(cudaStream_t stream) const { cuda::check(cudaGraphLaunch(graph_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Tasks as kernel nodes. More than kMaxAdaptiveTasks of them (levels, which cannot be made fewer) become several
/// graphs, one after the other in the stream.
class GraphLauncher final : public CoarseLauncher {
 public:
  GraphLauncher(Launches launches, const CoarseDag& coarse) {
    std::vector<cudaGraphNode_t> node(at(launches.size()));
    std::vector<cudaGraphNode_t> before;
    for (Index first = 0; first < launches.size(); first += kMaxAdaptiveTasks) {
      const Graph graph;
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
      graphs_.emplace_back(graph);
    }
  }
  void run(cudaStream_t stream) override {
    for (const ExecutableGraph& graph : graphs_) graph.launch(stream);
  }
  [[nodiscard]] bool may_be_captured() const override { return false; }  // executable graphs nest in no other

 private:
  std::vector<ExecutableGraph> graphs_;
};

}  // namespace

std::unique_ptr<CoarseLauncher> make_graph_launcher(Launches launches, const CoarseDag& coarse) {
  return std::make_unique<GraphLauncher>(std::move(launches), coarse);
}

}  // namespace taskdag::kernels
