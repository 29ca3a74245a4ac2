// A GPU that is there and cannot be used. The program is made of the plugin's objects and finds a device that nobody
// can open, since none is visible (CMakeLists.txt): what a GPU without code for it, in exclusive mode or with its
// memory full is to the plugin.
#include <string>

#include "support.hpp"
#include "taskdag/context.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {

// In place of the library's.
const DeviceProbe& probe_devices() {
  static const DeviceProbe found{true, 1, "1 CUDA device"};
  return found;
}

namespace test {
namespace {

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 9, .nz = 1}); }

class UnusableGpu : public testing::Test {
 protected:
  void SetUp() override {
    try {
      static_cast<void>(Context::create({.backend = Backend::cuda, .device = 0}));
    } catch (const Error&) {
      return;
    }
    GTEST_SKIP() << "a GPU can be used: CUDA_VISIBLE_DEVICES= hides it";
  }
};

TEST_F(UnusableGpu, AutoTakesHostThreadsAndSaysWhy) {
  const OwnedMat a = make_matrix(grid());
  // Twice: the second time nothing is tried any more.
  for (const char* type : {"-pc_type taskdag", "-pc_type ilu -pc_factor_mat_solver_type taskdag", "-pc_type taskdag"}) {
    const Solve result = solve(a, std::string(type) + " -taskdag_auto_min_rows 0");
    EXPECT_EQ(static_cast<int>(result.code), 0) << result.message;
    EXPECT_GT(result.reason, 0);
    EXPECT_NE(result.view.find("backend: host (the GPU cannot be used: "), std::string::npos) << result.view;
  }
}

TEST_F(UnusableGpu, FewRowsDoNotEvenTry) {
  const OwnedMat a = make_matrix(grid());
  const Solve result = solve(a, "-pc_type taskdag");
  EXPECT_NE(result.view.find("backend: host (81 rows, fewer than "), std::string::npos) << result.view;
}

TEST_F(UnusableGpu, OneThatIsAskedForIsAnError) {
  const OwnedMat a = make_matrix(grid());
  const Solve result = solve(a, "-pc_type taskdag -pc_taskdag_backend cuda");
  EXPECT_NE(static_cast<int>(result.code), 0);
  EXPECT_FALSE(result.message.empty());
}

}  // namespace
}  // namespace test
}  // namespace taskdag
