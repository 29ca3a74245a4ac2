/// The parts of the benchmark program that need no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "base/handover.hpp"
#include "ratios.hpp"
#include "right_hand_sides.hpp"
#include "rows.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "triangular_case.hpp"
#include "watchdog.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Orientation {
  Triangle triangle;
  bool unit;
  bool transposed;
};

class TriangleParts : public testing::TestWithParam<Orientation> {
 protected:
  TriangularOptions options{
      .triangle = GetParam().triangle, .unit_diagonal = GetParam().unit, .transposed = GetParam().transposed};
  CsrMatrix lu = make_factor(make_stencil({Stencil::seven_point, 5, 4, 6, 1, 0.5}));
  std::vector<double> b = random_vector(static_cast<std::size_t>(lu.rows), 3);
  std::vector<double> x = reference_solutions(lu, options, b);
};

TEST_P(TriangleParts, SerialLoopSolvesWhatTheReferenceSolves) {
  std::vector<double> result(b.size());
  SerialLoop(take_triangle(lu, options)).solve(b.data(), result.data());
  EXPECT_LT(relative_error(result, x), 1e-14);
}

TEST_P(TriangleParts, LevelOrderSolvesThePermutedSystemAsALowerOne) {
  const HostTriangle t = take_triangle(lu, options);
  const Schedule levels = make_level_schedule(t.matrix.pattern(), t.triangle);
  const HostTriangle ordered = in_level_order(t, levels);
  ASSERT_EQ(ordered.triangle, Triangle::lower);
  for (Index i = 0; i < ordered.matrix.rows; ++i) {
    const auto last = static_cast<std::size_t>(ordered.matrix.row_offsets[static_cast<std::size_t>(i) + 1]) - 1;
    ASSERT_EQ(ordered.matrix.col_indices[last], i) << "the last entry of a lower row is its diagonal";
  }
  std::vector<double> permuted(b.size());
  for (std::size_t p = 0; p < b.size(); ++p) permuted[p] = b[static_cast<std::size_t>(levels.order()[p])];
  std::vector<double> solved(b.size());
  SerialLoop(ordered).solve(permuted.data(), solved.data());
  std::vector<double> result(b.size());
  for (std::size_t p = 0; p < b.size(); ++p) result[static_cast<std::size_t>(levels.order()[p])] = solved[p];
  EXPECT_LT(relative_error(result, x), 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Both, TriangleParts,
                         testing::Values(Orientation{Triangle::lower, true, false},
                                         Orientation{Triangle::lower, true, true},
                                         Orientation{Triangle::upper, false, false},
                                         Orientation{Triangle::upper, false, true}));

TEST(DagClass, FollowsDepthAndWidthOfTheLevels) {
  const auto levels = [](StencilSpec spec) {
    return make_level_schedule(make_stencil(spec).pattern(), Triangle::lower);
  };
  EXPECT_EQ(dag_class(levels({Stencil::five_point, 20, 20, 1, 1, 0.0}), 2), "parallel");
  EXPECT_EQ(dag_class(levels({Stencil::five_point, 200, 1, 1, 1, 0.0}), 2), "L-shape");
  EXPECT_EQ(dag_class(levels({Stencil::five_point, 60, 60, 1, 1, 0.0}), 2), "wide");
}

TEST(RelativeError, IsInfiniteWhereSomethingIsNotFinite) {
  EXPECT_EQ(relative_error({1.0, 2.0}, {1.0, 4.0}), 0.5);
  EXPECT_EQ(relative_error({1.0, NAN}, {1.0, 4.0}), kInfinity);
  EXPECT_EQ(relative_error({1.0, 2.0}, {1.0, kInfinity}), kInfinity);
}

TEST(AcceptedError, FollowsARivalThatIsWorseButNotOneThatFails) {
  EXPECT_EQ(accepted_error(1e-16), 1e-12);
  EXPECT_EQ(accepted_error(1e-9), 1e-8);
  EXPECT_EQ(accepted_error(kInfinity), 1e-12);
  EXPECT_EQ(accepted_error(NAN), 1e-12);
}

TEST(BreakEven, IsTheFirstNumberOfSolvesThatIsAhead) {
  EXPECT_EQ(break_even(5.0, 1.0, 10.0, 2.0), 0.0) << "cheaper from the start";
  EXPECT_EQ(break_even(10.0, 1.0, 5.0, 2.0), 6.0) << "even after 5, ahead after 6";
  EXPECT_EQ(break_even(5.5, 1.0, 5.0, 2.0), 1.0);
  EXPECT_EQ(break_even(1.0, 2.0, 5.0, 1.0), kInfinity) << "ahead at first, not for good";
}

TEST(RightHandSides, HoldWhatTheirKindSays) {
  std::mt19937_64 random(1);
  for (int kind = 0; kind < kRhsKinds; ++kind) {
    const std::vector<double> b = make_rhs(kind, 1000, random);
    const std::string name = rhs_kind_name(kind);
    const auto count = [&](auto is) { return std::count_if(b.begin(), b.end(), is); };
    const auto nans = count([](double v) { return std::isnan(v); });
    const auto infinities = count([](double v) { return std::isinf(v); });
    EXPECT_EQ(nans > 0, name.find("NaN") != std::string::npos || name == "the bits of not yet") << name;
    EXPECT_EQ(infinities > 0, name.find("infinit") != std::string::npos) << name;
    EXPECT_EQ(count([](double v) { return std::fpclassify(v) == FP_SUBNORMAL; }) > 900, name == "denormal numbers");
    EXPECT_EQ(count([](double v) { return !is_ready(v); }) > 0, name == "the bits of not yet");
  }
}

TEST(RightHandSides, SolutionsAreTheSameUpToRoundingAndNoFurther) {
  const std::vector<double> reference = {1.0, NAN, kInfinity, 1e-3};
  EXPECT_TRUE(same_solution({1.0 + 1e-12, -NAN, kInfinity, 1e-3}, reference));
  EXPECT_FALSE(same_solution({1.0 + 1e-6, NAN, kInfinity, 1e-3}, reference));
  EXPECT_FALSE(same_solution({1.0, 0.0, kInfinity, 1e-3}, reference));
  EXPECT_FALSE(same_solution({1.0, NAN, -kInfinity, 1e-3}, reference));
  EXPECT_TRUE(same_solution({1.0, -kInfinity, NAN, 1e-3}, reference, NotFinite::any));
  EXPECT_FALSE(same_solution({1.0, 0.0, NAN, 1e-3}, reference, NotFinite::any));
  EXPECT_FALSE(same_solution({1.0, NAN, NAN, NAN}, reference, NotFinite::any));
  EXPECT_FALSE(same_solution({1.0, NAN, kInfinity, NAN}, reference));
  EXPECT_TRUE(same_solution({3e-310}, {3e-310 + 1e-320}));
  EXPECT_FALSE(same_solution({3e-310}, {4e-310}));
}

TEST(Rows, FieldsSurviveCsv) {
  const std::vector<std::string> fields = {"5-point 250^2", "a, b", "say \"no\"", "", "1.5"};
  EXPECT_EQ(csv_fields(csv_line(fields)), fields);
}

class RowFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  [[nodiscard]] std::vector<std::string> lines() const {
    std::ifstream file(csv);
    std::vector<std::string> result;
    for (std::string line; std::getline(file, line);) result.push_back(line);
    return result;
  }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() /
      (std::string("taskdag_rows_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::string csv = folder / "rows.csv";
};

TEST_F(RowFiles, AResumedFileKeepsItsRowsAndTakesNewOnes) {
  const Machine machine{"abc", "a GPU", "1", "2", "3", "today", 1.0, 1.0};
  Rows(csv, "", {"problem"}, false, machine).add({{"problem", "one, two"}, {"milliseconds", 1.5}});
  Rows rows(csv, "", {"problem"}, true, machine);
  EXPECT_TRUE(rows.contains({{"problem", "one, two"}}));
  rows.add({{"problem", "one, two"}, {"milliseconds", 2.5}});
  rows.add({{"problem", "three"}, {"milliseconds", nullptr}});
  EXPECT_EQ(lines(),
            (std::vector<std::string>{"problem,milliseconds,commit,gpu,driver,cuda,cusparse,date",
                                      "\"one, two\",1.5,abc,a GPU,1,2,3,today", "three,,abc,a GPU,1,2,3,today"}));
}

TEST_F(RowFiles, RowsOfOneFileHaveTheSameColumns) {
  Rows rows(csv, "", {"problem"}, false, {});
  rows.add({{"problem", "one"}, {"milliseconds", 1.5}});
  EXPECT_THROW(rows.add({{"problem", "two"}, {"seconds", 1.5}}), Error);
}

TEST(WatchdogDeathTest, EndsAStepThatTakesTooLong) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Watchdog dog(1, [] { std::fputs("told\n", stderr); });
        dog.step("a long step");
        std::this_thread::sleep_for(std::chrono::seconds(20));
      },
      testing::ExitedWithCode(kHung), "HUNG: a long step(.|\n)*told");
}

TEST(Watchdog, LeavesStepsThatEndAlone) {
  Watchdog dog(2, [] { FAIL(); });
  for (int k = 0; k < 3; ++k) {
    dog.step("short");
    std::this_thread::sleep_for(std::chrono::milliseconds(800));
  }
  dog.rest();
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
}

}  // namespace
}  // namespace taskdag::benchmark
