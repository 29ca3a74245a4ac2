// Cycles of multigrid on several ranks, which are threads of this process, against the same cycle on one rank. Where
// one is to die they are two processes, of which the second one runs the test CycleOtherHalf.DISABLED_Run.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>

#include "krylov_ranks.hpp"
#include "problems.hpp"
#include "support/thread_ranks.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag {
namespace {

using test::Share;
using test::Vector;

/// Aggregates of three neighbours, and a part of the next one: neither symmetric nor within a rank.
CsrMatrix interpolation_of(Index fine) {
  CsrMatrix p;
  p.rows = fine;
  p.cols = (fine + 2) / 3;
  for (Index i = 0; i < fine; ++i) {
    test::append(p, i / 3, 0.8 + 0.05 * static_cast<double>(i % 5));
    if (i / 3 + 1 < p.cols) test::append(p, i / 3 + 1, 0.2);
    p.row_offsets.push_back(static_cast<Offset>(p.values.size()));
  }
  return p;
}

struct Level {
  CsrMatrix a;
  CsrMatrix interpolation;
  CsrMatrix restriction;
  Vector diagonal;  ///< inverse
};
/// Operators of grids that know nothing of each other: what a cycle does with them is the same on any number of ranks.
std::vector<Level> hierarchy(Index finest = 12) {
  std::vector<Level> levels;
  for (const Index side : {finest, 0, 0, 0}) {
    Level level;
    if (side > 0) {
      level.a = test::grid(side, 0.3);
    } else {
      const Index rows = levels.back().interpolation.cols;
      level.a = make_stencil({.stencil = Stencil::five_point, .nx = rows / 2, .ny = 2, .nz = 1, .wind = 0.2});
      for (Index i = level.a.rows; i < rows; ++i) {
        test::append(level.a, i - 1, -0.5);
        test::append(level.a, i, 4.0);
        level.a.row_offsets.push_back(static_cast<Offset>(level.a.values.size()));
      }
      level.a.rows = level.a.cols = rows;
    }
    level.diagonal = test::inverse_diagonal(level.a);
    level.interpolation = interpolation_of(level.a.rows);
    level.restriction = test::transposed(level.interpolation);
    levels.push_back(std::move(level));
  }
  return levels;
}

/// Where the rows of each rank begin, and the end.
using Cut = std::vector<Index>;
/// Of `count` ranks; the one in `empty` has none.
Cut cut_of(Index rows, int count, int empty) {
  Cut cut{0};
  for (int rank = 0; rank < count; ++rank) {
    const Index left = rows - cut.back();
    const Index mine = rank == empty ? 0 : rank + 1 == count ? left : std::min(left, rows * (rank + 1) / (2 * count));
    cut.push_back(cut.back() + mine);
  }
  cut.back() = rows;
  return cut;
}

/// Rows of a matrix whose columns are cut in another way.
Share share_of(const CsrMatrix& a, const Cut& rows, const Cut& columns, std::size_t rank) {
  Share share;
  const Index first = columns[rank];
  const Index end = columns[rank + 1];
  share.own.rows = share.outer.rows = rows[rank + 1] - rows[rank];
  share.own.cols = end - first;
  for (const bool found : {false, true}) {
    for (Index i = rows[rank]; i < rows[rank + 1]; ++i) {
      for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
        const Index j = a.col_indices[e];
        const bool own = j >= first && j < end;
        if (!found && !own) share.ghosts.push_back(j);
        if (found && own) test::append(share.own, j - first, a.values[e]);
        if (found && !own)
          test::append(share.outer,
                       static_cast<Index>(std::ranges::lower_bound(share.ghosts, j) - share.ghosts.begin()),
                       a.values[e]);
      }
      if (!found) continue;
      share.own.row_offsets.push_back(static_cast<Offset>(share.own.values.size()));
      share.outer.row_offsets.push_back(static_cast<Offset>(share.outer.values.size()));
    }
    std::ranges::sort(share.ghosts);
    share.ghosts.erase(std::ranges::unique(share.ghosts).begin(), share.ghosts.end());
  }
  share.outer.cols = static_cast<Index>(share.ghosts.size());
  return share;
}

/// How the cycles of a case are made.
struct Kind {
  CycleForm form = CycleForm::cycle;
  int cycles = 1;
  int visits = 1;
  int steps = 2;
  std::size_t dealt_out = 1;
  bool calls = false;    ///< preconditioners, where levels are dealt out
  int last = 0;          ///< of these calls on a level: the process is killed in it; 0: it lives
  int empty = -1;        ///< a rank without rows
  int threads = 1;       ///< of a rank
  bool removes = false;  ///< null spaces, on all levels
};

