// Code and device of different generations: what the library takes for granted is what its code has.
#include <algorithm>
#include <vector>

#include "backends/cuda/generation.hpp"
#include "backends/cuda/launch.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/overlap.cuh"
#include "device_fixture.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"

namespace taskdag {
namespace {

/// What this file was compiled for, as the library was.
__global__ void say_generation(int* generation) {
#if defined(__CUDA_ARCH__)
  *generation = __CUDA_ARCH__ / 10;
#endif
}

/// Takes a while, and writes at the end.
__global__ void write_late(int* value, int number) {
  const long long start = clock64();
  while (clock64() - start < 100000) {
  }
  *value = number;
}

__global__ void read_after(const int* value, int* seen) {
  cuda::let_next_launch_start();
  cuda::wait_for_last_launch();
  *seen = *value;
}

class GenerationTest : public test::OnDevice<> {
 protected:
  [[nodiscard]] int of_code() const {
    const cuda::ScratchArray<int> found(1, stream());
    say_generation<<<1, 1, 0, stream()>>>(found.data());
    cuda::check_launch("say_generation");
    return cuda::fetch(found.data(), stream());
  }
};

TEST_F(GenerationTest, IsThatOfTheCodeThatRuns) {
  EXPECT_EQ(cuda::generation(), of_code());
  int major = 0;
  int minor = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), cudaSuccess);
  EXPECT_LE(cuda::generation(), 10 * major + minor);
  RecordProperty("device", 10 * major + minor);
  RecordProperty("code", of_code());
}

TEST_F(GenerationTest, LaunchesOverlapWhereTheCodeWaits) {
  EXPECT_EQ(cuda::launches_overlap(), of_code() >= 90);
  cuda::Launch plain(1, 1, 0, stream());
  EXPECT_EQ(plain.overlapping(false).config().numAttrs, 0U);
  cuda::Launch overlapping(1, 1, 0, stream());
  EXPECT_EQ(overlapping.overlapping(true).config().numAttrs, of_code() >= 90 ? 1U : 0U);
}

TEST_F(GenerationTest, CellsRunWhereTheCodeHasThem) {
  if (of_code() < 90) EXPECT_FALSE(kernels::cells_supported());
}

TEST_F(GenerationTest, AnOverlappingLaunchSeesTheEndOfTheOneBefore) {
  constexpr int kPairs = 200;
  const cuda::ScratchArray<int> value(1, stream());
  const cuda::ScratchArray<int> seen(kPairs, stream());
  for (int k = 0; k < kPairs; ++k) {
    cuda::Launch(1, 1, 0, stream()).run("write_late", write_late, value.data(), k);
    cuda::Launch(1, 1, 0, stream()).overlapping(true).run("read_after", read_after, value.data(), seen.data() + k);
  }
  const std::vector<int> found = cuda::fetch_array(seen.data(), kPairs, stream());
  for (int k = 0; k < kPairs; ++k) EXPECT_EQ(found[static_cast<std::size_t>(k)], k);
}

}  // namespace
}  // namespace taskdag
