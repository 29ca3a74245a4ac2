// Streams that have a share of a device's multiprocessors (CUDA's green contexts): fewer blocks run at once than the
// device's limits say, and everything ends all the same, with the same results.
#include <cuda.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "backends.hpp"
#include "backends/cuda/memory.hpp"
#include "device_fixture.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/ordering.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag {
namespace {

constexpr unsigned kMultiprocessors = 16;

/// A function of the driver, which is not linked; null where this driver has none.
template <class Function>
Function* driver_function(const char* name, Function* /*type*/) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result{};
  const cudaError_t error = cudaGetDriverEntryPointByVersion(name, &found, CUDART_VERSION, cudaEnableDefault, &result);
  if (error != cudaSuccess || result != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Function*>(found);
}
#define TASKDAG_DRIVER(name) driver_function(#name, &name)

class ShareTest : public test::OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    const auto resource = TASKDAG_DRIVER(cuDeviceGetDevResource);
    const auto split = TASKDAG_DRIVER(cuDevSmResourceSplitByCount);
    const auto describe = TASKDAG_DRIVER(cuDevResourceGenerateDesc);
    const auto create = TASKDAG_DRIVER(cuGreenCtxCreate);
    const auto make_stream = TASKDAG_DRIVER(cuGreenCtxStreamCreate);
    destroy_ = TASKDAG_DRIVER(cuGreenCtxDestroy);
    if (!resource || !split || !describe || !create || !make_stream || !destroy_) {
      GTEST_SKIP() << "this driver has no green contexts";
    }
    CUdevResource all{};
    CUdevResource some{};
    CUdevResource rest{};
    CUdevResourceDesc description = nullptr;
    unsigned groups = 1;
    ASSERT_EQ(resource(0, &all, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    ASSERT_EQ(split(&some, &groups, &all, &rest, 0, kMultiprocessors), CUDA_SUCCESS);
    ASSERT_EQ(describe(&description, &some, 1), CUDA_SUCCESS);
    ASSERT_EQ(create(&share_, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    ASSERT_EQ(make_stream(&narrow_, share_, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    context_ = std::make_unique<Context>(Context::create({.backend = Backend::cuda}));
  }
  void TearDown() override {
    context_.reset();
    EXPECT_TRUE(narrow_ == nullptr || cudaStreamDestroy(narrow_) == cudaSuccess);
    EXPECT_TRUE(share_ == nullptr || destroy_(share_) == CUDA_SUCCESS);
  }

  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] Stream narrow() const { return {narrow_}; }

  /// What needs as many blocks at once as it was made with says so where they are not to be had.
  static void expect_done_or_refused(const std::function<void()>& run) {
    try {
      run();
    } catch (const DeviceError& error) {
      EXPECT_NE(std::string(error.what()).find("share of the GPU"), std::string::npos) << error.what();
    }
  }
  /// `run` from the same vector on both streams gives the same bits. Twice: what is armed for a next run is right, too.
  void expect_same(Index rows, const std::function<void(const double* b, double* x, Stream)>& run) const {
    const auto b = cuda::upload(test::right_hand_side(rows), stream());
    const auto expected = cuda::upload(test::right_hand_side(rows), stream());
    run(b.data(), expected.data(), {stream()});
    for (int repeat = 0; repeat < 2; ++repeat) {
      const auto x = cuda::upload(test::right_hand_side(rows), stream());
      run(b.data(), x.data(), narrow());
      EXPECT_TRUE(test::same_bits(cuda::fetch_array(x.data(), x.size(), narrow_),
                                  cuda::fetch_array(expected.data(), x.size(), stream())));
    }
  }

 private:
  std::unique_ptr<Context> context_;
  CUgreenCtx share_ = nullptr;
  CUstream narrow_ = nullptr;
  decltype(&cuGreenCtxDestroy) destroy_ = nullptr;
};

CsrMatrix grid(Stencil stencil, Index n, Index nz = 1, Index unknowns = 1) {
  return make_stencil({.stencil = stencil, .nx = n, .ny = n, .nz = nz, .unknowns_per_node = unknowns});
}

/// More rows than there are warps at once, in each form that an elimination's kernel has.
std::vector<test::Problem> problems() {
  return {{"5-point 300 x 300", grid(Stencil::five_point, 300)},
          {"7-point 40 x 40 x 40", grid(Stencil::seven_point, 40, 40)},
          {"27-point 30 x 30 x 30", grid(Stencil::twenty_seven_point, 30, 30)},
          {"27-point, 2 unknowns, 18 x 18 x 18", grid(Stencil::twenty_seven_point, 18, 18, 2)},
          {"27-point, 3 unknowns, 16 x 16 x 16", grid(Stencil::twenty_seven_point, 16, 16, 3)},
          {"27-point, 5 unknowns, 8 x 8 x 8", grid(Stencil::twenty_seven_point, 8, 8, 5)}};
}

TEST_F(ShareTest, Factorizations) {
  for (const test::Problem& problem : problems()) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      SCOPED_TRACE(problem.name + (kind == FactorKind::ilu ? ", ilu" : ", ic"));
      FactorStatus unused;
      const CsrMatrix reference = test::reference_factor(problem.a, {.kind = kind}, 0.0, unused);
      Factorization f(context(), problem.a.pattern(), MemorySpace::host, {.kind = kind}, {}, {}, narrow());
      for (int repeat = 0; repeat < 2; ++repeat) {
        EXPECT_TRUE(f.factor(problem.a.values.data(), MemorySpace::host, narrow()).ok());
        EXPECT_LE(test::factor_difference(f.copy_factor(), reference), test::kForwardBound);
      }
    }
  }
}

TEST_F(ShareTest, Sweeps) {
  for (const test::Problem& problem : problems()) {
    for (const SolveSchedule schedule : test::runnable_schedules(Backend::cuda)) {
      if (schedule == SolveSchedule::blocks) continue;  // of orderings by blocks
      // cuSPARSE 12.6 goes on after a launch of its analysis that was refused there, and writes where it must not.
      if (schedule == SolveSchedule::cusparse) continue;
      SCOPED_TRACE(problem.name + ", " + to_string(schedule));
      FactorOptions options;
      options.schedule = schedule;
      Factorization f(context(), problem.a.pattern(), MemorySpace::host, options, {}, {}, narrow());
      ASSERT_TRUE(f.factor(problem.a.values.data(), MemorySpace::host, narrow()).ok());
      const auto apply = [&] {
        expect_same(problem.a.rows,
                    [&](const double* b, double* x, Stream s) { f.apply(Apply::full, b, x, MemorySpace::device, s); });
      };
      const bool a_block_a_core = schedule == SolveSchedule::locking || schedule == SolveSchedule::pivotal_path ||
                                  schedule == SolveSchedule::hdagg;
      a_block_a_core ? expect_done_or_refused(apply) : apply();
    }
  }
}

TEST_F(ShareTest, Jacobi) {
  const CsrMatrix a = grid(Stencil::five_point, 300);
  for (const JacobiForm form :
       {JacobiForm::automatic, JacobiForm::kernels, JacobiForm::stages_phases, JacobiForm::stages,
        JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    SCOPED_TRACE(to_string(form));
    taskdag::Jacobi jacobi(context(), a.view(), MemorySpace::host, {.sweeps = 7, .form = form}, narrow());
    const auto apply = [&] {
      expect_same(a.rows,
                  [&](const double* b, double* x, Stream s) { jacobi.apply(b, x, MemorySpace::device, false, s); });
    };
    form == JacobiForm::resident ? expect_done_or_refused(apply) : apply();
  }
}

TEST_F(ShareTest, ReverseCuthillMcKee) {
  for (const test::Problem& problem : problems()) {
    SCOPED_TRACE(problem.name);
    EXPECT_EQ(reverse_cuthill_mckee(context(), problem.a.pattern(), MemorySpace::host, nullptr, narrow()),
              reverse_cuthill_mckee(problem.a.pattern()));
  }
}

}  // namespace
}  // namespace taskdag
