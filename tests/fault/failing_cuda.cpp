#include "fault/failing_cuda.hpp"

#include <cuda_runtime_api.h>

#include <utility>

namespace {

// One thread calls CUDA in these tests.
std::int64_t calls = 0;
std::int64_t failing = 0;
const char* failed_call = nullptr;
cudaError_t failure = cudaSuccess;
/// What cudaGetLastError() has to say of a failure: launches are asked for theirs that way.
cudaError_t pending = cudaSuccess;

enum Kind { device_memory, pinned_memory, events, streams, graphs, executables };
taskdag::test::Held held{};
taskdag::test::Costs costs{};

/// Counts a call. @returns `error` where it is the one to fail, and remembers it
cudaError_t fail_here(const char* name, cudaError_t error) {
  if (++calls != failing) return cudaSuccess;
  failed_call = name;
  failure = error;
  pending = error;
  return error;
}

cudaError_t count(cudaError_t result, Kind kind, int change) {
  if (kind == device_memory || kind == pinned_memory) ++costs.memory;
  if (result == cudaSuccess) held[kind] += change;
  return result;
}

// What memory and resources fail with; what work fails with.
constexpr cudaError_t kNoMemory = cudaErrorMemoryAllocation;
constexpr cudaError_t kNoLaunch = cudaErrorLaunchOutOfResources;
constexpr cudaError_t kNoCopy = cudaErrorInvalidValue;

}  // namespace

// WRAP(name, (parameters), {body}): the call itself, and the one in its place.
#define WRAP(name, parameters, ...)                \
  extern "C" cudaError_t __real_##name parameters; \
  extern "C" cudaError_t __wrap_##name parameters; \
  extern "C" cudaError_t __wrap_##name parameters __VA_ARGS__