/// M as a call: the same diagonal. The process is killed in the last one, if any is to be that.
class Multiplies final : public LinearMap {
 public:
  Multiplies(const double* diagonal, Index rows, int last) : diagonal_(diagonal), rows_(rows), last_(last) {}
  void apply(const double* x, double* y, Stream /*stream*/) override {
    if (++calls_ == last_) static_cast<void>(kill(getpid(), SIGKILL));
    for (Index i = 0; i < rows_; ++i) y[i] = diagonal_[i] * x[i];
  }

 private:
  const double* diagonal_;
  Index rows_;
  int last_;
  int calls_ = 0;
};

/// Of length 1, and orthogonal to the constant vector.
Vector without_mean(Index rows) {
  Vector v(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = std::cos(static_cast<double>(i) * 0.3);
  const double mean = std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(rows);
  for (double& element : v) element -= mean;
  const double norm = std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
  for (double& element : v) element /= norm;
  return v;
}

/// What one rank has, or the only one.
class Side {
 public:
  Side(const std::vector<Level>& levels, const Kind& kind, const RankGroup* group)
      : context_(Context::create({.backend = Backend::host, .threads = kind.threads})) {
    const auto rank = static_cast<std::size_t>(group != nullptr ? group->rank() : 0);
    const int count = group != nullptr ? group->count() : 1;
    const std::size_t dealt_out = group != nullptr ? kind.dealt_out : 0;
    CycleRanks ranks;
    ranks.group = group;
    ranks.patience_s = 50.0;
    shares_.reserve(3 * levels.size());
    std::vector<CycleLevel> all(levels.size());
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const Level& from = levels[l];
      const Cut rows = cut_of(from.a.rows, count, kind.empty);
      const Cut coarse = l + 1 < levels.size() ? cut_of(levels[l + 1].a.rows, count, kind.empty) : Cut(rows.size(), 0);
      const Cut everything(rows.size(), 0);
      Index first = 0;
      CycleLevel& to = all[l];
      if (l < dealt_out) {
        first = rows[rank];
        CycleRankLevel outer;
        to.a = keep(share_of(from.a, rows, rows, rank), &outer.a);
        to.restriction = keep(share_of(from.restriction, coarse, rows, rank), &outer.restriction);
        Cut columns = coarse;
        if (l + 1 == dealt_out) {
          columns[rank] = 0;
          columns[rank + 1] = from.interpolation.cols;
        }
        to.interpolation = keep(share_of(from.interpolation, rows, columns, rank), &outer.interpolation);
        ranks.levels.push_back(outer);
      } else {
        to.a = from.a.view();
        to.interpolation = from.interpolation.view();
        to.restriction = from.restriction.view();
      }
      if (l == 0) rows_ = to.a.pattern.rows;
      if (l == 0) first_ = first;
      to.visits = kind.visits;
      const double* const diagonal = from.diagonal.data() + first;
      if (kind.calls && l < kind.dealt_out)
        maps_.push_back(std::make_unique<Multiplies>(diagonal, to.a.pattern.rows, kind.last));
      else
        maps_.push_back(std::make_unique<DiagonalMap>(diagonal));
      if (kind.removes) {
        vectors_.push_back(without_mean(from.a.rows));
        to.null_space = {true, {vectors_.back().data() + first}};
        to.left_null_space = {l % 2 == 0, {}};
      }
      to.before = to.after = {chebyshev_steps(kind.steps, KrylovChebyshev::first, 0.3, 1.9), maps_.back().get()};
    }
    const CycleOptions options{.form = kind.form, .cycles = kind.cycles};
    if (group != nullptr)
      cycle_.emplace(context_, all, nullptr, options, ranks);
    else
      cycle_.emplace(context_, all, nullptr, options);
  }
  [[nodiscard]] Index first() const { return first_; }
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Cycle& cycle() { return *cycle_; }

 private:
  CsrView keep(Share share, CycleOuter* outer) {
    shares_.push_back(std::move(share));
    *outer = {shares_.back().outer.view(), shares_.back().ghosts};
    return shares_.back().own.view();
  }

  Context context_;
  std::vector<Share> shares_;
  std::vector<Vector> vectors_;  ///< of null spaces
  std::vector<std::unique_ptr<LinearMap>> maps_;
  std::optional<Cycle> cycle_;
  Index first_ = 0;
  Index rows_ = 0;
};

