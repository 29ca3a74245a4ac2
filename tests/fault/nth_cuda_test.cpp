// A CUDA runtime that fails, and host memory that fails under CUDA: the first, second, … internal call of each public
// call. TASKDAG_FAULT_FAILURES [10]: how many of them are tried of each call, evenly spread; 1000000: all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "fault/failing_cuda.hpp"
#include "fault/failing_new.hpp"
#include "fault/nth_failure.hpp"

namespace taskdag {
namespace {

std::int64_t most_failures() {
  const char* const asked = std::getenv("TASKDAG_FAULT_FAILURES");
  return asked == nullptr ? 10 : std::max(1LL, std::atoll(asked));
}

class NthCudaFailure : public testing::TestWithParam<SolveSchedule> {
 protected:
  void SetUp() override {
    if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
    if (GetParam() == SolveSchedule::cells && !test::device_has_cells()) GTEST_SKIP() << "this device cannot run cells";
    context_.emplace(Context::create({.backend = Backend::cuda}));
    device_ = test::make_device_stream();
  }
  [[nodiscard]] test::Site device_arrays() const { return {&*context_, device_.get()}; }
  [[nodiscard]] test::Site host_arrays() const { return {&*context_, nullptr}; }
  void expect_to_survive(const std::vector<test::Call>& calls) {
    EXPECT_GT(test::expect_to_survive(calls, cuda_, most_failures()), 0) << "nothing has failed";
  }
  void expect_to_survive_without_memory(const std::vector<test::Call>& calls) {
    EXPECT_GT(test::expect_to_survive(calls, memory_, most_failures()), 0) << "nothing has failed";
  }

 private:
  test::FailingCuda cuda_;
  test::FailingNew memory_;
  std::optional<Context> context_;
  std::unique_ptr<test::DeviceStream> device_;
};

class NthTriangularFailure : public NthCudaFailure {};
class NthFactorFailure : public NthCudaFailure {};

TEST_P(NthTriangularFailure, OfCuda) { expect_to_survive(test::triangular_calls(device_arrays(), GetParam())); }

TEST_P(NthTriangularFailure, OfCudaWithHostArrays) {
  expect_to_survive(test::triangular_calls(host_arrays(), GetParam()));
}

TEST_P(NthTriangularFailure, OfHostMemory) {
  if (GetParam() == SolveSchedule::cusparse) GTEST_SKIP() << "libcusparse allocates by this program's operator new";
  expect_to_survive_without_memory(test::triangular_calls(device_arrays(), GetParam()));
}

TEST_P(NthFactorFailure, OfCuda) {
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    expect_to_survive(test::factor_calls(device_arrays(), kind, GetParam()));
  }
}

TEST_P(NthFactorFailure, OfHostMemory) {
  if (GetParam() == SolveSchedule::cusparse) GTEST_SKIP() << "libcusparse allocates by this program's operator new";
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    expect_to_survive_without_memory(test::factor_calls(device_arrays(), kind, GetParam()));
  }
}

TEST_P(NthFactorFailure, SorOfCuda) {
  for (const test::Site& site : {device_arrays(), host_arrays()}) {
    expect_to_survive(test::sor_calls(site, GetParam()));
  }
}

TEST_P(NthFactorFailure, SorOfHostMemory) {
  if (GetParam() == SolveSchedule::cusparse) GTEST_SKIP() << "libcusparse allocates by this program's operator new";
  expect_to_survive_without_memory(test::sor_calls(device_arrays(), GetParam()));
}

/// What no schedule is needed for: the parameter is one alone.
TEST_P(NthCudaFailure, OfCuda) {
  for (const test::Site& site : {device_arrays(), host_arrays()}) {
    expect_to_survive(test::factor_form_calls(site));
    expect_to_survive(test::point_block_calls(site));
    expect_to_survive(test::jacobi_calls(site));
    expect_to_survive(test::block_jacobi_calls(site));
    expect_to_survive(test::ordering_calls(site));  // all of them together: some are the host's alone
  }
}

TEST_P(NthCudaFailure, OfHostMemory) {
  expect_to_survive_without_memory(test::factor_form_calls(device_arrays()));
  expect_to_survive_without_memory(test::point_block_calls(device_arrays()));
  expect_to_survive_without_memory(test::jacobi_calls(device_arrays()));
  expect_to_survive_without_memory(test::block_jacobi_calls(device_arrays()));
  expect_to_survive_without_memory(test::ordering_calls(device_arrays()));
}

std::string name_of(const testing::TestParamInfo<SolveSchedule>& schedule) {
  std::string name = to_string(schedule.param);
  std::ranges::replace(name, '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cuda, NthCudaFailure, testing::Values(SolveSchedule::automatic), name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, NthTriangularFailure, testing::ValuesIn(solve_schedules(Backend::cuda)), name_of);
INSTANTIATE_TEST_SUITE_P(Cuda, NthFactorFailure, testing::ValuesIn(test::factor_schedules(Backend::cuda)), name_of);

}  // namespace
}  // namespace taskdag
