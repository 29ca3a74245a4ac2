/// \file
/// The device controller of static programs: a kernel that decides whether a graph's loop goes on.
#include <cuda_runtime_api.h>

#include "taskdag/engine/cuda/check.cuh"
#include "taskdag/engine/static/turn.hpp"
#include "taskdag/error.hpp"

namespace taskdag::engine {

#if defined(__CUDACC_RDC__)
namespace {

/// One thread; no team works on the program meanwhile.
__global__ void turn_kernel(StaticTurn* turn, cudaGraphConditionalHandle go_on) {
  const std::uint32_t remaining = turn->total - turn->done;
  const bool levels = turn->tickets != nullptr;
  std::uint32_t given = remaining < turn->most ? remaining : turn->most;
  if (levels) given = remaining < 1U ? remaining : 1U;
  turn->teams = levels && remaining != 0 ? turn->most : given;
  turn->done += given;
  if (remaining != 0) ++turn->turns;
  if (levels && remaining == 0) *turn->tickets = ((*turn->tickets >> 32U) + 1U) << 32U;  // the next run begins
  cudaGraphSetConditional(go_on, remaining != 0 ? 1U : 0U);
}

}  // namespace

void* add_turn_controller(void* body, StaticTurn* turn, std::uint64_t condition) {
  auto go_on = static_cast<cudaGraphConditionalHandle>(condition);
  void* arguments[] = {&turn, &go_on};
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(&turn_kernel);
  params.gridDim = dim3(1);
  params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  detail::check(cudaGraphAddKernelNode(&node, static_cast<cudaGraph_t>(body), nullptr, 0, &params),
                "a graph's controller");
  return node;
}
#else
void* add_turn_controller(void* /*body*/, StaticTurn* /*turn*/, std::uint64_t /*condition*/) {
  throw Unsupported(
      "this library was built without device linking (libcudadevrt, and not as PTX alone), which the device controller "
      "needs");
}
#endif

}  // namespace taskdag::engine
