#include "backends/cuda/device.hpp"
#include "backends/cuda/device_rates.hpp"
#include "kernels/sptrsv/schedules/blocks/choice.hpp"
#include "kernels/sptrsv/schedules/blocks/cost.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"

namespace taskdag::kernels::blocks {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return make_blocks_sweep(input, {}, selection.stream);
}

std::optional<Expectation> expect(Selection& selection) {
  if (selection.input.blocks == nullptr || selection.input.blocks->colours() == 0) return {};
  return Expectation{
      supersteps::blocks_microseconds(selection.features, selection.input.blocks->colours(), cuda::device_rates())};
}

bool settles(const Selection& selection) {
  const RowBlocks& blocks = *selection.input.blocks;
  return blocks.blocks() >= blocks.colours() * cuda::device_limits().multiprocessors;
}

double at_least(const Selection& selection) {
  constexpr double kOverFlat = 0.3;  // faster than row by row; how much is not looked at here
  return kOverFlat * flat::least_microseconds(selection.features, cuda::device_rates());
}

std::vector<int> trials(const Selection& selection) {
  return selection.input.blocks != nullptr ? std::vector<int>{0} : std::vector<int>{};
}

}  // namespace taskdag::kernels::blocks
