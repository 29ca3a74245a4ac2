// Krylov methods on several ranks that are threads of this process: on the host. CUDA: krylov_processes_test.cpp.
#include "krylov_ranks.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "support/effort.hpp"
#include "support/thread_ranks.hpp"
#include "taskdag/across_ranks.hpp"

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

/// A share of a complex matrix, whose rows and ghosts are numbers; its vectors have two elements for each.
Share share_of_numbers(const CsrMatrix& pattern, const std::vector<std::complex<double>>& values, Index first,
                       Index end) {
  CsrMatrix places = pattern;
  for (std::size_t e = 0; e < places.values.size(); ++e) places.values[e] = static_cast<double>(e);
  Share share = share_of(places, first, end);
  for (CsrMatrix* const part : {&share.own, &share.outer}) {
    Vector parts;
    for (const double place : part->values) {
      const std::complex<double> value = values[static_cast<std::size_t>(place)];
      parts.insert(parts.end(), {value.real(), value.imag()});
    }
    part->values = std::move(parts);
  }
  share.first *= 2;
  share.end *= 2;
  return share;
}

/// Entries of a grid turned, those above the diagonal one way, those below the other way.
std::vector<std::complex<double>> turned(const CsrMatrix& a) {
  std::vector<std::complex<double>> values;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      const double angle = 0.3 * (std::min(i, a.col_indices[e]) % 7) + 0.2;
      const double size = i == a.col_indices[e] ? a.values[e] + 0.3 : a.values[e];
      values.push_back(i == a.col_indices[e] ? size : std::polar(size, i < a.col_indices[e] ? angle : -angle));
    }
  }
  return values;
}

TEST_P(KrylovRanks, ComplexNumbersAreSolvedForAsOnOneRank) {
  const CsrMatrix a = grid(14 / test::kSmaller);
  const std::vector<std::complex<double>> values = turned(a);
  Vector b = rhs_of(a);
  b.resize(2 * b.size(), 0.25);
  for (KrylovOptions options : all_methods()) {
    using M = KrylovMethod;
    if (options.norm == KrylovNorm::natural && options.method != M::cg) continue;
    options.complex_numbers = true;
    SCOPED_TRACE(to_string(options.method));
    const auto solve_on = [&](Index count) {
      Solved solved;
      solved.outcomes.resize(static_cast<std::size_t>(count));
      solved.x = Vector(b.size(), std::nan(""));
      test::ThreadRanks ranks(static_cast<int>(count));
      const std::vector<Index> cut = even_cut(a.rows, count);
      const auto thrown = ranks.run([&](const RankGroup& group) {
        const auto r = static_cast<std::size_t>(group.rank());
        const Context context = own_context();
        Rank rank(context, false, group, share_of_numbers(a, values, cut[r], cut[r + 1]));
        rank.make(options);
        for (int again = 0; again < 2; ++again)
          solved.outcomes[r] = rank.solve(b, solved.x, false, {.relative = 1e-8, .iterations = 400});
      });
      for (const std::exception_ptr& one : thrown) {
        if (one) std::rethrow_exception(one);
      }
      return solved;
    };
    const Solved one = solve_on(1);
    EXPECT_TRUE(one.outcomes[0].converged() || options.norm == KrylovNorm::none) << to_string(one.outcomes[0].reason);
    for (const Index ranks : {2, 3}) {
      const Solved many = solve_on(ranks);
      expect_alike(options.method, one.outcomes[0], many.outcomes[0], one.x, many.x);
      for (const KrylovOutcome& other : many.outcomes) EXPECT_EQ(other.norms, many.outcomes[0].norms);
    }
  }
}

