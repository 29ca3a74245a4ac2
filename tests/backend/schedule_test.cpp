// Every schedule of a backend through the public classes; tuning; fill levels.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::Problem;

TASKDAG_BACKEND_SUITE(ScheduleTest, test::once_per_backend());

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

std::vector<Apply> parts_of(FactorKind kind) {
  if (kind == FactorKind::ilu) return {Apply::full, Apply::transposed};
  return {Apply::full, Apply::transposed, Apply::symmetric_left, Apply::symmetric_right};
}

TEST_P(ScheduleTest, EveryOneSolvesATriangle) {
  for (const Problem& problem : test::small_problems()) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
      for (const bool transposed : {false, true}) {
        SCOPED_TRACE(problem.name + ", " + to_string(schedule) + (transposed ? ", transposed" : ""));
        TriangularOptions options;
        options.transposed = transposed;
        options.schedule = schedule;
        TriangularSolver solver = triangular(problem.a, options);
        EXPECT_NE(solver.info().schedule, SolveSchedule::automatic);
        if (schedule != SolveSchedule::automatic && problem.a.rows > 0) {
          EXPECT_EQ(solver.info().schedule, schedule);
        }
        const std::vector<double> x = solve(solver, b);
        EXPECT_LE(test::triangular_error(problem.a, options, b, x), 1.0);
        EXPECT_LE(test::triangular_error(problem.a, options, b, solve_in_place(solver, b)), 1.0);
        EXPECT_EQ(solver.outcome(), SolveOutcome::success);

        CsrMatrix other = problem.a;
        other.values = test::made_dominant({other.rows, other.cols, other.row_offsets, other.col_indices,
                                            test::other_values(other.values)})
                           .values;
        test::Array<double> values = place(other.values);
        solver.update_values(values.data(), space(), stream());
        EXPECT_LE(test::triangular_error(other, options, b, solve(solver, b)), 1.0);
      }
    }
  }
}

TEST_P(ScheduleTest, EveryOneAppliesAFactor) {
  int number = 0;
  for (const Problem& problem : test::small_problems()) {
    ++number;
    const Index n = problem.a.rows;
    const std::vector<double> b = test::right_hand_side(n);
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::reverse(order.begin(), order.end());
    for (const FactorKind kind : kKinds) {
      for (const bool reordered : {false, true}) {
        if (test::kSanitized && reordered != (number % 2 == 0)) continue;
        const std::vector<Index> used = reordered ? order : std::vector<Index>();
        Factorization reference = factorization(problem.a, {.kind = kind}, used, used);
        ASSERT_TRUE(factor(reference, problem.a.values).ok());
        for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
          FactorOptions options;
          options.kind = kind;
          options.schedule = schedule;
          Factorization f = factorization(problem.a, options, used, used);
          ASSERT_TRUE(factor(f, problem.a.values).ok());
          if (schedule != SolveSchedule::automatic && n > 0) {
            EXPECT_EQ(f.info().lower_schedule, schedule);
            EXPECT_EQ(f.info().upper_schedule, schedule);
          }
          for (const Apply part : parts_of(kind)) {
            SCOPED_TRACE(problem.name + ", " + to_string(schedule) + (kind == FactorKind::ic ? ", ic0" : ", ilu0") +
                         (reordered ? ", reordered, part " : ", part ") + std::to_string(static_cast<int>(part)));
            const std::vector<double> expected = apply(reference, part, b);
            EXPECT_LE(test::difference(apply(f, part, b), expected), test::kForwardBound);
            EXPECT_LE(test::difference(apply_in_place(f, part, b), expected), test::kForwardBound);
          }
          EXPECT_EQ(f.outcome(), SolveOutcome::success);
        }
      }
    }
  }
}

TEST_P(ScheduleTest, EveryOneTakesNewValuesAndManyVectors) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 30, .ny = 30, .wind = 0.5});
  CsrMatrix other = a;
  other.values = test::other_values(a.values);
  other = test::made_dominant(other);
  constexpr Index kColumns = 3;
  const std::vector<double> b = test::right_hand_side(kColumns * a.rows);
  for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
    SCOPED_TRACE(to_string(schedule));
    FactorOptions options;
    options.schedule = schedule;
    Factorization f = factorization(a, options);
    for (const std::vector<double>& values : {a.values, other.values, a.values}) {
      ASSERT_TRUE(factor(f, values).ok());
      const CsrMatrix computed = f.copy_factor();
      for (const bool transposed : {false, true}) {
        test::Array<double> in = place(b);
        test::Array<double> out = place(std::vector<double>(b.size(), -7.0));
        f.apply_many(transposed ? Apply::transposed : Apply::full, kColumns, in.data(), a.rows, out.data(), a.rows,
                     space(), stream());
        const std::vector<double> x = out.read();
        for (std::ptrdiff_t k = 0; k < kColumns; ++k) {
          const std::vector<double> right(b.begin() + k * a.rows, b.begin() + (k + 1) * a.rows);
          const std::vector<double> result(x.begin() + k * a.rows, x.begin() + (k + 1) * a.rows);
          EXPECT_LE(test::apply_error(computed, FactorKind::ilu, transposed, right, result), 1.0);
        }
      }
    }
  }
}

