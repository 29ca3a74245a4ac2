// A calibration of the GPU that is there: what it measures, keeps and changes.
#include "taskdag/calibration.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "backends/cuda/device_rates.hpp"
#include "base/rates/rates.hpp"
#include "device_fixture.hpp"

namespace taskdag {
namespace {

/// With a cache folder of its own, which is empty.
class CalibrationTest : public test::OnDevice<> {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "taskdag_calibration";
    std::filesystem::remove_all(folder_);
    ::setenv("TASKDAG_CACHE_DIR", folder_.c_str(), 1);
    test::OnDevice<>::SetUp();
  }
  void TearDown() override {
    ::unsetenv("TASKDAG_CACHE_DIR");
    std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] std::string file() const { return folder_ + "/rates.json"; }

 private:
  std::string folder_;
};

void expect_sane(double rate) {
  EXPECT_GT(rate, 0.2);
  EXPECT_LT(rate, 5.0);
}

TEST_F(CalibrationTest, MeasuresWhatIsKeptAndTakenFromThenOn) {
  const Context context = Context::create({.backend = Backend::cuda});
  const Calibration usual = calibration(context);
  EXPECT_NE(usual.source.find("defaults"), std::string::npos) << usual.source;
  EXPECT_FALSE(std::filesystem::exists(file())) << "nobody has asked for it";

  const Calibration measured = calibrate(context);
  for (const double rate : {measured.rates.launch, measured.rates.hop, measured.rates.step, measured.rates.byte}) {
    expect_sane(rate);
  }
  EXPECT_NE(measured.source.find(file()), std::string::npos) << measured.source;
  EXPECT_TRUE(std::filesystem::exists(file()));
  EXPECT_EQ(calibration(context).rates, measured.rates);
  EXPECT_EQ(cuda::device_rates(), measured.rates);
  EXPECT_EQ(calibrate(context, false).rates, measured.rates) << "it is there";
  RecordProperty("launch", std::to_string(measured.rates.launch));
  RecordProperty("hop", std::to_string(measured.rates.hop));
  RecordProperty("step", std::to_string(measured.rates.step));
  RecordProperty("byte", std::to_string(measured.rates.byte));
}

}  // namespace
}  // namespace taskdag
