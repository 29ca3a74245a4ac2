// Superstep schedules: valid whatever the pattern, the number of cores and the scheduler.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "dag/dependencies.hpp"
#include "dag/levels.hpp"
#include "dag/supersteps/expected_time.hpp"
#include "dag/supersteps/portion_waits.hpp"
#include "dag/task_graph.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"
#include "unit/patterns.hpp"

namespace taskdag {
namespace {

constexpr SolveSchedule kKinds[] = {SolveSchedule::locking, SolveSchedule::pivotal_path, SolveSchedule::hdagg,
                                    SolveSchedule::level_set, SolveSchedule::point_to_point};

/// Fewer under a sanitizer: schedulers run on one thread.
const std::vector<int> kManyCores = test::kSanitized ? std::vector<int>{2, 22} : std::vector<int>{1, 2, 7, 22, 264};

/// What is needed of row `needed` by portion (s, c): a place in a schedule.
struct Place {
  Index superstep;
  int core;
};

std::vector<Place> places(const SuperstepSchedule& schedule) {
  std::vector<Place> result(schedule.order.size());
  for (Index s = 0; s < schedule.supersteps; ++s) {
    for (int c = 0; c < schedule.cores; ++c) {
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        result[static_cast<std::size_t>(schedule.order[static_cast<std::size_t>(p)])] = {s, c};
      }
    }
  }
  return result;
}

/// Back to cores and supersteps of the steps.
Assignment assignment_of(const SuperstepSchedule& schedule, Triangle triangle) {
  Assignment result{schedule.supersteps, std::vector<Index>(schedule.order.size()),
                    std::vector<Index>(schedule.order.size())};
  const std::vector<Place> place = places(schedule);
  for (Index step = 0; step < schedule.rows(); ++step) {
    const Place& p = place[static_cast<std::size_t>(row_of_step(triangle, schedule.rows(), step))];
    result.core[static_cast<std::size_t>(step)] = p.core;
    result.superstep[static_cast<std::size_t>(step)] = p.superstep;
  }
  return result;
}

std::int64_t load(const SuperstepSchedule& schedule, Index superstep, int core) {
  return schedule.last(superstep, core) - schedule.first(superstep, core);
}

TEST(SuperstepSchedule, IsValidForEveryPatternSchedulerAndNumberOfCores) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const SolveSchedule kind : kKinds) {
        for (const int cores : kManyCores) {
          for (const bool coarsen : {true, false}) {
            for (const double idle_share : {0.2, 0.4}) {
              const SuperstepSchedule schedule =
                  make_superstep_schedule(kind, m.a.pattern(), triangle, cores,
                                          {.idle_share = idle_share, .coarsen = coarsen, .gather = idle_share > 0.3});
              const auto fault = find_fault(schedule, m.a.pattern(), triangle);
              ASSERT_FALSE(fault) << m.name << ", " << static_cast<int>(kind) << " on " << cores << ": " << *fault;
              ASSERT_EQ(schedule.cores, cores);
            }
          }
        }
      }
    }
  }
}

TEST(SuperstepSchedule, IsValidWithoutFillingUpAndWithAnyReduction) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const SolveSchedule kind : {SolveSchedule::locking, SolveSchedule::pivotal_path}) {
      for (const SuperstepOptions& options :
           {SuperstepOptions{.fill_up = false}, SuperstepOptions{.reduction = std::nullopt},
            SuperstepOptions{.reduction = kFullReduction}}) {
        const SuperstepSchedule schedule = make_superstep_schedule(kind, m.a.pattern(), Triangle::lower, 7, options);
        const auto fault = find_fault(schedule, m.a.pattern(), Triangle::lower);
        ASSERT_FALSE(fault) << m.name << ": " << *fault;
      }
    }
  }
}

TEST(SuperstepSchedule, FillingUpPutsMoreIntoASuperstep) {
  const CsrMatrix band = make_narrow_band_lower(20000, 0.14, 10, 1);
  const auto supersteps = [&](bool fill_up) {
    return make_superstep_schedule(SolveSchedule::locking, band.pattern(), Triangle::lower, 16, {.fill_up = fill_up})
        .supersteps;
  };
  EXPECT_LT(supersteps(true), supersteps(false));
}