TEST_P(ScheduleTest, EveryOneTakesAMatrixWithoutRows) {
  for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
    for (const bool tune : {false, true}) {
      SCOPED_TRACE(to_string(schedule));
      TriangularOptions triangle;
      triangle.schedule = schedule;
      triangle.tune = tune;
      TriangularSolver solver = triangular(CsrMatrix(), triangle);
      EXPECT_TRUE(solve(solver, {}).empty());
      FactorOptions options;
      options.schedule = schedule;
      options.tune = tune;
      options.levels = 1;
      Factorization f = factorization(CsrMatrix(), options);
      EXPECT_TRUE(factor(f, {}).ok());
      EXPECT_TRUE(apply(f, Apply::full, {}).empty());
      EXPECT_TRUE(apply(f, Apply::transposed, {}).empty());
    }
  }
}

TEST_P(ScheduleTest, ThatOfTheOtherBackendIsRefusedWithThisOnesNames) {
  const CsrMatrix a = test::tridiagonal(33, -1, 3, -1);
  const Backend other = GetParam().backend == Backend::cuda ? Backend::host : Backend::cuda;
  const auto own_schedules = solve_schedules(GetParam().backend);
  const std::string own = to_string(own_schedules.back());
  for (const SolveSchedule schedule : solve_schedules(other)) {
    if (std::ranges::find(own_schedules, schedule) != own_schedules.end()) continue;
    SCOPED_TRACE(to_string(schedule));
    TriangularOptions triangular_options;
    triangular_options.schedule = schedule;
    FactorOptions factor_options;
    factor_options.schedule = schedule;
    const auto expect_refusal = [&](const auto& make) {
      try {
        make();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find(own), std::string::npos) << error.what();
      }
    };
    expect_refusal([&] { triangular(a, triangular_options); });
    expect_refusal([&] { factorization(a, factor_options); });
  }
}

/// A tune file of this process, removed at the end.
class ScratchTuneFile {
 public:
  ScratchTuneFile() : path_(testing::TempDir() + "taskdag_backend_tune_" + std::to_string(::getpid())) { remove(); }
  ScratchTuneFile(const ScratchTuneFile&) = delete;
  ScratchTuneFile& operator=(const ScratchTuneFile&) = delete;
  ~ScratchTuneFile() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Replaces the name of every choice.
  void rename_choices(const std::string& name) const {
    std::string text = content();
    const std::string key = "\"schedule\": \"";
    for (std::size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1)) {
      const std::size_t begin = at + key.size();
      text.replace(begin, text.find('"', begin) - begin, name);
    }
    std::ofstream(path_) << text;
  }

 private:
  void remove() const {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  std::string path_;
};

TEST_P(ScheduleTest, TuningKeepsItsChoiceInTheFile) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10, .wind = 0.5});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const ScratchTuneFile file;
  FactorOptions options;
  options.tune = true;
  options.tune_file = file.path();
  Factorization tuned = factorization(a, options);
  ASSERT_TRUE(factor(tuned, a.values).ok());
  EXPECT_LE(test::apply_error(tuned.copy_factor(), FactorKind::ilu, false, b, apply(tuned, Apply::full, b)), 1.0);
  EXPECT_NE(tuned.info().lower_schedule, SolveSchedule::automatic);
  EXPECT_NE(tuned.info().upper_schedule, SolveSchedule::automatic);
  const std::string content = file.content();
  EXPECT_NE(content.find("\"rows\": 1320"), std::string::npos) << content;

  options.tune = false;
  const Factorization again = factorization(a, options);
  EXPECT_EQ(again.info().lower_schedule, tuned.info().lower_schedule);
  EXPECT_EQ(again.info().upper_schedule, tuned.info().upper_schedule);
  EXPECT_EQ(file.content(), content);

  // What the file says counts, also against what trials would find.
  const SolveSchedule written =
      GetParam().backend == Backend::cuda ? SolveSchedule::level_barrier : SolveSchedule::hdagg;
  file.rename_choices(to_string(written));
  for (const bool tune : {false, true}) {
    options.tune = tune;
    const Factorization changed = factorization(a, options);
    EXPECT_EQ(changed.info().lower_schedule, written);
    EXPECT_EQ(changed.info().upper_schedule, written);
  }
  // A triangle is the same one in a solver of its own: the lower sweep's choice holds.
  TriangularOptions triangle;
  triangle.tune_file = file.path();
  EXPECT_EQ(triangular(a, triangle).info().schedule, written);
  // What this library or backend does not have is found anew.
  for (const char* const unknown : {"of_tomorrow", GetParam().backend == Backend::cuda ? "plan" : "flat"}) {
    file.rename_choices(unknown);
    EXPECT_NO_THROW(factorization(a, options));
    EXPECT_EQ(file.content().find(unknown), std::string::npos);
  }
  // A schedule that is named needs neither trials nor file.
  options.schedule = written;
  EXPECT_EQ(factorization(a, options).info().lower_schedule, written);
}

