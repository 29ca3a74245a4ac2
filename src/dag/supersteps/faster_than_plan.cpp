#include "dag/supersteps/faster_than_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.hpp"
#include "dag/dependencies.hpp"
#include "dag/levels.hpp"
#include "dag/supersteps/expected_time.hpp"
#include "dag/supersteps/superstep_schedulers.hpp"

namespace taskdag {

namespace {

/// Whether less than half of the rows follow the one before: then memory is not streamed, and the threads write each
/// other's lines of the vectors.
bool jumps(const ThreadPlan& plan, Triangle triangle) {
  const Index ahead = triangle == Triangle::lower ? 1 : -1;
  const RowOrder order = plan.order();
  std::int64_t following = 0;
  for (Index p = 1; p < plan.rows(); ++p) following += order[p] == order[p - 1] + ahead ? 1 : 0;
  return 2 * following < plan.rows();
}

/// Whether less than two fifths of the dependencies lead to another thread.
bool keeps_to_itself(const ThreadPlan& plan, const CsrPattern& pattern, Triangle triangle) {
  const RowOrder order = plan.order();
  std::vector<int> thread(at(plan.rows()));
  for (int t = 0; t < plan.threads(); ++t) {
    for (Index p = plan.first_position(t); p < plan.first_position(t + 1); ++p) thread[at(order[p])] = t;
  }
  std::int64_t all = 0;
  std::int64_t other = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    for (const Index column : dependencies(pattern, triangle, row)) {
      ++all;
      other += thread[at(column)] != thread[at(row)] ? 1 : 0;
    }
  }
  return 5 * other < 2 * all;
}

/// Whether one thread takes half as long again as is expected, because the processor does not foresee where rows end.
/// It does where they are as long as those some rows before, as blocks of unknowns are, and where it has seen them
/// all in the solve before.
bool surprises(const CsrPattern& pattern, Triangle triangle, std::int64_t serial) {
  constexpr Index kRemembered = 32768;   // rows; measured, docs/notes/host-threads.md
  constexpr Index kFarthest = 8;         // rows
  constexpr std::int64_t kSurprise = 6;  // in units of PlanCosts: some 20 cycles
  if (pattern.rows <= kRemembered) return false;
  std::vector<std::size_t> length;
  length.reserve(at(pattern.rows));
  for (Index row = 0; row < pattern.rows; ++row) length.push_back(dependencies(pattern, triangle, row).size());
  std::int64_t fewest = pattern.rows;
  for (Index distance = 1; distance <= kFarthest; ++distance) {
    std::int64_t other = 0;
    for (Index row = distance; row < pattern.rows; ++row) {
      other += length[at(row)] != length[at(row - distance)] ? 1 : 0;
    }
    fewest = std::min(fewest, other);
  }
  return 2 * kSurprise * fewest >= serial;
}

/// The largest share of the plan's expected time at which Locking is taken.
struct Bound {
  std::int64_t numerator;
  std::int64_t denominator;
  bool waits = false;  ///< Locking's expected time is that with waits, not with barriers
};

constexpr Bound kNoLonger{1, 1, true};  // surprises slow one thread down, and are shared by several
constexpr Bound kThreeQuarters{3, 4};   // jumps cost more than is expected: half of what is won may go on them
constexpr Bound kAQuarterMore{5, 4};    // waits cost less than the barriers that are expected
constexpr Bound kAThird{1, 3};          // hand-overs that both have, and jumps: only much less is less

std::optional<Bound> find_bound(const ThreadPlan& plan, const CsrPattern& pattern, Triangle triangle, int cores,
                                std::int64_t serial) {
  const Index levels = count_levels(pattern, triangle).levels;
  if (pattern.rows / cores < levels) return std::nullopt;
  if (plan.threads() == 1 && surprises(pattern, triangle, serial)) return kNoLonger;
  if (pattern.rows / 2 / cores < levels) return std::nullopt;
  if (plan.threads() == 1) return kThreeQuarters;
  if (jumps(plan, triangle)) return kAQuarterMore;
  const std::int64_t busy = cores * plan.expected_time();
  if (busy > 3 * serial && keeps_to_itself(plan, pattern, triangle)) return kThreeQuarters;
  if (busy > 6 * serial) return kAThird;
  return std::nullopt;
}

}  // namespace

std::optional<SuperstepSchedule> find_faster_than_plan(const ThreadPlan& plan, const CsrPattern& pattern,
                                                       Triangle triangle, int cores) {
  if (cores < 4) return std::nullopt;
  const std::int64_t serial = expected_serial_time(pattern, triangle);
  const std::optional<Bound> bound = find_bound(plan, pattern, triangle, cores, serial);
  if (!bound) return std::nullopt;
  SuperstepSchedule schedule = make_locking_schedule(pattern, triangle, cores, {.gather = true});
  const std::int64_t time = plan.threads() == 1 ? serial : plan.expected_time();
  const std::int64_t expected =
      bound->waits ? expected_time_with_waits(schedule, pattern, triangle) : expected_time(schedule, pattern, triangle);
  if (bound->denominator * expected > bound->numerator * time) return std::nullopt;
  return schedule;
}

}  // namespace taskdag