// FAILS(name, error, (parameters), (arguments)): may fail. MAKES(…, kind): may fail, and one more is held. FREES(…):
// one less is. WAITS(…): the host waits. COPIES(…), with a parameter `kind`: may fail, and counts a copy to or from the
// host.
#define FAILS(name, error, parameters, arguments)                        \
  WRAP(name, parameters, {                                               \
    const cudaError_t injected = fail_here(#name, error);                \
    return injected != cudaSuccess ? injected : __real_##name arguments; \
  })
#define MAKES(name, error, parameters, arguments, kind)                                  \
  WRAP(name, parameters, {                                                               \
    const cudaError_t injected = fail_here(#name, error);                                \
    return injected != cudaSuccess ? injected : count(__real_##name arguments, kind, 1); \
  })
#define FREES(name, parameters, arguments, kind) \
  WRAP(name, parameters, { return count(__real_##name arguments, kind, -1); })

#define WAITS(name, parameters, arguments) \
  WRAP(name, parameters, {                 \
    ++costs.waits;                         \
    return __real_##name arguments;        \
  })

#define COPIES(name, parameters, arguments)                              \
  WRAP(name, parameters, {                                               \
    if (kind != cudaMemcpyDeviceToDevice) ++costs.copies;                \
    const cudaError_t injected = fail_here(#name, kNoCopy);              \
    return injected != cudaSuccess ? injected : __real_##name arguments; \
  })

MAKES(cudaMallocFromPoolAsync, kNoMemory, (void** p, std::size_t n, cudaMemPool_t pool, cudaStream_t s),
      (p, n, pool, s), device_memory)
MAKES(cudaMalloc, kNoMemory, (void** p, std::size_t n), (p, n), device_memory)
MAKES(cudaMallocHost, kNoMemory, (void** p, std::size_t n), (p, n), pinned_memory)
FREES(cudaFreeAsync, (void* p, cudaStream_t s), (p, s), device_memory)
WRAP(cudaFree, (void* p), { return p == nullptr ? __real_cudaFree(p) : count(__real_cudaFree(p), device_memory, -1); })
FREES(cudaFreeHost, (void* p), (p), pinned_memory)

MAKES(cudaEventCreate, kNoMemory, (cudaEvent_t * e), (e), events)
MAKES(cudaEventCreateWithFlags, kNoMemory, (cudaEvent_t * e, unsigned flags), (e, flags), events)
FREES(cudaEventDestroy, (cudaEvent_t e), (e), events)
MAKES(cudaStreamCreateWithFlags, kNoMemory, (cudaStream_t * s, unsigned flags), (s, flags), streams)
FREES(cudaStreamDestroy, (cudaStream_t s), (s), streams)
MAKES(cudaGraphCreate, kNoMemory, (cudaGraph_t * g, unsigned flags), (g, flags), graphs)
FREES(cudaGraphDestroy, (cudaGraph_t g), (g), graphs)
MAKES(cudaGraphInstantiate, kNoMemory, (cudaGraphExec_t * e, cudaGraph_t g, unsigned long long flags), (e, g, flags),
      executables)
FREES(cudaGraphExecDestroy, (cudaGraphExec_t e), (e), executables)

FAILS(cudaStreamBeginCapture, kNoCopy, (cudaStream_t s, cudaStreamCaptureMode mode), (s, mode))
WRAP(cudaStreamEndCapture, (cudaStream_t s, cudaGraph_t* g), {
  // Counted alone: a failure would leave the stream in its capture.
  const cudaError_t result = __real_cudaStreamEndCapture(s, g);
  return *g != nullptr ? count(result, graphs, 1) : result;
})
FAILS(cudaGraphAddKernelNode, kNoMemory,
      (cudaGraphNode_t * node, cudaGraph_t g, const cudaGraphNode_t* before, std::size_t n,
       const cudaKernelNodeParams* parameters),
      (node, g, before, n, parameters))
FAILS(cudaGraphExecKernelNodeSetParams, kNoCopy,
      (cudaGraphExec_t e, cudaGraphNode_t node, const cudaKernelNodeParams* parameters), (e, node, parameters))

WAITS(cudaStreamSynchronize, (cudaStream_t s), (s))
WAITS(cudaEventSynchronize, (cudaEvent_t e), (e))
WAITS(cudaDeviceSynchronize, (), ())
WAITS(cudaMemcpy, (void* to, const void* from, std::size_t n, cudaMemcpyKind kind), (to, from, n, kind))

COPIES(cudaMemcpyAsync, (void* to, const void* from, std::size_t n, cudaMemcpyKind kind, cudaStream_t s),
       (to, from, n, kind, s))
COPIES(cudaMemcpy2DAsync,
       (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width, std::size_t height,
        cudaMemcpyKind kind, cudaStream_t s),
       (to, to_pitch, from, from_pitch, width, height, kind, s))
FAILS(cudaMemsetAsync, kNoCopy, (void* to, int value, std::size_t n, cudaStream_t s), (to, value, n, s))
FAILS(cudaEventRecord, kNoCopy, (cudaEvent_t e, cudaStream_t s), (e, s))
FAILS(cudaStreamWaitEvent, kNoCopy, (cudaStream_t s, cudaEvent_t e, unsigned flags), (s, e, flags))
FAILS(cudaFuncSetAttribute, kNoCopy, (const void* f, cudaFuncAttribute attribute, int value), (f, attribute, value))
FAILS(cudaGraphLaunch, kNoLaunch, (cudaGraphExec_t e, cudaStream_t s), (e, s))
FAILS(cudaLaunchKernel, kNoLaunch,
      (const void* f, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t s),
      (f, grid, block, arguments, shared, s))
#if CUDART_VERSION >= 13000  // what <<<>>> calls there
FAILS(__cudaLaunchKernel, kNoLaunch,
      (cudaKernel_t f, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t s),
      (f, grid, block, arguments, shared, s))
#endif
FAILS(cudaLaunchKernelExC, kNoLaunch, (const cudaLaunchConfig_t* config, const void* f, void** arguments),
      (config, f, arguments))
FAILS(cudaLaunchCooperativeKernel, kNoLaunch,
      (const void* f, dim3 grid, dim3 block, void** arguments, std::size_t shared, cudaStream_t s),
      (f, grid, block, arguments, shared, s))

WRAP(cudaGetLastError, (), {
  const cudaError_t real = __real_cudaGetLastError();
  const cudaError_t injected = std::exchange(pending, cudaSuccess);
  return injected != cudaSuccess ? injected : real;
})
WRAP(cudaPeekAtLastError, (), { return pending != cudaSuccess ? pending : __real_cudaPeekAtLastError(); })

namespace taskdag::test {

void FailingCuda::arm(std::int64_t k) {
  calls = 0;
  failing = k;
  failed_call = nullptr;
  pending = cudaSuccess;
  ::costs = {};
}

std::int64_t FailingCuda::disarm() {
  failing = 0;
  return calls;
}

std::string FailingCuda::failed() const { return failed_call == nullptr ? "" : failed_call; }

bool FailingCuda::was_memory() const { return failure == kNoMemory; }

Held FailingCuda::held() const { return ::held; }

Costs FailingCuda::costs() { return ::costs; }

}  // namespace taskdag::test
