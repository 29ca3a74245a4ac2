/// \file
/// A sequence of kernel launches as one CUDA graph: the host pays for one launch.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "backends/cuda/stream.hpp"

namespace taskdag::cuda {

/// Kernels of one argument each (of type Argument, by value), which may get others before the next launch.
template <class Argument>
class LaunchGraph {
 public:
  LaunchGraph() = default;
  /// Captures the kernels that submit(stream) launches. number(argument) tells them apart: it ascends in the order in
  /// which they are launched.
  template <class Submit, class Number>
  LaunchGraph(const Submit& submit, const Number& number)
      : LaunchGraph() {  // so that its destructor runs if this throws
    const UniqueStream stream;
    check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "beginning to capture launches");
    try {
      submit(stream.get());
    } catch (...) {
      static_cast<void>(cudaStreamEndCapture(stream.get(), &graph_));
      throw;
    }
    check(cudaStreamEndCapture(stream.get(), &graph_), "capturing launches");
    find_kernels(number);
    check(cudaGraphInstantiate(&executable_, graph_, 0), "instantiating a graph");
  }
  LaunchGraph(LaunchGraph&& other) noexcept { swap(other); }
  LaunchGraph& operator=(LaunchGraph&& other) noexcept {
    swap(other);
    return *this;
  }
  ~LaunchGraph() {
    if (executable_) static_cast<void>(cudaGraphExecDestroy(executable_));
    if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
  }

  [[nodiscard]] bool empty() const { return executable_ == nullptr; }

  /// The k-th kernel's argument in launches to come.
  void set_argument(std::size_t k, Argument argument) {
    void* address = &argument;
    cudaKernelNodeParams parameters = kernel_[k].parameters;
    parameters.kernelParams = &address;
    check(cudaGraphExecKernelNodeSetParams(executable_, kernel_[k].node, &parameters), "changing a graph's argument");
  }

  /// Asynchronous.
  void launch(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "launching a graph"); }

 private:
  struct Kernel {
    cudaGraphNode_t node;
    cudaKernelNodeParams parameters;
  };

  template <class Number>
  void find_kernels(const Number& number) {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "counting a graph's kernels");
    std::vector<cudaGraphNode_t> node(count);
    kernel_.reserve(count);
    check(cudaGraphGetNodes(graph_, node.data(), &count), "asking for a graph's kernels");
    for (const cudaGraphNode_t n : node) {
      cudaKernelNodeParams parameters{};
      check(cudaGraphKernelNodeGetParams(n, &parameters), "asking for a graph's kernel");
      kernel_.push_back({n, parameters});
    }
    const auto number_of = [&](const Kernel& k) {
      return number(*static_cast<const Argument*>(k.parameters.kernelParams[0]));
    };
    std::sort(kernel_.begin(), kernel_.end(),
              [&](const Kernel& k, const Kernel& l) { return number_of(k) < number_of(l); });
  }

  void swap(LaunchGraph& other) noexcept {
    std::swap(graph_, other.graph_);
    std::swap(executable_, other.executable_);
    kernel_.swap(other.kernel_);
  }

  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::vector<Kernel> kernel_;
};

}  // namespace taskdag::cuda
