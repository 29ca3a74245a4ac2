#include <cstdint>

#include "kernels/sptrsv/schedules/catalogue/rewriting.hpp"
#include "kernels/sptrsv/schedules/cells/cut/cost.hpp"
#include "kernels/sptrsv/schedules/joined_levels/choice.hpp"
#include "kernels/sptrsv/schedules/joined_levels/joined.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels::joined {

namespace {

using Joined = Left<JoinedLevels>;

/// With more terms an entry levels are not joined.
constexpr std::int64_t kMostTerms = 3;
/// What joining takes, most of it while terms are sorted.
constexpr double kBytesPerTerm = 90.0;

std::shared_ptr<Joined> kept(const Outlook& outlook) { return outlook.kept<Joined>(SolveSchedule::joined_levels); }

void join(Outlook& outlook, std::int64_t most) {
  outlook.keep(SolveSchedule::joined_levels, std::make_shared<Joined>(outlook, most));
}

/// Not tiles and bands: they need rows by lines, which joining breaks up.
bool may_join(const Outlook& outlook) {
  if (outlook.input.recurrence || !may_rewrite(outlook)) return false;
  const double terms = static_cast<double>(kMostTerms) * outlook.features.entries;
  if (kBytesPerTerm * terms > kShareOfFreeMemory * free_memory()) return false;
  if (outlook.best->schedule == SolveSchedule::cells) {
    return !outlook.kept<cells::Estimate>(SolveSchedule::cells)->cut.by_lines();
  }
  return outlook.best->schedule == SolveSchedule::flat;
}

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Outlook& outlook, int /*variant*/) {
  if (!kept(outlook)) join(outlook, most_terms(input.pattern));
  const auto found = kept(outlook);
  return make_joined_sweep(
      input, found->triangle, [&](const SweepInput& left) { return found->make(left); }, outlook.stream);
}

std::optional<Expectation> expect(Outlook& outlook) {
  if (!may_join(outlook)) return {};
  try {
    join(outlook, kMostTerms * outlook.features.entries);
  } catch (const Unsupported&) {  // too many terms
    return {};
  }
  return expected_of_joined(*kept(outlook)->outlook.best);
}

double at_least(const Outlook& outlook) { return kept(outlook)->microseconds(); }

}  // namespace taskdag::kernels::joined
