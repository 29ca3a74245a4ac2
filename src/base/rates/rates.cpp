#include "base/rates/rates.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace taskdag::rates {
namespace {

// What an H200 says of itself.
constexpr double kKilohertz = 1.98e6;
constexpr double kBytesPerMicrosecond = 4.917e6;

double rate_by_speed(double reference, double speed) { return speed > 0.0 ? reference / speed : 1.0; }

}  // namespace

DeviceRates rates_of(const DeviceTimes& times) {
  return {times.launch / kReferenceTimes.launch, times.hop / kReferenceTimes.hop, times.step / kReferenceTimes.step,
          times.megabyte / kReferenceTimes.megabyte};
}

bool are_plausible(const DeviceRates& rates) {
  constexpr double kMost = 20.0;
  return std::ranges::all_of(std::array{rates.launch, rates.hop, rates.step, rates.byte},
                             [](double rate) { return rate > 1.0 / kMost && rate < kMost; });
}

Calibration default_calibration(const DeviceFacts& facts) {
  const std::string generation = std::to_string(facts.generation / 10) + "." + std::to_string(facts.generation % 10);
  Calibration result{{}, "defaults of compute capability " + generation};
  if (has_own_defaults(facts.generation)) return result;
  result.rates.step = rate_by_speed(kKilohertz, facts.kilohertz);
  result.rates.byte = rate_by_speed(kBytesPerMicrosecond, facts.bytes_per_microsecond);
  result.source += ", from its clock and memory";
  return result;
}

double byte_beyond_h100(const DeviceRates& rates) {
  constexpr double kByteOfH100 = 1.43;  // 4.8 to 3.35 TB/s
  return std::max(1.0, rates.byte / kByteOfH100);
}

}  // namespace taskdag::rates
