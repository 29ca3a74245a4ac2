#include "dag/supersteps/faster_than_plan.hpp"

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

/// Whether less than a quarter of the dependencies lead to another thread.
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
  return 4 * other < all;
}

/// The largest part of the plan's expected time at which Locking is taken.
struct Bound {
  std::int64_t numerator;
  std::int64_t denominator;
};

constexpr Bound kThreeQuarters{3, 4};  // jumps cost more than is expected: half of what is won may go on them
constexpr Bound kAQuarterMore{5, 4};   // waits cost less than the barriers that are expected
constexpr Bound kAThird{1, 3};         // hand-overs that both have, and jumps: only much less is less

std::optional<Bound> find_bound(const ThreadPlan& plan, const CsrPattern& pattern, Triangle triangle, int cores,
                                std::int64_t serial) {
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
  if (cores < 4 || pattern.rows / 2 / cores < count_levels(pattern, triangle).levels) return std::nullopt;
  const std::int64_t serial = expected_serial_time(pattern, triangle);
  const std::optional<Bound> bound = find_bound(plan, pattern, triangle, cores, serial);
  if (!bound) return std::nullopt;
  SuperstepSchedule schedule =
      make_superstep_schedule(SolveSchedule::locking, pattern, triangle, cores, {.gather = true});
  const std::int64_t time = plan.threads() == 1 ? serial : plan.expected_time();
  if (bound->denominator * expected_time(schedule, pattern, triangle) > bound->numerator * time) return std::nullopt;
  return schedule;
}

}  // namespace taskdag
