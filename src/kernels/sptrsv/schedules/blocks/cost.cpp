#include "kernels/sptrsv/schedules/blocks/cost.hpp"

namespace taskdag::kernels::supersteps {

double blocks_microseconds(const TriangleFeatures& features, Index colours, const DeviceRates& rates) {
  constexpr double kLaunch = 6.0;
  constexpr double kSuperstep = 3.0;
  constexpr double kStep = 0.15;
  constexpr double kStepsPerLevel = 1.3;
  constexpr double kRow = 5e-6;
  constexpr double kEntry = 8e-6;
  return rates.launch * kLaunch + rates.hop * colours * kSuperstep +
         rates.step * features.levels * kStepsPerLevel * kStep + rates.byte * features.rows * kRow +
         rates.byte * features.entries * kEntry;
}

}  // namespace taskdag::kernels::supersteps
