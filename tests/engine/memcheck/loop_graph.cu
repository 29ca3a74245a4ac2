// A CUDA graph's WHILE node whose body is a kernel that counts and sets the condition, and another that adds to an
// array within its bounds. Nothing of the engine: if `compute-sanitizer --tool memcheck` reports an access here, it is
// the tool's. The graph is launched several times; --once launches it once.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

namespace {

constexpr int kTurns = 5;
constexpr int kThreads = 64;

__global__ void control(int* turns, cudaGraphConditionalHandle go_on) {
  const bool more = ++*turns < kTurns;
  cudaGraphSetConditional(go_on, more ? 1U : 0U);
}
__global__ void add(int* values) { values[threadIdx.x] += 1; }

bool check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return true;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  return false;
}

bool add_kernel(cudaGraph_t graph, cudaGraphNode_t* node, const cudaGraphNode_t* after, void* kernel, int threads,
                void** arguments) {
  cudaKernelNodeParams params{};
  params.func = kernel;
  params.gridDim = dim3(1);
  params.blockDim = dim3(static_cast<unsigned>(threads));
  params.kernelParams = arguments;
  return check(cudaGraphAddKernelNode(node, graph, after, after ? 1 : 0, &params), "a kernel's node");
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 && std::strcmp(argv[1], "--once") == 0 ? 1 : 3;
  int* memory = nullptr;  // turns, then the values
  if (!check(cudaMalloc(&memory, (1 + kThreads) * sizeof(int)), "memory")) return 1;
  cudaGraph_t graph = nullptr;
  if (!check(cudaGraphCreate(&graph, 0), "a graph")) return 1;
  cudaGraphConditionalHandle condition{};
  if (!check(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault), "a condition")) {
    return 1;
  }
  cudaGraphNodeParams loop{};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = condition;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
  if (!check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), "the loop")) return 1;
#else
  if (!check(cudaGraphAddNode(&node, graph, nullptr, 0, &loop), "the loop")) return 1;
#endif
  cudaGraph_t body = loop.conditional.phGraph_out[0];
  int* values = memory + 1;
  void* control_arguments[] = {&memory, &condition};
  void* add_arguments[] = {&values};
  cudaGraphNode_t first = nullptr;
  cudaGraphNode_t second = nullptr;
  if (!add_kernel(body, &first, nullptr, reinterpret_cast<void*>(&control), 1, control_arguments)) return 1;
  if (!add_kernel(body, &second, &first, reinterpret_cast<void*>(&add), kThreads, add_arguments)) return 1;
  cudaGraphExec_t instance = nullptr;
  if (!check(cudaGraphInstantiate(&instance, graph, 0), "instantiating")) return 1;
  int found[1 + kThreads];
  for (int launch = 0; launch < launches; ++launch) {
    if (!check(cudaMemset(memory, 0, sizeof(found)), "clearing")) return 1;
    if (!check(cudaGraphLaunch(instance, nullptr), "launching")) return 1;
    if (!check(cudaDeviceSynchronize(), "running")) return 1;
    if (!check(cudaMemcpy(found, memory, sizeof(found), cudaMemcpyDeviceToHost), "copying")) return 1;
    for (const int value : found) {
      if (value == kTurns) continue;
      std::fprintf(stderr, "a count is %d, not %d\n", value, kTurns);
      return 1;
    }
  }
  const bool released = check(cudaGraphExecDestroy(instance), "destroying") &&
                        check(cudaGraphDestroy(graph), "destroying") && check(cudaFree(memory), "freeing");
  std::puts("all counts are right");
  return released ? 0 : 1;
}
