#include "kernels/sptrsv/schedules/catalogue/rewriting.hpp"
#include "kernels/sptrsv/schedules/supernodes/choice.hpp"
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"

namespace taskdag::kernels::supernodes {

namespace {

using Condensed = Left<CondensedTriangle>;

/// With fewer rows that need the one before them supernodes are not considered.
constexpr double kLeastShare = 0.4;

std::shared_ptr<Condensed> kept(const Outlook& outlook) { return outlook.kept<Condensed>(SolveSchedule::supernodes); }

void condense(Outlook& outlook, Supernodes found) {
  outlook.keep(SolveSchedule::supernodes, std::make_shared<Condensed>(outlook, std::move(found)));
}

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int /*variant*/) {
  if (!kept(outlook)) condense(outlook, find(input, outlook.stream));
  const auto condensed = kept(outlook);
  return make_supernodes_sweep(
      input, condensed->triangle, [&](const SweepInput& left) { return condensed->make(left); }, outlook.stream);
}

std::optional<Expectation> expect(Outlook& outlook) {
  if (!may_rewrite(outlook)) return {};
  Supernodes found = find(outlook.input, outlook.stream);
  if (found.share < kLeastShare) return {};
  condense(outlook, std::move(found));
  return expected_of_supernodes(*kept(outlook)->outlook.best);
}

double at_least(const Outlook& outlook) { return kept(outlook)->microseconds(); }

/// Where there are some.
std::vector<int> trials(const Outlook& outlook) { return kept(outlook) ? std::vector<int>{0} : std::vector<int>{}; }

}  // namespace taskdag::kernels::supernodes
