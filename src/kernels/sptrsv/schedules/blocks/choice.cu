#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/schedules/blocks/choice.hpp"
#include "kernels/sptrsv/schedules/blocks/cost.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"

namespace taskdag::kernels::blocks {

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int /*variant*/) {
  return make_blocks_sweep(input, {}, outlook.stream);
}

std::optional<Expectation> expect(Outlook& outlook) {
  if (outlook.input.blocks == nullptr || outlook.input.blocks->colours() == 0) return {};
  return Expectation{supersteps::blocks_microseconds(outlook.features, outlook.input.blocks->colours())};
}

bool settles(const Outlook& outlook) {
  const RowBlocks& blocks = *outlook.input.blocks;
  return blocks.blocks() >= blocks.colours() * cuda::device_limits().multiprocessors;
}

double at_least(const Outlook& outlook) {
  constexpr double kOverFlat = 0.3;  // faster than row by row; how much is not looked at here
  return kOverFlat * flat::least_microseconds(outlook.features);
}

std::vector<int> trials(const Outlook& outlook) {
  return outlook.input.blocks != nullptr ? std::vector<int>{0} : std::vector<int>{};
}

}  // namespace taskdag::kernels::blocks