TEST(SuperstepSchedule, OfRunsIsValidAndExpectedToBeNoSlower) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const SolveSchedule kind : {SolveSchedule::locking, SolveSchedule::pivotal_path}) {
        for (const int cores : {2, 16}) {
          const SuperstepSchedule rows = make_superstep_schedule(kind, m.a.pattern(), triangle, cores);
          const SuperstepSchedule runs =
              make_superstep_schedule(kind, m.a.pattern(), triangle, cores, {.try_runs = true});
          const auto fault = find_fault(runs, m.a.pattern(), triangle);
          ASSERT_FALSE(fault) << m.name << ": " << *fault;
          const TaskGraph graph = make_task_graph(m.a.pattern(), triangle);
          EXPECT_LE(expected_time(graph, assignment_of(runs, triangle), cores),
                    expected_time(graph, assignment_of(rows, triangle), cores));
        }
      }
    }
  }
}

TEST(SuperstepSchedule, OfRunsKeepsTheRowsOfAGridTogether) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 300, .ny = 300});
  const auto jumps = [&](bool try_runs) {
    const SuperstepSchedule schedule =
        make_superstep_schedule(SolveSchedule::locking, grid.pattern(), Triangle::lower, 8, {.try_runs = try_runs});
    Index count = 0;
    for (std::size_t p = 1; p < schedule.order.size(); ++p) {
      count += schedule.order[p] != schedule.order[p - 1] + 1;
    }
    return count;
  };
  EXPECT_LT(2 * jumps(true), jumps(false));
}

TEST(GatherNeighbours, PutsIndependentRowsInRunsOfTheSameLoad) {
  const CsrMatrix rows = test::diagonal(1000);
  const SuperstepSchedule schedule =
      make_superstep_schedule(SolveSchedule::locking, rows.pattern(), Triangle::lower, 10, {.gather = true});
  for (Index p = 0; p < 1000; ++p) EXPECT_EQ(schedule.order[static_cast<std::size_t>(p)], p);
  for (int c = 0; c < 10; ++c) EXPECT_EQ(load(schedule, 0, c), 100);
}

TEST(GatherNeighbours, KeepsSuperstepsAndLoadsAndSharesFewerLines) {
  const CsrMatrix random = make_erdos_renyi_lower(20000, 1e-4, 1);
  constexpr int kCores = 8;
  for (const SolveSchedule kind : {SolveSchedule::locking, SolveSchedule::pivotal_path, SolveSchedule::hdagg}) {
    const SuperstepSchedule dealt = make_superstep_schedule(kind, random.pattern(), Triangle::lower, kCores);
    const SuperstepSchedule gathered =
        make_superstep_schedule(kind, random.pattern(), Triangle::lower, kCores, {.gather = true});
    const auto entries = [&](const SuperstepSchedule& schedule, Index s, int c) {
      Offset count = 0;
      for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
        const Index row = schedule.order[static_cast<std::size_t>(p)];
        count += 1 + static_cast<Offset>(dependencies(random.pattern(), Triangle::lower, row).size());
      }
      return count;
    };
    ASSERT_EQ(gathered.supersteps, dealt.supersteps);
    for (Index s = 0; s < dealt.supersteps; ++s) {
      Offset total = 0;
      for (int c = 0; c < kCores; ++c) total += entries(dealt, s, c);
      for (int c = 0; c < kCores; ++c) {
        EXPECT_LE(16 * kCores * std::abs(entries(gathered, s, c) - entries(dealt, s, c)), total);
      }
    }
    // Lines of 8 rows in each superstep, counted once for each core that has rows of them.
    const auto lines = [](const SuperstepSchedule& schedule) {
      std::set<std::array<Index, 3>> found;
      for (Index s = 0; s < schedule.supersteps; ++s) {
        for (int c = 0; c < schedule.cores; ++c) {
          for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
            found.insert({s, c, schedule.order[static_cast<std::size_t>(p)] / 8});
          }
        }
      }
      return found.size();
    };
    EXPECT_LT(lines(gathered), lines(dealt));
  }
}

