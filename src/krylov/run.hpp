/// \file
/// How a method becomes a loop: included by the methods alone.
#pragma once

#include <memory>

#include "krylov/run_host.hpp"
#include "taskdag/error.hpp"
#if defined(__CUDACC__)
#include "krylov/run_cuda.cuh"
#endif

namespace taskdag::krylov {

template <class Method>
std::unique_ptr<Loop> make_loop(const LoopInput& input) {
  if (input.context.backend() == Backend::host) return std::make_unique<HostLoop<Method>>(input);
#if defined(__CUDACC__)
  return std::make_unique<CudaLoop<Method>>(input);
#else
  throw Unsupported("Krylov methods on CUDA: the library was built without CUDA");
#endif
}

/// The same of a method that computes with the numbers of the system.
template <template <class Number> class Method>
std::unique_ptr<Loop> make_loop_of_numbers(const LoopInput& input) {
  if (input.system.complex) return make_loop<Method<Complex>>(input);
  return make_loop<Method<double>>(input);
}

}  // namespace taskdag::krylov
