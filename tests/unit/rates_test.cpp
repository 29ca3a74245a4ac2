// Rates of a device: the file that keeps calibrations, defaults, and the models of time that go by them.
#include "base/rates/rates.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/rates/rates_file.hpp"
#include "kernels/sptrsv/many/cost.hpp"
#include "kernels/sptrsv/schedules/blocks/cost.hpp"
#include "kernels/sptrsv/schedules/catalogue/expectation.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "scratch_file.hpp"

namespace taskdag::test {
namespace {

using rates::DeviceTimes;
using rates::kReferenceTimes;
using rates::RatesKey;

const RatesKey kDevice{"a device", 12080};

/// A measurement that takes `factor` times as long as the reference's.
DeviceTimes times_of(double factor) {
  return {factor * kReferenceTimes.launch, factor * kReferenceTimes.hop, factor * kReferenceTimes.step,
          factor * kReferenceTimes.megabyte};
}

DeviceTimes not_expected() { throw std::logic_error("nothing was to be measured"); }

/// A folder that does not exist, until its scope ends.
class AbsentFolder {
 public:
  explicit AbsentFolder(const std::string& name)
      : path_(testing::TempDir() + "taskdag_" + std::to_string(::getpid()) + "_" + name) {}
  ~AbsentFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  AbsentFolder(const AbsentFolder&) = delete;
  AbsentFolder& operator=(const AbsentFolder&) = delete;
  [[nodiscard]] std::string file() const { return path_ + "/deep/rates.json"; }

 private:
  std::string path_;
};

TEST(RatesFile, KeepsWhatWasMeasuredOfEachDevice) {
  const AbsentFolder folder("rates_keeps");
  EXPECT_FALSE(rates::find_times(folder.file(), kDevice)) << "it is not there";
  EXPECT_EQ(rates::settle_times(folder.file(), kDevice, false, [] { return times_of(2.0); }), times_of(2.0));
  EXPECT_EQ(rates::find_times(folder.file(), kDevice), times_of(2.0));
  EXPECT_FALSE(rates::find_times(folder.file(), {"another device", 12080}));
  EXPECT_FALSE(rates::find_times(folder.file(), {"a device", 13000})) << "launches depend on the driver";
  rates::settle_times(folder.file(), {"another device", 12080}, true, [] { return times_of(3.0); });
  EXPECT_EQ(rates::find_times(folder.file(), kDevice), times_of(2.0));
  EXPECT_EQ(rates::find_times(folder.file(), {"another device", 12080}), times_of(3.0));
}

TEST(RatesFile, MeasuresAgainOnlyWhereThatIsAskedFor) {
  const AbsentFolder folder("rates_again");
  rates::settle_times(folder.file(), kDevice, false, [] { return times_of(2.0); });
  EXPECT_EQ(rates::settle_times(folder.file(), kDevice, false, not_expected), times_of(2.0));
  EXPECT_EQ(rates::settle_times(folder.file(), kDevice, true, [] { return times_of(4.0); }), times_of(4.0));
  EXPECT_EQ(rates::find_times(folder.file(), kDevice), times_of(4.0));
  EXPECT_THROW(rates::settle_times(folder.file(), kDevice, true, not_expected), std::logic_error);
  EXPECT_EQ(rates::find_times(folder.file(), kDevice), times_of(4.0)) << "what was there stays";
}

/// A damaged file holds nothing, says so once, and is replaced by the next calibration.
void expect_damaged(const std::string& name, const std::string& content) {
  const ScratchFile file(name, content);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(rates::find_times(file.path(), kDevice));
  EXPECT_FALSE(rates::find_times(file.path(), kDevice));
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string warning = "TaskDAG: warning: the file of calibrations " + file.path() + " is damaged";
  EXPECT_EQ(said.find(warning), 0U) << said;
  EXPECT_EQ(said.find(warning, 1), std::string::npos) << said;
  rates::settle_times(file.path(), kDevice, false, [] { return times_of(2.0); });
  EXPECT_EQ(rates::find_times(file.path(), kDevice), times_of(2.0));
}

TEST(RatesFile, ADamagedFileHoldsNothingAndIsReplaced) {
  const std::string begin = R"({"format": "taskdag-rates-1", "devices": )";
  const std::vector<std::string> damaged{
      "",
      "not JSON",
      "[]",
      R"({"format": "another", "devices": []})",
      R"({"format": "taskdag-rates-1"})",
      begin,
      begin + R"([3]})",
      begin + R"([{"device": "a device", "driver": 12080}]})",
      begin + R"([{"device": "a device", "driver": 12080, "launch": "1", "hop": 1, "step": 1, "megabyte": 1}]})",
      begin + R"([{"device": "a device", "driver": 12080, "launch": 0, "hop": 1, "step": 0.03, "megabyte": 0.2}]})",
      begin + R"([{"device": "a device", "driver": 12080, "launch": 1, "hop": 1e9, "step": 0.03, "megabyte": 0.2}]})",
      begin + std::string(100000, '[')};
  for (std::size_t k = 0; k < damaged.size(); ++k) expect_damaged("rates_damaged_" + std::to_string(k), damaged[k]);
}

TEST(RatesFile, WhereItCannotBeWrittenWhatWasMeasuredCounts) {
  const ScratchFile file("rates_in_the_way");
  testing::internal::CaptureStderr();
  EXPECT_EQ(rates::settle_times(file.path() + "/rates.json", kDevice, false, [] { return times_of(2.0); }),
            times_of(2.0));
  EXPECT_EQ(rates::settle_times("", kDevice, false, [] { return times_of(2.0); }), times_of(2.0));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("rates.json cannot be written: "), std::string::npos) << said;
  EXPECT_NE(said.find("names no folder"), std::string::npos) << said;
}

TEST(RatesFile, IsInTheFolderThatTheEnvironmentNamesFirst) {
  const std::vector<std::string> names{"TASKDAG_CACHE_DIR", "XDG_CACHE_HOME", "HOME"};
  std::vector<std::string> before;
  for (const std::string& name : names) {
    const char* const value = std::getenv(name.c_str());
    before.emplace_back(value != nullptr ? value : "");
    ::setenv(name.c_str(), ("/of/" + name).c_str(), 1);
  }
  EXPECT_EQ(rates::file_of_user(), "/of/TASKDAG_CACHE_DIR/rates.json");
  ::unsetenv("TASKDAG_CACHE_DIR");
  EXPECT_EQ(rates::file_of_user(), "/of/XDG_CACHE_HOME/taskdag/rates.json");
  ::setenv("XDG_CACHE_HOME", "", 1);
  EXPECT_EQ(rates::file_of_user(), "/of/HOME/.cache/taskdag/rates.json");
  ::unsetenv("HOME");
  EXPECT_EQ(rates::file_of_user(), "");
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (before[k].empty()) {
      ::unsetenv(names[k].c_str());
    } else {
      ::setenv(names[k].c_str(), before[k].c_str(), 1);
    }
  }
}