TEST(ExpectedTime, AddsTheLongestPortionsTheJumpsAndTheBarriers) {
  // Tasks 0, 1, 3 on core 0 and 2 on core 1 in superstep 0; task 4 on core 1 in superstep 1.
  const CsrMatrix a{5, 5, {0, 1, 3, 4, 6, 9}, {0, 0, 1, 2, 0, 3, 0, 2, 4}, {}};
  const TaskGraph graph = make_task_graph(a.pattern(), Triangle::lower);
  const Assignment assignment{2, {0, 0, 1, 0, 1}, {0, 0, 0, 0, 1}};
  const PlanCosts costs{.entry = 1, .row = 10, .chunk = 100, .hop = 1000, .least_share = 1};
  // Core 0: three rows, two entries, two jumps. Then one row, two entries, one jump. Two barriers of one round.
  EXPECT_EQ(expected_time(graph, assignment, 2, costs), (30 + 2 + 200) + (10 + 2 + 100) + 2000);
  EXPECT_EQ(expected_time(graph, {1, {0, 0, 0, 0, 0}, {0, 0, 0, 0, 0}}, 1, costs), 50 + 4 + 100);
  EXPECT_EQ(expected_time(make_superstep_schedule(Triangle::lower, 2, assignment), a.pattern(), Triangle::lower, costs),
            expected_time(graph, assignment, 2, costs));
  EXPECT_EQ(expected_serial_time(a.pattern(), Triangle::lower, costs), 50 + 4);
}

TEST(ExpectedTime, OfAScheduleIsThatOfItsAssignment) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const SuperstepSchedule schedule = make_superstep_schedule(SolveSchedule::locking, m.a.pattern(), triangle, 5);
      EXPECT_EQ(expected_time(schedule, m.a.pattern(), triangle),
                expected_time(make_task_graph(m.a.pattern(), triangle), assignment_of(schedule, triangle), 5));
    }
  }
}

TEST(ExpectedTime, WithWaitsHasAHopInPlaceOfABarrier) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  for (const auto& [cores, rounds] : {std::pair{2, 1}, {5, 3}, {16, 4}}) {
    const SuperstepSchedule schedule =
        make_superstep_schedule(SolveSchedule::locking, grid.pattern(), Triangle::lower, cores);
    EXPECT_EQ(expected_time(schedule, grid.pattern(), Triangle::lower) -
                  expected_time_with_waits(schedule, grid.pattern(), Triangle::lower),
              (rounds - 1) * PlanCosts{}.hop * schedule.supersteps);
  }
}

TEST(SuperstepSchedule, NeverHasMoreSuperstepsThanLevels) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const Index levels = count_levels(m.a.pattern(), triangle).levels;
      for (const SolveSchedule kind : kKinds) {
        for (const int cores : test::kSanitized ? std::vector<int>{4} : std::vector<int>{1, 4, 22}) {
          for (const double idle_share : {0.2, 0.3, 0.4, 1.0}) {
            const SuperstepSchedule schedule =
                make_superstep_schedule(kind, m.a.pattern(), triangle, cores, {.idle_share = idle_share});
            EXPECT_LE(schedule.supersteps, levels) << m.name;
            if (kind == SolveSchedule::level_set) {
              EXPECT_EQ(schedule.supersteps, levels) << m.name;
            }
          }
        }
      }
    }
  }
}

TEST(SuperstepSchedule, IsTheSameEveryTime) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const SolveSchedule kind : kKinds) {
      const SuperstepSchedule first = make_superstep_schedule(kind, m.a.pattern(), Triangle::lower, 5);
      const SuperstepSchedule second = make_superstep_schedule(kind, m.a.pattern(), Triangle::lower, 5);
      EXPECT_EQ(first.order, second.order);
      EXPECT_EQ(first.offsets, second.offsets);
    }
  }
}

TEST(SuperstepSchedule, OfAChainAndOfOneCoreIsOneSuperstep) {
  const CsrMatrix chain = test::chain(5000);
  for (const SolveSchedule kind : {SolveSchedule::locking, SolveSchedule::pivotal_path}) {
    for (const bool coarsen : {true, false}) {
      EXPECT_EQ(make_superstep_schedule(kind, chain.pattern(), Triangle::lower, 8, {.coarsen = coarsen}).supersteps, 1);
    }
    for (const test::NamedMatrix& m : test::schedule_matrices()) {
      const SuperstepSchedule schedule = make_superstep_schedule(kind, m.a.pattern(), Triangle::upper, 1);
      EXPECT_EQ(schedule.supersteps, m.a.rows > 0 ? 1 : 0);
      EXPECT_EQ(schedule.barriers(), 0);
      for (Index p = 0; p < m.a.rows; ++p) {
        ASSERT_EQ(schedule.order[static_cast<std::size_t>(p)], m.a.rows - 1 - p) << m.name;
      }
    }
  }
}

