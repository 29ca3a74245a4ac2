#include <cstdint>

#include "backends/cuda/device_rates.hpp"
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

std::shared_ptr<Joined> kept(const Selection& selection) {
  return selection.kept<Joined>(SolveSchedule::joined_levels);
}

void join(Selection& selection, std::int64_t most) {
  selection.keep(SolveSchedule::joined_levels, std::make_shared<Joined>(selection, most));
}

/// Not tiles and bands: they need rows by lines, which joining breaks up.
bool may_join(const Selection& selection) {
  if (selection.input.recurrence || !may_rewrite(selection)) return false;
  const double terms = static_cast<double>(kMostTerms) * selection.features.entries;
  if (kBytesPerTerm * terms > kShareOfFreeMemory * free_memory()) return false;
  if (selection.best->schedule == SolveSchedule::cells) {
    return !selection.kept<cells::Estimate>(SolveSchedule::cells)->cut.by_lines();
  }
  return selection.best->schedule == SolveSchedule::flat;
}

}  // namespace

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  if (!kept(selection)) join(selection, most_terms(input.pattern));
  const auto found = kept(selection);
  return make_joined_sweep(
      input, found->triangle, [&](const SweepInput& remaining) { return found->make(remaining); }, selection.stream);
}

std::optional<Expectation> expect(Selection& selection) {
  if (!may_join(selection)) return {};
  try {
    join(selection, kMostTerms * selection.features.entries);
  } catch (const Unsupported&) {  // too many terms
    return {};
  }
  return expected_of_joined(*kept(selection)->selection.best, cuda::device_rates());
}

double at_least(const Selection& selection) { return kept(selection)->microseconds(); }

}  // namespace taskdag::kernels::joined