TEST(Rates, OfTheReferenceAreOne) {
  EXPECT_EQ(rates::rates_of(kReferenceTimes), DeviceRates{});
  DeviceTimes slow = kReferenceTimes;
  slow.hop *= 2.0;
  EXPECT_EQ(rates::rates_of(slow), DeviceRates{.hop = 2.0});
}

TEST(Rates, AreOneOnTheHost) {
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  EXPECT_EQ(calibration(context).rates, DeviceRates{});
  EXPECT_EQ(calibrate(context).rates, DeviceRates{});
  EXPECT_FALSE(calibration(context).source.empty());
}

TEST(Rates, WithoutACalibrationAreThoseOfTheGeneration) {
  const Calibration reference = rates::default_calibration({90, 1e6, 1e6});
  EXPECT_EQ(reference.rates, DeviceRates{}) << "choices on all of 9.0 are those that were looked at";
  EXPECT_NE(reference.source.find("9.0"), std::string::npos) << reference.source;
  const DeviceRates a100 = rates::default_calibration({80, 1.41e6, 2.04e6}).rates;
  EXPECT_EQ(a100.launch, 1.0);
  EXPECT_EQ(a100.hop, 1.0);
  EXPECT_NEAR(a100.step, 1.40, 0.01);
  EXPECT_NEAR(a100.byte, 2.41, 0.01);
  EXPECT_EQ(rates::default_calibration({80, 0.0, 0.0}).rates, DeviceRates{}) << "the device does not say";
}

TEST(Rates, OfBytesLeaveAModelOfAnH100AsItIsOnBoth) {
  EXPECT_EQ(rates::byte_beyond_h100({}), 1.0);
  EXPECT_NEAR(rates::byte_beyond_h100({.byte = 1.43}), 1.0, 1e-12);
  EXPECT_NEAR(rates::byte_beyond_h100({.byte = 2.86}), 2.0, 1e-12);
}

kernels::TriangleFeatures features() {
  kernels::TriangleFeatures features;
  features.rows = 1000000;
  features.entries = 2000000;
  features.levels = 2000;
  return features;
}

/// What models take of the triangle above on the reference, and what of it goes by each rate.
struct Parts {
  double launch;
  double hop;
  double step;
  double byte;
};

template <class Model>
void expect_parts(const Model& model, const Parts& parts) {
  const double all = parts.launch + parts.hop + parts.step + parts.byte;
  EXPECT_NEAR(model(DeviceRates{}), all, 1e-6);
  EXPECT_NEAR(model(DeviceRates{.launch = 2.0}), all + parts.launch, 1e-6);
  EXPECT_NEAR(model(DeviceRates{.hop = 2.0}), all + parts.hop, 1e-6);
  EXPECT_NEAR(model(DeviceRates{.step = 2.0}), all + parts.step, 1e-6);
  EXPECT_NEAR(model(DeviceRates{.byte = 2.0}), all + parts.byte, 1e-6);
}

TEST(Models, GoByTheRatesOfWhatTheyCount) {
  namespace flat = kernels::flat;
  expect_parts([](const DeviceRates& rates) { return flat::microseconds(features(), rates); }, {9.0, 980.0, 0.0, 38.0});
  expect_parts([](const DeviceRates& rates) { return flat::least_microseconds(features(), rates); },
               {4.0, 800.0, 0.0, 18.5});
  expect_parts([](const DeviceRates& rates) { return kernels::supersteps::blocks_microseconds(features(), 4, rates); },
               {6.0, 12.0, 390.0, 21.0});
  expect_parts([](const DeviceRates& rates) { return kernels::many::microseconds(features(), 4, rates); },
               {14.0, 2430.0, 0.0, 32.4});
  const kernels::ExpectedSchedule remaining{SolveSchedule::cells, 100.0};
  EXPECT_EQ(kernels::expected_of_supernodes(remaining, {}).microseconds, 104.0);
  EXPECT_EQ(kernels::expected_of_joined(remaining, {.launch = 2.0}).microseconds, 108.0);
}

}  // namespace
}  // namespace taskdag::test
