// Another device is current while an object is made, used or destroyed: each call gives the bits that it gives where
// its own device is, and leaves current what was. Needs two devices.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backends/cuda/memory.hpp"
#include "fault/calls.hpp"

namespace taskdag::test {
namespace {

void select(int device) { cuda::check(cudaSetDevice(device), "selecting a device"); }

/// Devices that are current while a call is prepared, while it runs, while its objects go.
using CurrentDevices = std::array<int, 3>;

void expect_current(int device, const char* after) {
  EXPECT_EQ(cuda::current_device(), device) << after << " has changed the current device";
}

std::vector<double> result_with(const Call& call, int own, const CurrentDevices& current) {
  select(current[0]);
  call.prepare();
  expect_current(current[0], "what leads up to the call");
  select(current[1]);
  call.run();
  expect_current(current[1], "the call");
  std::vector<double> result = call.result();
  expect_current(current[1], "the use of the object");
  select(current[2]);
  call.drop();
  expect_current(current[2], "a destructor");
  select(own);
  return result;
}

void expect_same_bits(const std::vector<double>& x, const std::vector<double>& expected) {
  ASSERT_EQ(x.size(), expected.size());
  EXPECT_EQ(std::memcmp(x.data(), expected.data(), x.size() * sizeof(double)), 0);
}

/// Parameter: the device of the objects, 0 or 1.
class OtherDeviceTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const DeviceProbe& probe = probe_devices();
    if (probe.devices < 2) GTEST_SKIP() << "two devices are needed; " << probe.message;
    context_ = std::make_unique<Context>(Context::create({.backend = Backend::cuda, .device = own()}));
    select(own());
    device_ = make_device_stream();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    select(own());
    device_.reset();
    context_.reset();
    select(0);
  }

  /// calls(site): with arrays in device memory and in host memory.
  template <class Calls>
  void expect_same(const Calls& calls) {
    for (DeviceStream* const device : {device_.get(), static_cast<DeviceStream*>(nullptr)}) {
      const Site site{context_.get(), device};
      for (const Call& call : calls(site)) {
        SCOPED_TRACE(call.name + (device == nullptr ? ", host memory" : ", device memory"));
        const std::vector<double> expected = result_with(call, own(), {own(), own(), own()});
        for (const CurrentDevices& current :
             {CurrentDevices{other(), own(), own()}, CurrentDevices{own(), other(), own()},
              CurrentDevices{own(), own(), other()}, CurrentDevices{other(), other(), other()}}) {
          expect_same_bits(result_with(call, own(), current), expected);
        }
      }
    }
  }

 private:
  [[nodiscard]] static int own() { return GetParam(); }
  [[nodiscard]] static int other() { return 1 - GetParam(); }

  std::unique_ptr<Context> context_;
  std::unique_ptr<DeviceStream> device_;
};

TEST_P(OtherDeviceTest, TriangularSolves) {
  for (const SolveSchedule schedule : runnable_schedules(Backend::cuda)) {
    SCOPED_TRACE(to_string(schedule));
    expect_same([&](const Site& site) { return triangular_calls(site, schedule); });
  }
}

TEST_P(OtherDeviceTest, Factorizations) {
  for (const SolveSchedule schedule : test::factor_schedules(Backend::cuda)) {
    if (schedule == SolveSchedule::cells && !device_has_cells()) continue;
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      SCOPED_TRACE(to_string(schedule));
      expect_same([&](const Site& site) { return factor_calls(site, kind, schedule); });
    }
  }
  expect_same(factor_form_calls);
}

TEST_P(OtherDeviceTest, Sor) {
  for (const SolveSchedule schedule : test::factor_schedules(Backend::cuda)) {
    if (schedule == SolveSchedule::cells && !device_has_cells()) continue;
    SCOPED_TRACE(to_string(schedule));
    expect_same([&](const Site& site) { return sor_calls(site, schedule); });
  }
}

TEST_P(OtherDeviceTest, PointBlocks) { expect_same(point_block_calls); }
TEST_P(OtherDeviceTest, Jacobi) { expect_same(jacobi_calls); }
TEST_P(OtherDeviceTest, BlockJacobi) { expect_same(block_jacobi_calls); }
TEST_P(OtherDeviceTest, Orderings) { expect_same(ordering_calls); }

INSTANTIATE_TEST_SUITE_P(Devices, OtherDeviceTest, testing::Values(0, 1),
                         [](const auto& device) { return "Own" + std::to_string(device.param); });

}  // namespace
}  // namespace taskdag::test