TEST_P(ScheduleTest, TuningWorksOnEveryShape) {
  for (const Problem& problem : test::small_problems()) {
    SCOPED_TRACE(problem.name);
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    TriangularOptions options;
    options.tune = true;
    TriangularSolver solver = triangular(problem.a, options);
    EXPECT_LE(test::triangular_error(problem.a, options, b, solve(solver, b)), 1.0);
  }
}

TASKDAG_BACKEND_SUITE(FillTest, test::everywhere_and_one_block());

TEST_P(FillTest, FactorIsThatOfTheFilledMatrix) {
  for (const Problem& problem : test::small_problems()) {
    if (problem.a.rows > 1100) continue;  // complete fill of some would not end
    for (const FactorKind kind : kKinds) {
      for (const Index levels : {1, 3}) {
        SCOPED_TRACE(problem.name + (kind == FactorKind::ic ? ", ic " : ", ilu ") + std::to_string(levels));
        FactorOptions options;
        options.kind = kind;
        options.levels = levels;
        Factorization f = factorization(problem.a, options);
        ASSERT_TRUE(factor(f, problem.a.values).ok());
        const CsrMatrix computed = f.copy_factor();
        const CsrMatrix filled = test::with_fill(problem.a, options);
        FactorStatus unused;
        EXPECT_LE(test::factor_difference(computed, test::reference_factor(filled, {.kind = kind}, 0.0, unused)),
                  test::kForwardBound);
        EXPECT_LE(test::factor_error(filled, computed, kind), 1.0);
        EXPECT_EQ(f.info().entries, filled.entries());
        const std::vector<double> b = test::right_hand_side(problem.a.rows);
        for (const bool transposed : {false, true}) {
          const std::vector<double> x = apply(f, transposed ? Apply::transposed : Apply::full, b);
          EXPECT_LE(test::apply_error(computed, kind, transposed, b, x), 1.0);
        }
      }
    }
  }
}

TEST_P(FillTest, OfAnOrderedMatrixIsThatOfTheOrderedPattern) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 14, .ny = 13, .wind = 0.5});
  const std::vector<Index> order = reverse_cuthill_mckee(a.pattern());
  const CsrMatrix ordered = test::permuted(a, order, order);
  for (const FactorKind kind : kKinds) {
    FactorOptions options;
    options.kind = kind;
    options.levels = 2;
    Factorization f = factorization(a, options, order, order);
    Factorization g = factorization(ordered, options);
    ASSERT_TRUE(factor(f, a.values).ok());
    ASSERT_TRUE(factor(g, ordered.values).ok());
    EXPECT_TRUE(test::same_bits(f.copy_factor().values, g.copy_factor().values));
    EXPECT_EQ(f.copy_factor().col_indices, g.copy_factor().col_indices);
  }
}

TEST_P(FillTest, CompleteFillSolvesExactly) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 9, .ny = 8, .wind = 0.5});
  const std::vector<double> exact = test::right_hand_side(a.rows);
  std::vector<double> b(exact.size());
  multiply(a.view(), exact, b);
  FactorOptions options;
  options.levels = a.rows;
  Factorization f = factorization(a, options);
  ASSERT_TRUE(factor(f, a.values).ok());
  EXPECT_LE(test::difference(apply(f, Apply::full, b), exact), 1e-11);
}

TEST_P(FillTest, NegativeLevelsAreRefused) {
  FactorOptions options;
  options.levels = -1;
  EXPECT_THROW(factorization(test::tridiagonal(5, -1, 3, -1), options), InvalidInput);
}

}  // namespace
}  // namespace taskdag