/// CG sends elements ahead of the product that needs them: what no product has needed does not come to the next solve,
/// however a loop has ended, and whether it is another one.
TEST_P(KrylovRanks, WhatIsSentAheadIsTakenOnce) {
  CsrMatrix a = grid(14);
  const Vector b = rhs_of(a);
  for (const bool definite : {true, false}) {
    for (std::size_t i = 0; i < 10 && !definite; ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e)
        if (a.col_indices[e] == static_cast<Index>(i)) a.values[e] = -a.values[e];
    }
    for (const With with : {With::nothing, With::diagonal, With::factor}) {
      if (with == With::factor && !definite) continue;
      SCOPED_TRACE(name_of(with));
      const auto thrown = on_ranks(a, even_cut(a.rows, 3), [&](Rank& rank, const RankGroup&) {
        rank.precondition(with);
        rank.make({.method = KrylovMethod::cg});
        const Vector zero(b.size(), 0.0);
        Vector x = zero;
        const KrylovOutcome first = rank.solve(b, x, false, {.relative = 1e-9});
        EXPECT_EQ(first.converged(), definite) << static_cast<int>(first.reason);
        for (std::int64_t limit = 0; limit < 5; ++limit) {
          x = zero;
          static_cast<void>(rank.solve(b, x, limit % 2 == 1, {.relative = 1e-9, .iterations = limit}));
          if (limit == 3) rank.krylov().set_null_space(false, {});
          x = zero;
          const KrylovOutcome again = rank.solve(b, x, limit % 2 == 0, {.relative = 1e-9});
          EXPECT_EQ(again.reason, first.reason);
          EXPECT_EQ(again.norms, first.norms);
        }
      });
      for (const std::exception_ptr& one : thrown) {
        if (one) std::rethrow_exception(one);
      }
    }
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

/// One rank records an iteration that the others make as usual.
TEST_P(KrylovRanks, OneOfThemMayRecordAnIteration) {
  const CsrMatrix a = grid(30);
  const Vector b = rhs_of(a);
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    rank.precondition(With::factor);
    rank.make({.method = KrylovMethod::cg});
    Vector x(b.size(), 0.0);
    const KrylovOutcome expected = rank.solve(b, x, false, {});
    rank.begin(b);
    engine::Report report;
    KrylovOutcome outcome = group.rank() == 0 ? rank.krylov().trace_iteration(report) : rank.krylov().go_on(1);
    EXPECT_EQ(outcome.iterations, 1);
    EXPECT_EQ(report.events.empty(), group.rank() != 0);
    outcome = rank.krylov().go_on(1000);
    EXPECT_EQ(outcome.norms, expected.norms);
    EXPECT_EQ(outcome.reason, expected.reason);
    rank.krylov().end();
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
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

/// Numbers of a factor in an order by colours, as a rank has its rows, of a matrix whose entries they are.
struct Coloured {
  RankRows rows;
  std::vector<double> values;
  std::vector<Index> colours{0};
  std::vector<Index> row_at;
};

Index chequered(std::int64_t row, Index n) { return static_cast<Index>((row / n + row % n) % 2); }

using ColourOf = Index (*)(std::int64_t row, Index n);
/// Of a grid of n² rows in some colours, or of some of its rows.
Coloured coloured(const CsrMatrix& a, const Share& share, Index n, Index colours = 2, ColourOf colour_of = chequered) {
  const auto first = static_cast<std::int64_t>(share.first);
  const auto count = static_cast<Index>(share.end - share.first);
  Coloured c;
  std::vector<Index> place(static_cast<std::size_t>(count));
  for (Index colour = 0; colour < colours; ++colour) {
    for (Index i = 0; i < count; ++i) {
      if (colour_of(first + i, n) != colour) continue;
      place[static_cast<std::size_t>(i)] = static_cast<Index>(c.row_at.size());
      c.row_at.push_back(i);
    }
    c.colours.push_back(static_cast<Index>(c.row_at.size()));
  }
  c.rows.rows = count;
  c.rows.ghosts = static_cast<Index>(share.ghosts.size());
  c.rows.offsets.push_back(0);
  for (const Index i : c.row_at) {
    const std::int64_t row = first + i;
    for (const int side : {0, 1, 2}) {
      if (side == 1) c.rows.diagonals.push_back(static_cast<Offset>(c.values.size()));
      for (Offset e = a.row_offsets[static_cast<std::size_t>(row)];
           e < a.row_offsets[static_cast<std::size_t>(row) + 1]; ++e) {
        const std::int64_t j = a.col_indices[static_cast<std::size_t>(e)];
        if (side != (j == row ? 1 : colour_of(j, n) < colour_of(row, n) ? 0 : 2)) continue;
        const bool own = j >= first && j < first + count;
        const auto ghost = static_cast<Index>(std::ranges::lower_bound(share.ghosts, j) - share.ghosts.begin());
        c.rows.columns.push_back(own ? place[static_cast<std::size_t>(j - first)] : count + ghost);
        c.values.push_back(j == row ? 0.2
                                    : 0.1 * a.values[static_cast<std::size_t>(e)] - 0.01 * static_cast<double>(j % 7));
      }
    }
    c.rows.offsets.push_back(static_cast<Offset>(c.values.size()));
  }
  return c;
}

/// U⁻¹ L⁻¹ b, by rows one after the other.
Vector swept(const Coloured& c, const Vector& b) {
  const auto at = [](Index i) { return static_cast<std::size_t>(i); };
  Vector work(b.size());
  Vector x(b.size());
  const auto sum = [&](Offset begin, Offset end) {
    double total = 0.0;
    for (Offset e = begin; e < end; ++e) total += c.values[at(e)] * work[at(c.rows.columns[at(e)])];
    return total;
  };
  for (Index p = 0; p < c.rows.rows; ++p)
    work[at(p)] = b[at(c.row_at[at(p)])] - sum(c.rows.offsets[at(p)], c.rows.diagonals[at(p)]);
  for (Index p = c.rows.rows; p-- > 0;) {
    const Offset diagonal = c.rows.diagonals[at(p)];
    work[at(p)] = (work[at(p)] - sum(diagonal + 1, c.rows.offsets[at(p) + 1])) * c.values[at(diagonal)];
    x[at(c.row_at[at(p)])] = work[at(p)];
  }
  return x;
}

TEST_P(KrylovRanks, SweepsCrossThem) {
  const Index n = 30;
  const CsrMatrix a = grid(n);
  const Vector b = rhs_of(a);
  constexpr int times = 20;
  const auto apply_on = [&](const std::vector<Index>& cut) {
    std::vector<Vector> found(times, Vector(b.size(), std::nan("")));
    const auto thrown = on_ranks(a, cut, [&](Rank& rank, const RankGroup& group) {
      const Share& share = rank.share();
      const Coloured c = coloured(a, share, n);
      taskdag::KrylovRanks ranks;
      ranks.group = &group;
      ranks.ghosts = share.ghosts;
      RankSweeps sweeps(own_context(), c.rows, {c.colours, c.row_at}, ranks);
      sweeps.load(c.values.data(), MemorySpace::host, {});
      Vector x = piece(b, share);
      Vector y(x.size());
      for (Vector& one : found) {
        sweeps.apply(x.data(), y.data(), {});
        std::ranges::copy(y, one.begin() + static_cast<std::ptrdiff_t>(share.first));
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 - y[i];
      }
      EXPECT_FALSE(sweeps.has_lost_rank());
    });
    for (const std::exception_ptr& one : thrown) {
      if (one) std::rethrow_exception(one);
    }
    return found;
  };
  const std::vector<Vector> alone = apply_on({0, a.rows});
  const Coloured c = coloured(a, share_of(a, 0, a.rows), n);
  EXPECT_EQ(alone[0], swept(c, b));
  const std::vector<std::vector<Index>> cuts = {even_cut(a.rows, 2), even_cut(a.rows, 3), {0, 0, 17, a.rows}};
  for (const std::vector<Index>& cut : cuts) {
    const std::vector<Vector> many = apply_on(cut);
    for (std::size_t k = 0; k < alone.size(); ++k) EXPECT_EQ(many[k], alone[k]) << k;
  }
}

/// Four colours, for nine points.
Index in_squares(std::int64_t row, Index n) { return static_cast<Index>(2 * (row / n % 2) + row % n % 2); }

/// What a rank takes for a numeric phase: its rows with those of ghosts, and the matrix' values.
struct ToEliminate {
  RankRows rows;
  std::vector<Index> colours;
  std::vector<double> own_values;    ///< of the matrix, in columns of own rows
  std::vector<double> outer_values;  ///< in others
  std::vector<Offset> own;           ///< places of these
  std::vector<Offset> outer;
  std::vector<int> owner;  ///< of each entry of a ghost's row, and its place there
  std::vector<Offset> entry;

  [[nodiscard]] EliminationInput input(double patience_s = 60.0) const {
    return {own, outer, {owner, entry}, patience_s};
  }
  /// In the order of the pattern.
  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> all(own.size() + outer.size());
    for (std::size_t e = 0; e < own.size(); ++e) all[static_cast<std::size_t>(own[e])] = own_values[e];
    for (std::size_t e = 0; e < outer.size(); ++e) all[static_cast<std::size_t>(outer[e])] = outer_values[e];
    return all;
  }
};

ToEliminate to_eliminate(const CsrMatrix& a, const std::vector<Index>& cut, int me, Index n) {
  const auto at = [](auto i) { return static_cast<std::size_t>(i); };
  const auto of_rank = [&](std::size_t r) {
    const Share share = share_of(a, cut[r], cut[r + 1]);
    return std::pair(share, coloured(a, share, n, 4, in_squares));
  };
  const auto [share, c] = of_rank(at(me));
  ToEliminate result;
  result.rows = c.rows;
  result.colours = c.colours;
  const auto global_of = [](const Share& s, const Coloured& from, Index column) {
    return column < from.rows.rows ? static_cast<std::int64_t>(s.first) + from.row_at[static_cast<std::size_t>(column)]
                                   : s.ghosts[static_cast<std::size_t>(column - from.rows.rows)];
  };
  const auto value_at = [&](std::int64_t i, std::int64_t j) {
    const auto first = a.col_indices.begin() + a.row_offsets[at(i)];
    const auto place = std::find(first, a.col_indices.begin() + a.row_offsets[at(i + 1)], j) - a.col_indices.begin();
    return a.values[at(place)];
  };
  for (Index p = 0; p < c.rows.rows; ++p) {
    for (Offset e = c.rows.offsets[at(p)]; e < c.rows.offsets[at(p + 1)]; ++e) {
      const Index column = c.rows.columns[at(e)];
      const double value = value_at(global_of(share, c, p), global_of(share, c, column));
      (column < c.rows.rows ? result.own : result.outer).push_back(e);
      (column < c.rows.rows ? result.own_values : result.outer_values).push_back(value);
    }
  }
  for (const std::int64_t ghost : share.ghosts) {
    const auto owner = at(std::ranges::upper_bound(cut, ghost) - cut.begin() - 1);
    const auto [there, rows] = of_rank(owner);
    const auto place =
        at(std::ranges::find(rows.row_at, ghost - static_cast<std::int64_t>(there.first)) - rows.row_at.begin());
    result.rows.diagonals.push_back(static_cast<Offset>(result.rows.columns.size()));
    for (Offset e = rows.rows.diagonals[place]; e < rows.rows.offsets[place + 1]; ++e) {
      const std::int64_t j = global_of(there, rows, rows.rows.columns[at(e)]);
      const auto known = std::ranges::lower_bound(share.ghosts, j);
      const bool mine = j >= static_cast<std::int64_t>(share.first) && j < static_cast<std::int64_t>(share.end);
      if (!mine && (known == share.ghosts.end() || *known != j)) continue;
      const auto own = std::ranges::find(c.row_at, j - static_cast<std::int64_t>(share.first)) - c.row_at.begin();
      result.rows.columns.push_back(static_cast<Index>(mine ? own : c.rows.rows + (known - share.ghosts.begin())));
      result.owner.push_back(static_cast<int>(owner));
      result.entry.push_back(e);
    }
    result.rows.offsets.push_back(static_cast<Offset>(result.rows.columns.size()));
  }
  return result;
}

/// By the rows' numbers in the matrix, so that it does not depend on the ranks.
using Factored = std::map<std::pair<std::int64_t, std::int64_t>, double>;

TEST_P(KrylovRanks, EliminationsCrossThem) {
  const Index n = 14;
  CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = 1});
  for (std::size_t e = 0; e < a.values.size(); ++e) a.values[e] += 1e-3 * static_cast<double>(e % 5);
  const FactorOptions kinds[] = {{},
                                 {.diagonal_only = true},
                                 {.kind = FactorKind::ic, .shift = ShiftType::scaled},
                                 {.kind = FactorKind::ic, .shift = ShiftType::positive_definite},
                                 {.shift = ShiftType::inblocks, .shift_amount = 2.0, .zero_pivot = 25.5}};
  for (const FactorOptions& options : kinds) {
    const auto factor_on = [&](const std::vector<Index>& cut, bool by_ranks, std::vector<FactorStatus>& found) {
      std::vector<std::vector<double>> values(cut.size() - 1);
      found.resize(cut.size() - 1);
      const auto thrown = on_ranks(a, cut, [&](Rank&, const RankGroup& group) {
        const auto r = static_cast<std::size_t>(group.rank());
        const ToEliminate all = to_eliminate(a, cut, group.rank(), n);
        const Context context = own_context();
        RankFactor factor(context, all.rows, options);
        const std::vector<double> given = all.values();
        factor.begin(given.data(), 1.0, 8.0);
        const auto own = static_cast<std::size_t>(all.rows.own_entries());
        if (!by_ranks) {  // one rank, on host threads
          factor.load();
          for (std::size_t c = 0; c + 1 < all.colours.size(); ++c) factor.factor(all.colours[c], all.colours[c + 1]);
          found[r] = factor.status();
          values[r].assign(factor.values(), factor.values() + own);
          return;
        }
        RankElimination elimination(context, factor, all.colours, group, all.input());
        elimination.take(all.own_values.data(), all.outer_values.data(), {});
        std::vector<double> taken(own);
        elimination.copy_taken(0, taken);
        EXPECT_EQ(taken, given);
        for (int times = 0; times < 3; ++times) found[r] = elimination.run(factor, {});
        values[r].resize(own);
        elimination.copy_values(values[r]);
        EXPECT_TRUE(std::equal(values[r].begin(), values[r].end(), elimination.values()));
      });
      for (const std::exception_ptr& one : thrown) {
        if (one) std::rethrow_exception(one);
      }
      Factored factored;
      for (std::size_t r = 0; r + 1 < cut.size(); ++r) {
        const Share share = share_of(a, cut[r], cut[r + 1]);
        const Coloured c = coloured(a, share, n, 4, in_squares);
        const auto global = [&](Index p) {
          return p < c.rows.rows ? static_cast<std::int64_t>(share.first) + c.row_at[static_cast<std::size_t>(p)]
                                 : share.ghosts[static_cast<std::size_t>(p - c.rows.rows)];
        };
        for (Index p = 0; p < c.rows.rows; ++p) {
          for (auto e = static_cast<std::size_t>(c.rows.offsets[static_cast<std::size_t>(p)]);
               e < static_cast<std::size_t>(c.rows.offsets[static_cast<std::size_t>(p) + 1]); ++e)
            factored[{global(p), global(c.rows.columns[e])}] = values[r][e];
        }
      }
      return factored;
    };
    std::vector<FactorStatus> expected;
    const Factored alone = factor_on({0, a.rows}, false, expected);
    for (const std::vector<Index>& cut :
         {std::vector<Index>{0, a.rows}, even_cut(a.rows, 2), even_cut(a.rows, 3), {0, 0, 17, a.rows}}) {
      std::vector<FactorStatus> found;
      EXPECT_EQ(factor_on(cut, true, found), alone) << cut.size() - 1 << " ranks";
      int shifts = 0;
      for (const FactorStatus& one : found) {
        EXPECT_EQ(one.outcome, expected[0].outcome);
        shifts += one.shifts;
      }
      EXPECT_EQ(shifts, expected[0].shifts);
    }
  }
}

