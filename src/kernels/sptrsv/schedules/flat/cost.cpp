#include "kernels/sptrsv/schedules/flat/cost.hpp"

#include <algorithm>

namespace taskdag::kernels::flat {

double microseconds(const TriangleFeatures& features, const DeviceRates& rates) {
  constexpr double kLaunch = 9.0;
  constexpr double kHop = 0.275;
  constexpr double kHopByEntries = 0.1075;
  constexpr double kMostEntries = 4.2;
  constexpr double kEntry = 1.9e-5;
  constexpr double kEntryOfLongRow = 1.2e-5;
  constexpr double kLongRow = 16.0;
  const double a_row = features.entries_per_row();
  return rates.launch * kLaunch + rates.hop * features.levels * (kHop + kHopByEntries * std::min(a_row, kMostEntries)) +
         rates.byte * features.entries * (a_row > kLongRow ? kEntryOfLongRow : kEntry);
}

double least_microseconds(const TriangleFeatures& features, const DeviceRates& rates) {
  constexpr double kLaunch = 4.0;
  constexpr double kHop = 0.4;
  constexpr double kRow = 1.25e-5;
  constexpr double kEntry = 3e-6;
  return rates.launch * kLaunch + rates.hop * features.levels * kHop + rates.byte * features.rows * kRow +
         rates.byte * features.entries * kEntry;
}

NumbersCost cost_of_numbers(const TriangleFeatures& features, const DeviceRates& rates) {
  constexpr double kLaunch = 9.0;
  constexpr double kHop = 0.72;
  constexpr double kHopOfLongRow = 2.2;
  constexpr double kLongRow = 4.0;  // longer ones have several lanes
  constexpr double kEntry = 2.5e-5;
  const double hop = features.entries_per_row() > kLongRow ? kHopOfLongRow : kHop;
  return {rates.hop * features.levels * hop, rates.launch * kLaunch + rates.byte * features.entries * kEntry};
}

}  // namespace taskdag::kernels::flat
