// A device that is there and cannot be used: no code for it in the library, somebody else's alone, no memory left. The
// runtime's calls that open it are this program's (CMakeLists.txt has the list), so that no device is needed.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>

#include "taskdag/context.hpp"
#include "taskdag/error.hpp"

namespace {

const char* failing_call = nullptr;
cudaError_t failure = cudaSuccess;
cudaError_t pending = cudaSuccess;  // what cudaGetLastError() has to say

cudaError_t say(const char* call) {
  if (failing_call == nullptr || std::string(call) != failing_call) return cudaSuccess;
  pending = failure;
  return failure;
}

}  // namespace

#define STANDS_IN(name, ...)                         \
  extern "C" cudaError_t __wrap_##name(__VA_ARGS__); \
  extern "C" cudaError_t __wrap_##name(__VA_ARGS__)

STANDS_IN(cudaGetDeviceCount, int* count) {
  *count = 1;
  return cudaSuccess;
}
STANDS_IN(cudaGetDevice, int* device) {
  *device = 0;
  return cudaSuccess;
}
STANDS_IN(cudaSetDevice, int device) { return device == 0 ? say("cudaSetDevice") : cudaErrorInvalidDevice; }
STANDS_IN(cudaFree, void* /*pointer*/) { return say("cudaFree"); }
STANDS_IN(cudaThreadExchangeStreamCaptureMode, cudaStreamCaptureMode* /*mode*/) { return cudaSuccess; }
STANDS_IN(cudaStreamCreateWithFlags, cudaStream_t* stream, unsigned /*flags*/) {
  *stream = nullptr;
  return say("cudaStreamCreateWithFlags");
}
STANDS_IN(cudaStreamSynchronize, cudaStream_t /*stream*/) { return say("cudaStreamSynchronize"); }
STANDS_IN(cudaLaunchKernel, const void* /*kernel*/, dim3 /*grid*/, dim3 /*block*/, void** /*arguments*/,
          std::size_t /*shared*/, cudaStream_t /*stream*/) {
  return say("cudaLaunchKernel");
}
#if CUDART_VERSION >= 13000  // what <<<>>> calls there
STANDS_IN(__cudaLaunchKernel, cudaKernel_t /*kernel*/, dim3 /*grid*/, dim3 /*block*/, void** /*arguments*/,
          std::size_t /*shared*/, cudaStream_t /*stream*/) {
  return say("cudaLaunchKernel");
}
#endif
STANDS_IN(cudaGetLastError, ) { return std::exchange(pending, cudaSuccess); }

namespace taskdag {
namespace {

struct Refusal {
  const char* what;
  const char* call;
  cudaError_t error;
};

constexpr Refusal kRefusals[] = {
    {"exclusive mode", "cudaSetDevice", cudaErrorDevicesUnavailable},
    {"exclusive mode, seen later", "cudaFree", cudaErrorDevicesUnavailable},
    {"full memory", "cudaFree", cudaErrorMemoryAllocation},
    {"memory full but for the context", "cudaStreamCreateWithFlags", cudaErrorMemoryAllocation},
    {"no code", "cudaLaunchKernel", cudaErrorNoKernelImageForDevice},
    {"a driver that is older than the code", "cudaLaunchKernel", cudaErrorUnsupportedPtxVersion},
    {"a kernel that does not end well", "cudaStreamSynchronize", cudaErrorECCUncorrectable},
};

class UnusableDeviceTest : public testing::TestWithParam<Refusal> {
 protected:
  void SetUp() override {
    failing_call = GetParam().call;
    failure = GetParam().error;
  }
  void TearDown() override { failing_call = nullptr; }

  /// As Context::create() says it.
  static std::string words() { return cudaGetErrorName(GetParam().error); }
};

TEST_P(UnusableDeviceTest, AutomaticTakesHostThreadsAndSaysWhy) {
  const Context context = Context::create({.threads = 2, .device = 0});
  EXPECT_EQ(context.backend(), Backend::host);
  EXPECT_EQ(context.threads(), 2);
  EXPECT_EQ(context.device(), -1);
  EXPECT_NE(context.reason().find(words()), std::string::npos) << context.reason();
}

TEST_P(UnusableDeviceTest, ADeviceThatIsAskedForIsAnError) {
  try {
    static_cast<void>(Context::create({.backend = Backend::cuda, .device = 0}));
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(words()), std::string::npos) << error.what();
    EXPECT_EQ(dynamic_cast<const OutOfMemory*>(&error) != nullptr, GetParam().error == cudaErrorMemoryAllocation);
  }
}

INSTANTIATE_TEST_SUITE_P(Causes, UnusableDeviceTest, testing::ValuesIn(kRefusals),
                         [](const auto& cause) { return std::to_string(cause.index); });

// In a process of its own: one that has found a device usable does not try it again.
TEST(UsableDeviceTest, AutomaticTakesIt) {
  const auto takes_it = [] {
    const bool is = Context::create({.device = 0}).backend() == Backend::cuda &&
                    Context::create({.backend = Backend::cuda, .device = 0}).device() == 0;
    std::_Exit(is ? 0 : 1);
  };
  EXPECT_EXIT(takes_it(), testing::ExitedWithCode(0), "");
}

TEST(UsableDeviceTest, AnotherNumberIsMisuse) { EXPECT_THROW(Context::create({.device = 1}), Error); }

}  // namespace
}  // namespace taskdag