TEST_P(KrylovRanks, EliminationsFindBadPivots) {
  const Index n = 10;
  CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = 1});
  const auto spoil = [&](Index row, double value) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++e) {
      if (a.col_indices[e] == row) a.values[e] = value;
    }
  };
  spoil(0, 0.0);  // of the first colour
  spoil(a.rows - n, std::numeric_limits<double>::quiet_NaN());
  const std::vector<Index> cut = even_cut(a.rows, 2);
  const auto thrown = on_ranks(a, cut, [&](Rank&, const RankGroup& group) {
    const ToEliminate all = to_eliminate(a, cut, group.rank(), n);
    const Context context = own_context();
    RankFactor factor(context, all.rows, {});
    factor.begin(nullptr, 0.0, 0.0);
    RankElimination elimination(context, factor, all.colours, group, all.input());
    elimination.take(all.own_values.data(), all.outer_values.data(), {});
    const FactorStatus status = elimination.run(factor, {});
    EXPECT_EQ(status.outcome, group.rank() == 0 ? FactorOutcome::zero_pivot : FactorOutcome::non_finite);
    EXPECT_TRUE(group.rank() != 0 || status.first_row == 0);
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
}

TEST_P(KrylovRanks, EliminationsEndWhereARankDoesNotCome) {
  const Index n = 8;
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = 1});
  const std::vector<Index> cut = even_cut(a.rows, 2);
  const auto thrown = on_ranks(a, cut, [&](Rank&, const RankGroup& group) {
    const ToEliminate all = to_eliminate(a, cut, group.rank(), n);
    const Context context = own_context();
    RankFactor factor(context, all.rows, {});
    factor.begin(nullptr, 0.0, 0.0);
    RankElimination elimination(context, factor, all.colours, group, all.input(0.2));
    elimination.take(all.own_values.data(), all.outer_values.data(), {});
    if (group.rank() == 0) {
      EXPECT_THROW(elimination.run(factor, {}), RankLost);
    }
    char mine = 0;
    char both[2];
    group.gather(&mine, 1, both);  // the other one's memory stays until here
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
}

TEST_P(KrylovRanks, WhatDoesNotFitAnEliminationIsRefusedByAll) {
  const Index n = 8;
  const CsrMatrix a = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = 1});
  const std::vector<Index> cut = even_cut(a.rows, 2);
  for (const int wrong : {0, 1}) {
    const auto thrown = on_ranks(a, cut, [&](Rank&, const RankGroup& group) {
      ToEliminate all = to_eliminate(a, cut, group.rank(), n);
      const RankFactor factor(own_context(), all.rows, {});
      if (group.rank() == 1 && wrong == 0) all.own.pop_back();
      if (group.rank() == 1 && wrong == 1) all.entry.front() = 1000000;  // of rank 0
      const RankElimination elimination(own_context(), factor, all.colours, group, all.input());
    });
    for (const std::exception_ptr& one : thrown) EXPECT_TRUE(one);
  }
}

