/// \file
/// Repeated measurements on the device and on the host.
#pragma once

#include <functional>

namespace taskdag::benchmark {

/// Milliseconds of one action, of `repeats` measured runs.
struct Timing {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
  int repeats = 0;
};

struct TimingLimits {
  int repeat = 11;
  double total_ms = 1000.0;  ///< an action of more than 20 ms is repeated only as often as fits, once at least
};

/// Times `action` on the default stream by events, after up to three warm-ups; `before` runs first each time, untimed.
Timing time_on_device(
    const TimingLimits& limits, const std::function<void()>& action, const std::function<void()>& before = [] {});

/// The same with the clock of the host.
Timing time_on_host(const TimingLimits& limits, const std::function<void()>& action);

/// Milliseconds until `action` has returned.
double wall_ms(const std::function<void()>& action);

}  // namespace taskdag::benchmark