TEST(SuperstepSchedule, SharesIndependentRowsEvenly) {
  const CsrMatrix rows = test::diagonal(1000);
  for (const SolveSchedule kind : kKinds) {
    const SuperstepSchedule schedule = make_superstep_schedule(kind, rows.pattern(), Triangle::lower, 10);
    ASSERT_EQ(schedule.supersteps, 1);
    for (int c = 0; c < 10; ++c) EXPECT_NEAR(static_cast<double>(load(schedule, 0, c)), 100.0, 1.0);
  }
}

TEST(SuperstepSchedule, NeedsFewerBarriersThanLevelsOnGridsAndRandomTriangles) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 150, .ny = 150});
  const CsrMatrix random = make_erdos_renyi_lower(20000, 5e-4, 1);
  const CsrMatrix band = make_narrow_band_lower(20000, 0.14, 10, 1);
  for (const CsrMatrix* a : {&grid, &random, &band}) {
    const Index levels = count_levels(a->pattern(), Triangle::lower).levels;
    for (const SolveSchedule kind : {SolveSchedule::locking, SolveSchedule::pivotal_path}) {
      EXPECT_LE(3 * make_superstep_schedule(kind, a->pattern(), Triangle::lower, 8).supersteps, 2 * levels);
    }
  }
}