TEST_P(KrylovRanks, SweepsEndWhereARankDoesNotCome) {
  const Index n = 12;
  const CsrMatrix a = grid(n);
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    const Share& share = rank.share();
    const Coloured c = coloured(a, share, n);
    taskdag::KrylovRanks ranks;
    ranks.group = &group;
    ranks.ghosts = share.ghosts;
    ranks.patience_s = 0.2;
    RankSweeps sweeps(own_context(), c.rows, {c.colours, c.row_at}, ranks);
    sweeps.load(c.values.data(), MemorySpace::host, {});
    const Vector b(share.end - share.first, 1.0);
    Vector x(b.size(), 0.0);
    if (group.rank() == 0) {
      sweeps.apply(b.data(), x.data(), {});
      EXPECT_TRUE(sweeps.has_lost_rank());
      EXPECT_TRUE(std::ranges::any_of(x, [](double element) { return std::isnan(element); }));
    }
    char mine = 0;
    char all[2];
    group.gather(&mine, 1, all);  // the other one's memory stays until here
  });
  for (const std::exception_ptr& one : thrown) EXPECT_FALSE(one);
}

TEST_P(KrylovRanks, WhatDoesNotFitASweepIsRefusedByAll) {
  const Index n = 12;
  const CsrMatrix a = grid(n);
  const auto thrown = on_ranks(a, even_cut(a.rows, 2), [&](Rank& rank, const RankGroup& group) {
    const Coloured c = coloured(a, rank.share(), n);
    taskdag::KrylovRanks ranks;
    ranks.group = &group;
    ranks.ghosts = rank.share().ghosts;
    if (group.rank() == 1) ranks.ghosts.pop_back();
    const RankSweeps sweeps(own_context(), c.rows, {c.colours, c.row_at}, ranks);
  });
  for (const std::exception_ptr& one : thrown) EXPECT_TRUE(one);
}

}  // namespace
}  // namespace taskdag
