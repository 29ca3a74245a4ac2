#include "kernels/sptrsv/schedules/flat/choice.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"

namespace taskdag::kernels::flat {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return std::make_unique<FlatSweep>(input, selection.stream);
}

std::optional<Expectation> expect(Selection& selection) { return Expectation{microseconds(selection.features)}; }

double at_least(const Selection& selection) { return least_microseconds(selection.features); }

}  // namespace taskdag::kernels::flat
