// Sizes of launches at the end of 32 bits.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/analysis/in_flight.hpp"
#include "taskdag/context.hpp"

namespace taskdag {
namespace {

constexpr Index kMost = std::numeric_limits<Index>::max();

TEST(CudaLimitsTest, ElementsOfEveryCountHaveABlock) {
  for (const std::int64_t n : {std::int64_t{1}, std::int64_t{kMost}, std::int64_t{kMost} + 1, 32 * std::int64_t{kMost},
                               256 * std::int64_t{kMost}}) {
    const std::int64_t blocks = cuda::element_blocks(n);
    EXPECT_GE(blocks * cuda::kElementBlock, n);
    EXPECT_LT((blocks - 1) * cuda::kElementBlock, n);
  }
}

TEST(CudaLimitsTest, WarpsInFlightOfEveryTriangle) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const auto& limits = cuda::device_limits();
  const std::int64_t most =
      std::int64_t{limits.multiprocessors} * limits.threads_per_multiprocessor / cuda::kElementBlock;
  for (const Index levels : {Index{1}, Index{1} << 30, kMost}) {
    kernels::TaskList tasks;
    tasks.rows = kMost;
    tasks.tasks = kMost;
    tasks.levels = levels;
    const int blocks = kernels::persistent_blocks(tasks, {}, cuda::kElementBlock);
    EXPECT_GE(blocks, 1);
    EXPECT_LE(blocks, most);
  }
}

}  // namespace
}  // namespace taskdag