/// Right-hand side of an application.
Vector rhs(Index rows, int application) {
  Vector b(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < b.size(); ++i)
    b[i] = std::sin(static_cast<double>(i) * 0.7 + static_cast<double>(application));
  return b;
}

void rethrow(const std::vector<std::exception_ptr>& thrown) {
  for (const std::exception_ptr& one : thrown) {
    if (one) std::rethrow_exception(one);
  }
}

/// Several applications in a row, of which no rank waits for the end of another's; some ranks are late now and then.
void expect_same(const std::vector<Level>& levels, const Kind& kind, int count, int applications, bool late) {
  SCOPED_TRACE(std::string(to_string(kind.form)) + ", dealt out: " + std::to_string(kind.dealt_out) +
               ", visits: " + std::to_string(kind.visits) + ", steps: " + std::to_string(kind.steps) +
               ", ranks: " + std::to_string(count) + ", empty: " + std::to_string(kind.empty));
  const Index rows = levels[0].a.rows;
  Side alone(levels, kind, nullptr);
  std::vector<Vector> expected;
  for (int k = 0; k < applications; ++k) {
    expected.emplace_back(static_cast<std::size_t>(rows));
    alone.cycle().apply(rhs(rows, k).data(), expected.back().data(), {});
  }
  std::vector<Vector> found(expected.size(), Vector(static_cast<std::size_t>(rows), 0.0));
  test::ThreadRanks ranks(count);
  rethrow(ranks.run([&](const RankGroup& group) {
    Side side(levels, kind, &group);
    std::minstd_rand random(static_cast<unsigned>(group.rank()) + 1U);
    EXPECT_EQ(side.cycle().info().dealt_out, static_cast<int>(kind.dealt_out));
    for (int k = 0; k < applications; ++k) {
      const Vector b = rhs(rows, k);
      if (late && random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
      side.cycle().apply(b.data() + side.first(), found[static_cast<std::size_t>(k)].data() + side.first(), {});
    }
    EXPECT_FALSE(side.cycle().has_lost_rank());
  }));
  for (std::size_t k = 0; k < expected.size(); ++k) {
    for (std::size_t i = 0; i < expected[k].size(); ++i)
      ASSERT_NEAR(found[k][i], expected[k][i], 1e-11 * (1.0 + std::abs(expected[k][i]))) << "application " << k;
  }
}

class CyclesOnRanks : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, CyclesOnRanks, testing::Values(1, 2, 3, 4));

TEST_P(CyclesOnRanks, AreThoseOfOneRank) {
  const std::vector<Level> levels = hierarchy();
  for (const std::size_t dealt_out : {1U, 2U, 3U}) {
    for (const CycleForm form : {CycleForm::cycle, CycleForm::additive, CycleForm::full, CycleForm::kaskade}) {
      for (const int visits : {1, 2})
        expect_same(levels, {.form = form, .visits = visits, .dealt_out = dealt_out}, GetParam(), 3, false);
    }
    for (const int steps : {0, 1, 3})
      expect_same(levels, {.steps = steps, .dealt_out = dealt_out}, GetParam(), 3, false);
    expect_same(levels, {.cycles = 3, .dealt_out = dealt_out}, GetParam(), 3, false);
    expect_same(levels, {.dealt_out = dealt_out, .calls = true}, GetParam(), 3, false);
  }
}

TEST_P(CyclesOnRanks, RemoveNullSpaces) {
  const std::vector<Level> levels = hierarchy();
  for (const std::size_t dealt_out : {1U, 3U}) {
    for (const bool calls : {false, true}) {
      for (const int threads : {1, 2})
        expect_same(levels, {.dealt_out = dealt_out, .calls = calls, .threads = threads, .removes = true}, GetParam(),
                    40, true);
    }
    if (GetParam() > 1)
      expect_same(levels, {.dealt_out = dealt_out, .empty = GetParam() - 2, .removes = true}, GetParam(), 3, false);
  }
}

TEST_P(CyclesOnRanks, AreThoseOfOneRankWhereOneHasNoRows) {
  if (GetParam() == 1) GTEST_SKIP() << "it has all";
  const std::vector<Level> levels = hierarchy();
  for (const int empty : {0, GetParam() - 2}) {
    for (const std::size_t dealt_out : {1U, 3U}) {
      for (const bool calls : {false, true})
        expect_same(levels, {.visits = 2, .dealt_out = dealt_out, .calls = calls, .empty = empty}, GetParam(), 3,
                    false);
    }
  }
}