TEST(SuperstepSchedule, GluesIndependentChains) {
  // 16 chains of 50 rows, interleaved: row i waits for row i − 16.
  CsrMatrix a{800, 800, {0}, {}, {}};
  for (Index i = 0; i < 800; ++i) {
    if (i >= 16) a.col_indices.push_back(i - 16);
    a.col_indices.push_back(i);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  for (const bool coarsen : {true, false}) {
    const SuperstepSchedule schedule =
        make_superstep_schedule(SolveSchedule::hdagg, a.pattern(), Triangle::lower, 4, {.coarsen = coarsen});
    EXPECT_EQ(schedule.supersteps, 1);
    for (int c = 0; c < 4; ++c) EXPECT_EQ(load(schedule, 0, c), 200);
  }
}

TEST(SuperstepSchedule, IsMadeInNearlyLinearTimeWhereManyRowsMeetALongChainOrOneRow) {
  // 100,000 rows that wait for nothing, a chain of 50,000 rows, and a last row that waits for all.
  constexpr Index kFree = 100000;
  constexpr Index kRows = kFree + 50000 + 1;
  CsrMatrix a{kRows, kRows, {0}, {}, {}};
  for (Index i = 0; i < kRows; ++i) {
    if (i > kFree && i + 1 < kRows) a.col_indices.push_back(i - 1);
    for (Index j = 0; i + 1 == kRows && j < i; ++j) a.col_indices.push_back(j);
    a.col_indices.push_back(i);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  for (const SolveSchedule kind : kKinds) {
    const auto start = std::chrono::steady_clock::now();
    const SuperstepSchedule schedule = make_superstep_schedule(kind, a.pattern(), Triangle::lower, 4);
    EXPECT_FALSE(find_fault(schedule, a.pattern(), Triangle::lower));
    // Quadratic time would be minutes.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << static_cast<int>(kind);
  }
}

TEST(SuperstepSchedule, RefusesWhatItCannotMake) {
  const CsrMatrix a = test::chain(5);
  const auto make = [&](SolveSchedule kind, int cores, const SuperstepOptions& options) {
    return make_superstep_schedule(kind, a.pattern(), Triangle::lower, cores, options);
  };
  EXPECT_THROW(make(SolveSchedule::flat, 2, {}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::plan, 2, {}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::locking, 0, {}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::locking, 2, {.idle_share = 0.0}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::locking, 2, {.idle_share = 1.5}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::hdagg, 2, {.imbalance = 1.0}), InvalidInput);
  EXPECT_THROW(make(SolveSchedule::locking, 2, {.group_weight = -1}), InvalidInput);
}

TEST(FindFault, AcceptsAScheduleAndNamesWhatIsWrongWithABrokenOne) {
  // Row 1 waits for row 0, row 3 for rows 1 and 2.
  const CsrMatrix a{4, 4, {0, 1, 3, 4, 7}, {0, 0, 1, 2, 1, 2, 3}, {}};
  const auto fault = [&](const SuperstepSchedule& schedule) {
    return find_fault(schedule, a.pattern(), Triangle::lower).value_or("");
  };
  const SuperstepSchedule good{2, 2, {0, 1, 2, 3}, {0, 2, 3, 4, 4}};
  EXPECT_EQ(fault(good), "");

  SuperstepSchedule broken = good;
  broken.order = {0, 1, 1, 3};
  EXPECT_EQ(fault(broken), "row 1 runs twice");
  broken.order = {0, 1, 4, 3};
  EXPECT_EQ(fault(broken), "there is no row 4");
  broken.order = {1, 0, 2, 3};  // in one portion, the wrong way round
  EXPECT_EQ(fault(broken), "row 1 runs before it can know row 0");
  broken = {2, 2, {0, 2, 1, 3}, {0, 1, 3, 4, 4}};  // rows 0 and 1 on two cores of one superstep
  EXPECT_EQ(fault(broken), "row 1 runs before it can know row 0");
  broken = {2, 2, {0, 3, 2, 1}, {0, 2, 3, 4, 4}};  // row 3 in an earlier superstep than row 1
  EXPECT_EQ(fault(broken), "row 3 runs before it can know row 1");
  broken = good;
  broken.order.pop_back();
  EXPECT_EQ(fault(broken), "it has 3 rows of 4");
  broken = good;
  broken.offsets = {0, 2, 3, 4};
  EXPECT_EQ(fault(broken), "the number of portions is wrong");
  broken.offsets = {0, 3, 2, 4, 4};
  EXPECT_EQ(fault(broken), "the portions are not cut from the positions in order");
  broken.offsets = {0, 2, 3, 3, 3};
  EXPECT_EQ(fault(broken), "the portions are not cut from the positions in order");
  broken = good;
  broken.cores = 0;
  EXPECT_EQ(fault(broken), "there is no core");
  broken.cores = 2;
  broken.supersteps = -1;
  EXPECT_EQ(fault(broken), "the number of supersteps is negative");
}

TEST(PortionWaits, CoverEveryDependencyWithoutBarriers) {
  for (const test::NamedMatrix& m : test::schedule_matrices()) {
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const SolveSchedule kind : kKinds) {
        const int cores = 6;
        const SuperstepSchedule schedule = make_superstep_schedule(kind, m.a.pattern(), triangle, cores);
        const PortionWaits waits = find_portion_waits(schedule, m.a.pattern(), triangle);
        const std::vector<Place> place = places(schedule);
        // clock[c][d]: the last superstep of core d that is surely finished once core c's portions so far may run;
        // done[portion]: the clock at that portion.
        std::vector<std::vector<Index>> clock(cores, std::vector<Index>(cores, -1));
        std::vector<std::vector<Index>> done(schedule.offsets.size() - 1);
        for (Index s = 0; s < schedule.supersteps; ++s) {
          for (int c = 0; c < cores; ++c) {
            auto& own = clock[static_cast<std::size_t>(c)];
            for (const PortionWait& wait : waits.of(schedule.portion(s, c))) {
              ASSERT_NE(wait.core, c);
              ASSERT_LT(wait.superstep, s);
              ASSERT_GT(schedule.last(wait.superstep, wait.core), schedule.first(wait.superstep, wait.core));
              const auto& other = done[schedule.portion(wait.superstep, wait.core)];
              for (std::size_t d = 0; d < own.size(); ++d) own[d] = std::max(own[d], other[d]);
            }
            for (Index p = schedule.first(s, c); p < schedule.last(s, c); ++p) {
              const Index row = schedule.order[static_cast<std::size_t>(p)];
              for (const Index column : dependencies(m.a.pattern(), triangle, row)) {
                const Place& from = place[static_cast<std::size_t>(column)];
                ASSERT_TRUE(from.core == c || own[static_cast<std::size_t>(from.core)] >= from.superstep) << m.name;
              }
            }
            own[static_cast<std::size_t>(c)] = s;
            done[schedule.portion(s, c)] = own;
          }
        }
      }
    }
  }
}

TEST(PortionWaits, LeaveOutWhatIsKnown) {
  // A chain dealt to three cores in turn: row i waits for the three rows before it; only the last one matters.
  CsrMatrix a{30, 30, {0}, {}, {}};
  SuperstepSchedule schedule{3, 30, {}, {0}};
  for (Index i = 0; i < 30; ++i) {
    for (Index j = std::max(0, i - 3); j <= i; ++j) a.col_indices.push_back(j);
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
    schedule.order.push_back(i);
    for (Index c = 0; c < 3; ++c) schedule.offsets.push_back(c < i % 3 ? i : i + 1);
  }
  ASSERT_FALSE(find_fault(schedule, a.pattern(), Triangle::lower));
  EXPECT_EQ(find_portion_waits(schedule, a.pattern(), Triangle::lower).waits.size(), 29U);
}

}  // namespace
}  // namespace taskdag
