/// \file
/// A CUDA graph that repeats a controller and the kernels behind it while the controller says so.
#pragma once

#include <cuda_runtime_api.h>

#include <type_traits>
#include <utility>

#include "taskdag/engine/cuda/check.cuh"

TASKDAG_ENGINE_BEGIN

namespace detail {

inline cudaGraphNodeParams conditional_node(cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type) {
  cudaGraphNodeParams node{};
  node.type = cudaGraphNodeTypeConditional;
  node.conditional.handle = handle;
  node.conditional.type = type;
  node.conditional.size = 1;
  return node;
}

/// Adds a loop to a graph, after the node `after` (null: after none). @returns the graph that it has inside
inline cudaGraph_t add_loop(cudaGraph_t graph, cudaGraphNode_t after, cudaGraphConditionalHandle condition) {
  cudaGraphNodeParams loop = conditional_node(condition, cudaGraphCondTypeWhile);
  cudaGraphNode_t node = nullptr;
  const cudaGraphNode_t* const nodes = after ? &after : nullptr;
  const std::size_t count = after ? 1 : 0;
#if CUDART_VERSION >= 13000
  check(cudaGraphAddNode(&node, graph, nodes, nullptr, count, &loop), "a graph's loop");
#else
  check(cudaGraphAddNode(&node, graph, nodes, count, &loop), "a graph's loop");
#endif
  return loop.conditional.phGraph_out[0];
}

/// Adds a node to the graph that a stream is being captured into, behind what has been captured; the next comes behind
/// it. what: for the message of an error.
inline void capture_node(cudaStream_t stream, cudaGraphNodeParams& parameters, const char* what) {
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* after = nullptr;
  std::size_t count = 0;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData* edges = nullptr;
  check(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &after, &edges, &count), "looking at a capture");
  check(cudaGraphAddNode(&node, graph, after, edges, count, &parameters), what);
  check(cudaStreamUpdateCaptureDependencies(stream, &node, nullptr, 1, cudaStreamSetCaptureDependencies), what);
#else
  check(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &after, &count), "looking at a capture");
  check(cudaGraphAddNode(&node, graph, after, count, &parameters), what);
  check(cudaStreamUpdateCaptureDependencies(stream, &node, 1, cudaStreamSetCaptureDependencies), what);
#endif
}

/// WHILE (condition) { first kernel; then the others side by side }. The kernels' arguments stay what they are: what
/// differs between launches is in memory. One launch at a time.
class LoopGraph {
 public:
  LoopGraph() {
    check(cudaGraphCreate(&graph_, 0), "creating a graph");
    check(cudaGraphConditionalHandleCreate(&condition_, graph_, 1, cudaGraphCondAssignDefault), "a graph's condition");
    body_ = add_loop(graph_, nullptr, condition_);
  }
  LoopGraph(const LoopGraph&) = delete;
  LoopGraph& operator=(const LoopGraph&) = delete;
  ~LoopGraph() {
    if (instance_) static_cast<void>(cudaGraphExecDestroy(instance_));
    if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
  }

  /// For the controller, which sets it on the device.
  [[nodiscard]] cudaGraphConditionalHandle condition() const { return condition_; }

  /// Adds the controller: make(body) adds it to the loop's body.
  template <class Make>
  void add_first(const Make& make) {
    first_ = make(body_);
  }
  /// Adds a kernel to the loop's body: the first one is the controller, all others come after it.
  template <class... Args>
  void add(void (*kernel)(Args...), std::uint32_t blocks, int threads, std::size_t shared_bytes,
           std::type_identity_t<Args>... args) {
    void* pointers[] = {const_cast<void*>(static_cast<const void*>(&args))...};
    cudaKernelNodeParams params{};
    params.func = reinterpret_cast<void*>(kernel);
    params.gridDim = dim3(blocks);
    params.blockDim = dim3(static_cast<unsigned>(threads));
    params.sharedMemBytes = static_cast<unsigned>(shared_bytes);
    params.kernelParams = pointers;
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddKernelNode(&node, body_, first_ ? &first_ : nullptr, first_ ? 1 : 0, &params),
          "a graph's kernel");
    if (!first_) first_ = node;
  }

  /// @pre all kernels have been added
  void launch(cudaStream_t stream) {
    if (!instance_) check(cudaGraphInstantiate(&instance_, graph_, 0), "instantiating a graph");
    check(cudaGraphLaunch(instance_, stream), "launching a graph");
  }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraph_t body_ = nullptr;
  cudaGraphExec_t instance_ = nullptr;
  cudaGraphConditionalHandle condition_{};
  cudaGraphNode_t first_ = nullptr;
};

}  // namespace detail

TASKDAG_ENGINE_END
