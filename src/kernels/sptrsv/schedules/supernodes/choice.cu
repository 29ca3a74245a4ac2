#include "backends/cuda/device_rates.hpp"
#include "kernels/sptrsv/schedules/catalogue/rewriting.hpp"
#include "kernels/sptrsv/schedules/supernodes/choice.hpp"
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"

namespace taskdag::kernels::supernodes {

namespace {

using Condensed = Left<CondensedTriangle>;

/// With fewer rows that need the one before them supernodes are not considered.
constexpr double kLeastShare = 0.4;

std::shared_ptr<Condensed> kept(const Selection& selection) {
  return selection.kept<Condensed>(SolveSchedule::supernodes);
}

void condense(Selection& selection, Supernodes found) {
  selection.keep(SolveSchedule::supernodes, std::make_shared<Condensed>(selection, std::move(found)));
}

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  if (!kept(selection)) condense(selection, find(input, selection.stream));
  const auto condensed = kept(selection);
  return make_supernodes_sweep(
      input, condensed->triangle, [&](const SweepInput& remaining) { return condensed->make(remaining); },
      selection.stream);
}

std::optional<Expectation> expect(Selection& selection) {
  if (!may_rewrite(selection)) return {};
  Supernodes found = find(selection.input, selection.stream);
  if (found.share < kLeastShare) return {};
  condense(selection, std::move(found));
  return expected_of_supernodes(*kept(selection)->selection.best, cuda::device_rates());
}

double at_least(const Selection& selection) { return kept(selection)->microseconds(); }

/// Where there are some.
std::vector<int> trials(const Selection& selection) {
  return kept(selection) ? std::vector<int>{0} : std::vector<int>{};
}

}  // namespace taskdag::kernels::supernodes
