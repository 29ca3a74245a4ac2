#include "kernels/sptrsv/schedules/flat/choice.hpp"
#include "kernels/sptrsv/schedules/flat/cost.hpp"
#include "kernels/sptrsv/schedules/flat/flat.hpp"

namespace taskdag::kernels::flat {

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int /*variant*/) {
  return std::make_unique<FlatSweep>(input, outlook.stream);
}

std::optional<Expectation> expect(Outlook& outlook) { return Expectation{microseconds(outlook.features)}; }

double at_least(const Outlook& outlook) { return least_microseconds(outlook.features); }

}  // namespace taskdag::kernels::flat
