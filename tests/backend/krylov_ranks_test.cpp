// Krylov methods on several ranks that are threads of this process: on the host. CUDA: krylov_processes_test.cpp.
#include "krylov_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "support/effort.hpp"
#include "support/thread_ranks.hpp"

namespace taskdag {
namespace {

using test::all_methods;
using test::expect_alike;
using test::grid;
using test::Rank;
using test::rhs_of;
using test::Share;
using test::share_of;
using test::Vector;
using test::With;

std::vector<test::Where> host_places() {
  std::vector<test::Where> result = test::krylov_places();
  // Ranks and their threads share the processors, and each waits for all.
  std::erase_if(result, [](const test::Where& where) { return where.backend != Backend::host || where.threads > 3; });
  return result;
}

class KrylovRanks : public test::KrylovFixture {
 protected:
  /// A context a rank, as processes have them.
  [[nodiscard]] static Context own_context() {
    return Context::create({.backend = GetParam().backend, .threads = GetParam().threads});
  }
  /// body(rank) for the rows between the numbers of `cut`.
  template <class Body>
  std::vector<std::exception_ptr> on_ranks(const CsrMatrix& a, const std::vector<Index>& cut, const Body& body) {
    test::ThreadRanks ranks(static_cast<int>(cut.size()) - 1);
    return ranks.run([&](const RankGroup& group) {
      const auto r = static_cast<std::size_t>(group.rank());
      const Context context = own_context();
      Rank rank(context, false, group, share_of(a, cut[r], cut[r + 1]));
      body(rank, group);
    });
  }
  struct Solved {
    std::vector<KrylovOutcome> outcomes;
    Vector x;
  };
  Solved solve_on(const CsrMatrix& a, const std::vector<Index>& cut, With with, const KrylovOptions& options,
                  const Vector& b, const KrylovTolerances& tolerances, const Vector& guess = {}) {
    Solved solved;
    solved.outcomes.resize(cut.size() - 1);
    solved.x = guess.empty() ? Vector(b.size(), std::nan("")) : guess;
    const auto thrown = on_ranks(a, cut, [&](Rank& rank, const RankGroup& group) {
      rank.precondition(with, options.method == KrylovMethod::bicgstab ? FactorKind::ilu : FactorKind::ic);
      rank.make(options);
      solved.outcomes[static_cast<std::size_t>(group.rank())] = rank.solve(b, solved.x, !guess.empty(), tolerances);
    });
    for (const std::exception_ptr& one : thrown) {
      if (one) std::rethrow_exception(one);
    }
    return solved;
  }
  static std::vector<Index> even_cut(Index rows, Index ranks) {
    std::vector<Index> cut;
    for (Index r = 0; r <= ranks; ++r) cut.push_back(rows * r / ranks);
    return cut;
  }
};
INSTANTIATE_TEST_SUITE_P(On, KrylovRanks, testing::ValuesIn(host_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(KrylovRanks, SolveAsOneRank) {
  const CsrMatrix a = grid(14 / test::kSmaller);
  const Vector b = rhs_of(a);
  const KrylovTolerances tolerances{.relative = 1e-8, .iterations = 400};
  for (const KrylovOptions& options : all_methods()) {
    for (const With with : {With::nothing, With::diagonal}) {
      SCOPED_TRACE(std::string(to_string(options.method)) + ", " + name_of(with));
      const auto alone = system(a, with);
      Krylov k = krylov(*alone, options);
      const auto one = solve(k, b, tolerances);
      for (const Index ranks : {2, 3}) {
        const Solved many = solve_on(a, even_cut(a.rows, ranks), with, options, b, tolerances);
        expect_alike(options.method, one.outcome, many.outcomes[0], one.x, many.x);
        for (const KrylovOutcome& other : many.outcomes) EXPECT_EQ(other.norms, many.outcomes[0].norms);
      }
    }
  }
}

TEST_P(KrylovRanks, GuessIsTaken) {
  const CsrMatrix a = grid(20, 0.5);
  const Vector b = rhs_of(a);
  const Vector guess(b.size(), 0.25);
  const auto alone = system(a, With::diagonal);
  for (const KrylovMethod method : {KrylovMethod::bicgstab, KrylovMethod::gmres}) {
    const KrylovOptions options{.method = method};
    Krylov k = krylov(*alone, options);
    const auto one = solve(k, b, {.relative = 1e-8}, guess);
    const Solved many = solve_on(a, even_cut(a.rows, 3), With::diagonal, options, b, {.relative = 1e-8}, guess);
    expect_alike(options.method, one.outcome, many.outcomes[0], one.x, many.x);
  }
}

/// Factors of each rank's own rows: other mathematics than one factor, but the solution is the same.
TEST_P(KrylovRanks, BlocksOfRanksAreFactored) {
  const CsrMatrix a = grid(30);
  const Vector b = rhs_of(a);
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres}) {
    SCOPED_TRACE(to_string(method));
    const Solved many = solve_on(a, even_cut(a.rows, 4), With::factor, {.method = method}, b, {.relative = 1e-10});
    EXPECT_TRUE(many.outcomes[0].converged());
    EXPECT_LT(test::relative_residual(a, b, many.x), 1e-8);
    for (const KrylovOutcome& other : many.outcomes) EXPECT_EQ(other.norms, many.outcomes[0].norms);
  }
}

TEST_P(KrylovRanks, SharesMayBeUnequalOrEmpty) {
  const CsrMatrix a = grid(25);
  const Vector b = rhs_of(a);
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::chebyshev}) {
    SCOPED_TRACE(to_string(method));
    KrylovOptions options{.method = method, .smallest = 0.05, .largest = 8.0};
    const Solved many =
        solve_on(a, {0, 0, 7, 300, 300, a.rows}, With::diagonal, options, b, {.relative = 1e-8, .iterations = 2000});
    EXPECT_TRUE(many.outcomes[0].converged());
    EXPECT_LT(test::relative_residual(a, b, many.x), 1e-6);
  }
}

