#include "kernels/sptrsv/many/cost.hpp"

#include <algorithm>

#include "kernels/sptrsv/many/layout.hpp"

namespace taskdag::kernels::many {

double microseconds(const TriangleFeatures& features, Index count, const DeviceRates& rates) {
  constexpr double kLaunches = 14.0;
  constexpr double kHop = 1.0;
  constexpr double kHopByEntries = 0.012;
  constexpr double kHopByEntriesAndStride = 0.002;
  constexpr double kMostEntries = 40.0;
  constexpr double kRow = 3.5e-4;
  constexpr double kRowByStride = 4e-6;
  constexpr double kTransposed = 4.1e-6;
  const int stride = stride_of(count);
  const double hop =
      kHop + std::min(features.entries_per_row(), kMostEntries) * (kHopByEntries + kHopByEntriesAndStride * stride);
  const double a_row = rates.hop * kRow + rates.byte * kRowByStride * stride + rates.byte * kTransposed * count;
  return rates.launch * kLaunches + rates.hop * features.levels * hop + features.rows * a_row;
}

}  // namespace taskdag::kernels::many
