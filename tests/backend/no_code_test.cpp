// A GPU that the library has no code for. The driver is told to leave aside what was compiled for the GPU and not to
// compile what is there as PTX: nothing is left.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag {
namespace {

TEST(NoCodeTest, AutomaticTakesHostThreadsAndSaysWhy) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  const Context context = Context::create({.threads = 2});
  ASSERT_EQ(context.backend(), Backend::host);
  EXPECT_NE(context.reason(), probe_devices().message);
  EXPECT_NE(context.reason().find("CUDA, "), std::string::npos) << context.reason();
  const CsrMatrix a = test::tridiagonal(100, -1, 3, -1);
  TriangularSolver solver(context, a.view(), MemorySpace::host, {});
  const std::vector<double> b = test::right_hand_side(a.rows);
  std::vector<double> x(b.size());
  solver.solve(b.data(), x.data(), MemorySpace::host);
  EXPECT_LE(test::difference(x, test::reference_solve(a, {}, b)), test::kForwardBound);
}

TEST(NoCodeTest, TheGpuThatIsAskedForIsAnError) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  EXPECT_THROW(static_cast<void>(Context::create({.backend = Backend::cuda})), DeviceError);
}

}  // namespace
}  // namespace taskdag

int main(int count, char** words) {
  // Before the driver is asked for anything.
  // NOLINTNEXTLINE(concurrency-mt-unsafe)
  if (setenv("CUDA_FORCE_PTX_JIT", "1", 1) != 0 || setenv("CUDA_DISABLE_PTX_JIT", "1", 1) != 0) return 1;
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
