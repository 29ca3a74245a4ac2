#include "calibrate.hpp"

#include <chrono>
#include <cstdio>

#include "backends/cuda/measure_times.hpp"
#include "base/rates/rates.hpp"
#include "taskdag/calibration.hpp"

namespace taskdag::benchmark {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void print(const char* what, const DeviceRates& rates) {
  std::printf("%s: launch %.4g, hop %.4g, step %.4g, byte %.4g", what, rates.launch, rates.hop, rates.step, rates.byte);
}

}  // namespace

int run_calibrate(int repeat) {
  const Context context = Context::create({.backend = Backend::cuda});
  const Calibration before = calibration(context);
  print(context.device_name().c_str(), before.rates);
  std::printf(" (%s)\n", before.source.c_str());
  for (int k = 0; k < repeat; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    const rates::DeviceTimes times = cuda::measure_times();
    std::printf("microseconds: launch %.5g, hop %.5g, step %.5g, megabyte %.5g; ", times.launch, times.hop, times.step,
                times.megabyte);
    print("rates", rates::rates_of(times));
    std::printf("; in %.3f s\n", seconds_since(begin));
  }
  const auto begin = std::chrono::steady_clock::now();
  const Calibration kept = calibrate(context);
  print("kept", kept.rates);
  std::printf(" (%s); in %.3f s\n", kept.source.c_str(), seconds_since(begin));
  return 0;
}

}  // namespace taskdag::benchmark
