// Numbers of every kind in SOR, block Jacobi, point blocks, cycles and Krylov methods: every call ends, and numbers
// that are finite are those of the serial reference.
#include "backend/krylov_fixture.hpp"
#include "fault/calls.hpp"
#include "fault/loops.hpp"
#include "fault/payload.hpp"
#include "fault/subject.hpp"

namespace taskdag::test {
namespace {

class PayloadBlocksTest : public PayloadFixture {
 protected:
  /// solver.solve(): the result of a right-hand side.
  [[nodiscard]] std::vector<double> solved(Solver& solver, const std::vector<double>& b) const {
    Array<double> right = place(b);
    Array<double> x = place(b);
    solver.solve(right.data(), x.data(), space(), stream());
    return x.read();
  }
  /// What is not finite in the reference's result is not finite in that of a subject; the rest is the same, or not
  /// finite, since inverses of blocks and half sums that are kept hand on more.
  void expect_of(const Subject& subject) const {
    for (const Problem& problem : problems()) {
      const CsrMatrix a = subject.matrix(problem.a);
      const auto solver = make_solver(context(), subject, a, stream());
      const auto run = [&](const std::string& what, const std::vector<double>& values, const std::vector<double>& b) {
        const std::string where = problem.name + ", " + subject.name() + ", " + what;
        watch(where);
        Array<double> array = place(values);
        solver->load(array.data(), space(), stream());
        const std::vector<double> x = solved(*solver, b);
        EXPECT_TRUE(like(x, solver->reference(values, b), Rows::rewritten)) << where;
        if (!solver->has_outcome()) return;
        EXPECT_EQ(solver->outcome(), outcome_of(x)) << where;
        EXPECT_EQ(solver->outcome(), SolveOutcome::success) << where << ": asked again";
      };
      for_each_number(a, Triangle::lower, run, subject.elements(a) / a.rows);
      // Nothing of it stays.
      const std::vector<double> good = right_hand_side(subject.elements(a));
      run("good numbers", a.values, good);
      EXPECT_TRUE(all_finite(solved(*solver, good))) << subject.name();
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, PayloadBlocksTest, testing::ValuesIn(once_per_backend()),
                         [](const auto& parameter) { return name_of(parameter.param); });

TEST_P(PayloadBlocksTest, SorGivesWhatTheReferenceGives) {
  for (const SolveSchedule schedule : test::factor_schedules(GetParam().backend)) {
    if (schedule == SolveSchedule::cells && !device_has_cells()) continue;
    expect_of({schedule, Work::sor});
  }
}

TEST_P(PayloadBlocksTest, PointBlocksGiveWhatTheReferenceGives) {
  expect_of({SolveSchedule::automatic, Work::point_block_factor});
  expect_of({SolveSchedule::automatic, Work::point_block_sor});
}

TEST_P(PayloadBlocksTest, BlockJacobiGivesWhatTheReferenceGives) {
  expect_of({SolveSchedule::automatic, Work::block_jacobi});
}

/// Rows whose diagonal entry is 0 or not finite, and blocks that have no finite inverse, are named.
TEST_P(PayloadBlocksTest, BadDiagonalsAreReported) {
  const CsrMatrix a = problems().front().a;
  MatrixArrays arrays = place(a);
  Sor sor(context(), arrays.pattern(), space(), {}, {}, stream());
  BlockJacobi jacobi(context(), arrays.pattern(), space(), consecutive_blocks(a.rows, 1), {}, stream());
  for (const Number& number : kNumbers) {
    const double value = value_of(number);
    if (std::isfinite(value) && value != 0.0) continue;
    for (const Index row : {Index{0}, a.rows / 2, a.rows - 1}) {
      watch(number.name);
      CsrMatrix changed = a;
      changed.values[entry_of(a, row, true, Triangle::lower)] = value;
      MatrixArrays changed_arrays = place(changed);
      const FactorOutcome expected = value == 0.0 ? FactorOutcome::zero_pivot : FactorOutcome::non_finite;
      for (const FactorStatus& status : {sor.update_values(changed_arrays.values(), space(), stream()),
                                         jacobi.update_values(changed_arrays.view(), space(), stream())}) {
        EXPECT_EQ(status.outcome, expected) << number.name << ", row " << row;
        EXPECT_EQ(status.first_row, row) << number.name;
      }
    }
  }
}

/// In memory of the backend, as these have it.
class PayloadLoopsTest : public PayloadFixture {
 protected:
  static constexpr Index kSide = 20;
  static constexpr std::int64_t kIterations = 200;
  [[nodiscard]] std::vector<double> applied(LinearMap& map, const std::vector<double>& b) const {
    Array<double> right = place(b);
    Array<double> y = place(b);
    map.apply(right.data(), y.data(), stream());
    return y.read();
  }
};
INSTANTIATE_TEST_SUITE_P(On, PayloadLoopsTest, testing::ValuesIn(krylov_places()),
                         [](const auto& parameter) { return name_of(parameter.param); });

TEST_P(PayloadLoopsTest, KrylovMethodsEndAndSayWhy) {
  Loops loops(context(), device(), kSide);
  const std::unique_ptr<Cycle> cycle = loops.make_cycle();
  const std::vector<double> good = right_hand_side(loops.rows());
  for (const KrylovMethod method :
       {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::minres}) {
    for (LinearMap* const map : {&loops.diagonal(), static_cast<LinearMap*>(cycle.get())}) {
      const std::unique_ptr<Krylov> krylov = loops.make_krylov({.method = method}, map);
      const auto solve = [&](const std::vector<double>& b) {
        Array<double> right = place(b);
        Array<double> x = place(b);
        const KrylovOutcome outcome =
            krylov->solve(right.data(), x.data(), false, {.iterations = kIterations}, stream());
        return std::pair(outcome, x.read());
      };
      for (const Number& number : kNumbers) {
        const std::string where = std::string(to_string(method)) + ", " + number.name;
        watch(where);
        std::vector<double> b = good;
        b[b.size() / 2] = value_of(number);
        const auto [outcome, x] = solve(b);
        EXPECT_NE(outcome.reason, KrylovReason::iterating) << where;
        EXPECT_EQ(outcome.reason == KrylovReason::not_a_number, !std::isfinite(value_of(number))) << where;
        EXPECT_LE(outcome.iterations, kIterations) << where;
        EXPECT_TRUE(!outcome.converged() || all_finite(x)) << where;
      }
      EXPECT_TRUE(solve(good).first.converged()) << to_string(method);
    }
  }
}

TEST_P(PayloadLoopsTest, CyclesAndSweepsHandOnWhatIsNotFinite) {
  Loops loops(context(), device(), kSide);
  const std::unique_ptr<Cycle> cycle = loops.make_cycle();
  const std::unique_ptr<RankSweeps> sweeps = loops.make_sweeps();
  const std::vector<double> good = right_hand_side(loops.rows());
  for (LinearMap* const map : {static_cast<LinearMap*>(cycle.get()), static_cast<LinearMap*>(sweeps.get())}) {
    const std::vector<double> expected = applied(*map, good);
    EXPECT_TRUE(all_finite(expected));
    for (const Number& number : kNumbers) {
      watch(number.name);
      std::vector<double> b = good;
      b[b.size() / 2] = value_of(number);
      const std::vector<double> x = applied(*map, b);
      EXPECT_EQ(all_finite(x), std::isfinite(value_of(number))) << number.name;
      EXPECT_EQ(std::isfinite(x[b.size() / 2]), std::isfinite(value_of(number))) << number.name;
      EXPECT_TRUE(same_bits(applied(*map, good), expected)) << "after " << number.name;
    }
    EXPECT_FALSE(map->has_lost_rank());
  }
}

}  // namespace
}  // namespace taskdag::test