TEST_P(KrylovRanks, BitsRepeat) {
  const CsrMatrix a = grid(30);
  const Vector b = rhs_of(a);
  std::optional<Vector> first;
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    rank.precondition(With::diagonal);
    rank.make({.method = KrylovMethod::cg});
    std::optional<Vector> mine;
    for (int repetition = 0; repetition < 10; ++repetition) {
      Vector x(b.size(), 0.0);
      const KrylovOutcome outcome = rank.solve(b, x, false, {.relative = 1e-10});
      if (!mine) mine = outcome.norms;
      EXPECT_EQ(outcome.norms, *mine);
    }
    if (group.rank() == 0) first = mine;
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
  ASSERT_TRUE(first);
  EXPECT_GT(first->size(), 20U);
}

/// One NaN on one rank ends the solves of all, for the same reason.
TEST_P(KrylovRanks, NanOfOneIsThatOfAll) {
  const CsrMatrix a = grid(20);
  Vector b = rhs_of(a);
  b[399] = std::numeric_limits<double>::quiet_NaN();
  for (const KrylovMethod method : {KrylovMethod::cg, KrylovMethod::gmres, KrylovMethod::minres}) {
    const Solved many = solve_on(a, even_cut(a.rows, 3), With::diagonal, {.method = method}, b, {});
    for (const KrylovOutcome& outcome : many.outcomes) EXPECT_EQ(outcome.reason, KrylovReason::not_a_number);
  }
}

TEST_P(KrylovRanks, ConstantNullSpaceIsThatOfAllRows) {
  // A ring: each row adds up to zero.
  const Index n = 200;
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    std::vector<std::pair<Index, double>> row{{(i + n - 1) % n, -1.0}, {i, 2.0}, {(i + 1) % n, -1.0}};
    std::ranges::sort(row);
    for (const auto& [column, value] : row) test::append(a, column, value);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  Vector b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 2 == 0 ? 1.0 : -1.0;
  b[0] += 3.0;
  b[100] -= 3.0;
  Vector x(b.size(), 0.0);
  const auto thrown = on_ranks(a, {0, 80, n}, [&](Rank& rank, const RankGroup&) {
    rank.precondition(With::diagonal);
    rank.make({.method = KrylovMethod::cg});
    rank.krylov().set_null_space(true, {});
    EXPECT_TRUE(rank.solve(b, x, false, {.relative = 1e-10}).converged());
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
  EXPECT_LT(test::relative_residual(a, b, x), 1e-8);
  double sum = 0.0;
  for (const double value : x) sum += value;
  EXPECT_NEAR(sum, 0.0, 1e-8);
}

template <class Expected>
void expect_on_all(const std::vector<std::exception_ptr>& thrown, const std::string& words) {
  for (const std::exception_ptr& one : thrown) {
    ASSERT_TRUE(one);
    try {
      std::rethrow_exception(one);
    } catch (const Expected& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  }
}

TEST_P(KrylovRanks, WhatOneRefusesIsRefusedByAll) {
  const CsrMatrix a = grid(10);
  const auto thrown = on_ranks(a, even_cut(a.rows, 3), [&](Rank& rank, const RankGroup& group) {
    // The restart of one is none.
    rank.make({.method = KrylovMethod::gmres, .restart = group.rank() == 1 ? -1 : 30});
  });
  expect_on_all<InvalidInput>(thrown, "restart");
}

TEST_P(KrylovRanks, GhostsAreChecked) {
  const CsrMatrix a = grid(10);
  test::ThreadRanks ranks(2);
  const auto thrown = ranks.run([&](const RankGroup& group) {
    const Context context = own_context();
    Share share = share_of(a, group.rank() == 0 ? 0 : 50, group.rank() == 0 ? 50 : 100);
    if (group.rank() == 1) share.ghosts[0] = 70;
    Rank rank(context, false, group, std::move(share));
    rank.make({.method = KrylovMethod::cg});
  });
  expect_on_all<InvalidInput>(thrown, "row of its own rank");
}

/// A rank that leaves the others alone in a solve: their patience ends it, and the object stays useless.
TEST_P(KrylovRanks, WaitingEnds) {
  const CsrMatrix a = grid(20);
  const Vector b = rhs_of(a);
  const auto begun = std::chrono::steady_clock::now();
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    rank.precondition(With::diagonal);
    rank.make({.method = KrylovMethod::cg}, 0.5);
    Vector x(b.size(), 0.0);
    if (group.rank() == 1) return;
    EXPECT_THROW(rank.solve(b, x, false, {}), RankLost);
    EXPECT_THROW(rank.solve(b, x, false, {}), RankLost);
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(30));
}

TEST_P(KrylovRanks, RestartsAreThoseOfAllRanks) {
  const CsrMatrix a = grid(16);
  const Vector b = rhs_of(a);
  std::vector<KrylovOutcome> whole(2);
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    rank.make({.method = KrylovMethod::gmres, .restart = 5});
    Vector x(b.size(), 0.0);
    whole[static_cast<std::size_t>(group.rank())] = rank.solve(b, x, false, {.relative = 1e-9});
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
  EXPECT_TRUE(whole[0].converged());
  EXPECT_EQ(whole[0].norms, whole[1].norms);
}

}  // namespace
}  // namespace taskdag