/// Nothing but the cycle itself keeps ranks in step.
TEST_P(CyclesOnRanks, WaitForEachOther) {
  const std::vector<Level> levels = hierarchy();
  for (const CycleForm form : {CycleForm::cycle, CycleForm::additive, CycleForm::full}) {
    for (const int visits : {1, 2})
      expect_same(levels, {.form = form, .visits = visits, .dealt_out = 2}, GetParam(), 200, true);
  }
}

TEST_P(CyclesOnRanks, RunOnSeveralThreadsOfARank) {
  const std::vector<Level> levels = hierarchy(60);
  for (const std::size_t dealt_out : {1U, 3U})
    expect_same(levels, {.visits = 2, .dealt_out = dealt_out, .threads = 2}, GetParam(), 30, true);
}

TEST_P(CyclesOnRanks, TellOfALostRank) {
  if (GetParam() == 1) GTEST_SKIP() << "there is no other";
  const std::vector<Level> levels = hierarchy();
  const Vector b = rhs(levels[0].a.rows, 0);
  test::ThreadRanks ranks(GetParam());
  rethrow(ranks.run([&](const RankGroup& group) {
    Side side(levels, {.dealt_out = 2}, &group);
    Vector x(b.size(), 0.0);
    if (group.rank() == 1)
      side.cycle().lose();
    else
      side.cycle().apply(b.data() + side.first(), x.data() + side.first(), {});
    EXPECT_TRUE(side.cycle().has_lost_rank());
  }));
}

constexpr const char* kHalf = "TASKDAG_OTHER_HALF";

/// Applications until a rank is lost, a hundred at most.
bool loses_a_rank(int socket, int number, int last) {
  const std::vector<Level> levels = hierarchy();
  const test::PairOfProcesses group(number, socket);
  Side side(levels, {.dealt_out = 2, .calls = true, .last = last}, &group);
  const Vector b = rhs(levels[0].a.rows, 0);
  Vector x(b.size(), 0.0);
  for (int k = 0; k < 100 && !side.cycle().has_lost_rank(); ++k)
    side.cycle().apply(b.data() + side.first(), x.data() + side.first(), {});
  return side.cycle().has_lost_rank();
}

TEST(CycleOtherHalf, DISABLED_Run) {
  const char* const socket = std::getenv(kHalf);
  ASSERT_NE(socket, nullptr) << "this is run by another test";
  static_cast<void>(loses_a_rank(std::stoi(socket), 1, 7));
}

TEST(CycleProcesses, TheEndOfOneInsideACycleIsNoticed) {
  std::array<int, 2> sockets{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    close(sockets[0]);
    setenv(kHalf, std::to_string(sockets[1]).c_str(), 1);
    execl("/proc/self/exe", "other half", "--gtest_filter=CycleOtherHalf.DISABLED_Run",
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    _exit(3);
  }
  close(sockets[1]);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(loses_a_rank(sockets[0], 0, 0));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(20)) << "what a rank waits at most is 50";
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  close(sockets[0]);
}

TEST_P(CyclesOnRanks, RefuseOnAllWhatOneCannotDo) {
  const std::vector<Level> levels = hierarchy();
  test::ThreadRanks ranks(GetParam());
  for (const std::exception_ptr& one : ranks.run([&](const RankGroup& group) {
         std::vector<Level> mine = levels;
         if (group.rank() == GetParam() - 1) mine[1].a.rows = mine[1].a.cols = 7;
         const Side side(mine, {.dealt_out = 1}, &group);
       }))
    EXPECT_THROW(std::rethrow_exception(one), InvalidInput);
  for (const std::exception_ptr& one :
       ranks.run([&](const RankGroup& group) { const Side side(levels, {.dealt_out = 4}, &group); }))
    EXPECT_THROW(std::rethrow_exception(one), InvalidInput);
  if (GetParam() == 1) return;
  for (const std::exception_ptr& one : ranks.run([&](const RankGroup& group) {
         const Side side(levels, {.steps = group.rank() == 0 ? 3 : 2, .dealt_out = 2}, &group);
       }))
    EXPECT_THROW(std::rethrow_exception(one), InvalidInput);
  for (const std::exception_ptr& one : ranks.run([&](const RankGroup& group) {
         const Side side(levels, {.dealt_out = group.rank() == 0 ? 2U : 1U}, &group);
       }))
    EXPECT_THROW(std::rethrow_exception(one), InvalidInput);
}

}  // namespace
}  // namespace taskdag
