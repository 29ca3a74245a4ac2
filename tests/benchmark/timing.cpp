#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "backends/cuda/stream.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kLong = 20.0;  // milliseconds from which warm-ups and repetitions are rationed
constexpr int kWarmUps = 3;

/// `run` does the action once and returns its milliseconds.
Timing repeated(const TimingLimits& limits, const std::function<double()>& run) {
  const double first = run();
  int repeats = limits.repeat;
  if (first < kLong) {
    for (int k = 1; k < kWarmUps; ++k) run();
  } else {
    repeats = std::clamp(static_cast<int>(limits.total_ms / first), 1, limits.repeat);
  }
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(repeats));
  for (int k = 0; k < repeats; ++k) times.push_back(run());
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.front(), times.back(), repeats};
}

}  // namespace

Timing time_on_device(const TimingLimits& limits, const std::function<void()>& action,
                      const std::function<void()>& before) {
  const cuda::UniqueEvent start;
  const cuda::UniqueEvent end;
  return repeated(limits, [&] {
    before();
    start.record(nullptr);
    action();
    end.record(nullptr);
    return static_cast<double>(end.milliseconds_since(start));
  });
}

Timing time_on_host(const TimingLimits& limits, const std::function<void()>& action) {
  return repeated(limits, [&] { return wall_ms(action); });
}

double wall_ms(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace taskdag::benchmark
