#include "kernels/sptrsv/schedules/blocks/cost.hpp"

namespace taskdag::kernels::supersteps {

double blocks_microseconds(const TriangleFeatures& features, Index colours) {
  constexpr double kLaunch = 6.0;
  constexpr double kSuperstep = 3.0;
  constexpr double kStep = 0.15;
  constexpr double kStepsPerLevel = 1.3;
  constexpr double kRow = 5e-6;
  constexpr double kEntry = 8e-6;
  return kLaunch + colours * kSuperstep + features.levels * kStepsPerLevel * kStep + features.rows * kRow +
         features.entries * kEntry;
}

}  // namespace taskdag::kernels::supersteps
