#include "dag/supersteps/portion_waits.hpp"

#include <algorithm>

#include "dag/dependencies.hpp"

namespace taskdag {

namespace {

/// For each portion the last superstep of each other core that its rows need: every wait, none left out.
PortionWaits find_all_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle) {
  const auto cores = static_cast<std::size_t>(schedule.cores);
  std::vector<PortionWait> portion_of(static_cast<std::size_t>(schedule.rows()));  // by row
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (Index c = 0; c < schedule.cores; ++c) {
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        portion_of[static_cast<std::size_t>(schedule.order[static_cast<std::size_t>(p)])] = {c, s};
      }
    }
  }
  PortionWaits all;
  all.offsets.reserve(schedule.offsets.size());
  std::vector<Index> latest(cores, -1);
  std::vector<Index> found;
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (Index c = 0; c < schedule.cores; ++c) {
      found.clear();
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        for (const Index column : dependencies(pattern, triangle, schedule.order[static_cast<std::size_t>(p)])) {
          const PortionWait& from = portion_of[static_cast<std::size_t>(column)];
          if (from.core == c) continue;
          Index& superstep = latest[static_cast<std::size_t>(from.core)];
          if (superstep < 0) found.push_back(from.core);
          superstep = std::max(superstep, from.superstep);
        }
      }
      std::sort(found.begin(), found.end());
      for (const Index core : found) {
        all.waits.push_back({core, latest[static_cast<std::size_t>(core)]});
        latest[static_cast<std::size_t>(core)] = -1;
      }
      all.offsets.push_back(checked_offset(static_cast<std::int64_t>(all.waits.size()), "a point-to-point schedule"));
    }
  }
  return all;
}

}  // namespace

// A wait that is left out for a triangle is covered by one for a later superstep. So, from the latest on, all are
// covered by those that stay.
PortionWaits find_portion_waits(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle) {
  const auto cores = static_cast<std::size_t>(schedule.cores);
  const PortionWaits all = find_all_waits(schedule, pattern, triangle);
  PortionWaits kept;
  kept.offsets.reserve(all.offsets.size());
  std::vector<std::vector<Index>> known(cores, std::vector<Index>(cores, -1));  // to a core: last superstep of another
  std::vector<Index> covered(cores, -1);  // by the needs of what the portion needs
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (Index c = 0; c < schedule.cores; ++c) {
      const auto needs = all.of(schedule.portion(s, c));
      auto& own = known[static_cast<std::size_t>(c)];
      for (const PortionWait& need : needs) {
        for (const PortionWait& other : all.of(schedule.portion(need.superstep, need.core))) {
          Index& superstep = covered[static_cast<std::size_t>(other.core)];
          superstep = std::max(superstep, other.superstep);
        }
      }
      for (const PortionWait& need : needs) {
        Index& superstep = own[static_cast<std::size_t>(need.core)];
        if (need.superstep <= superstep) continue;
        superstep = need.superstep;
        if (need.superstep > covered[static_cast<std::size_t>(need.core)]) kept.waits.push_back(need);
      }
      for (const PortionWait& need : needs) {
        for (const PortionWait& other : all.of(schedule.portion(need.superstep, need.core))) {
          covered[static_cast<std::size_t>(other.core)] = -1;
        }
      }
      kept.offsets.push_back(static_cast<Offset>(kept.waits.size()));
    }
  }
  return kept;
}

}  // namespace taskdag
