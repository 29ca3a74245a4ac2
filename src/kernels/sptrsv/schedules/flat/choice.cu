#include "backends/cuda/device_rates.hpp"
#include "kernels/sptrsv/schedules/flat/choice.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"

namespace taskdag::kernels::flat {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return std::make_unique<FlatSweep>(input, selection.stream);
}

std::optional<Expectation> expect(Selection& selection) {
  return Expectation{microseconds(selection.features, cuda::device_rates())};
}

double at_least(const Selection& selection) { return least_microseconds(selection.features, cuda::device_rates()); }

}  // namespace taskdag::kernels::flat
