// Krylov methods on two ranks that are processes, on both backends: this one and a second one, which runs the test
// KrylovOtherHalf.DISABLED_Run. The two share a GPU where there is one, and take turns on it.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <string>

#include "krylov_ranks.hpp"
#include "support/thread_ranks.hpp"
#include "unreachable_peer.hpp"

namespace taskdag {
namespace {

using test::Vector;
using test::Where;
using test::With;

constexpr const char* kHalf = "TASKDAG_OTHER_HALF";
constexpr Index kRows = 400;

enum class Do { solve, leave, reach_nobody };

/// What a half is told.
struct Half {
  int socket = -1;
  std::size_t place = 0;  ///< in krylov_places()
  bool shared_devices = true;
  Do what = Do::solve;
};

CsrMatrix system_of_both() { return test::grid(20, 0.3); }

/// A rank of that system, with what is its own.
class Side {
 public:
  Side(const Half& half, int number)
      : where_(test::krylov_places().at(half.place)),
        group_(number, half.socket),
        context_(Context::create({.backend = where_.backend, .threads = where_.threads})),
        rank_(context_, where_.space == MemorySpace::device, group_,
              test::share_of(system_of_both(), kRows / 2 * number, kRows / 2 * (number + 1))) {
    rank_.precondition(With::diagonal);
  }
  void make(const KrylovOptions& options, bool shared_devices) { rank_.make(options, 1000.0, shared_devices); }
  void begin() { rank_.begin(test::rhs_of(system_of_both())); }
  test::Solved solve() {
    test::Solved solved{{}, Vector(kRows, 0.0)};
    solved.outcome = rank_.solve(test::rhs_of(system_of_both()), solved.x, false, {.relative = 1e-9, .iterations = 60});
    return solved;
  }

 private:
  Where where_;
  test::PairOfProcesses group_;
  Context context_;
  test::Rank rank_;
};

/// Each method twice. @returns its rows of the solutions
std::vector<test::Solved> run(const Half& half, int number) {
  Side side(half, number);
  std::vector<test::Solved> all;
  test::peer_is_unreachable() = half.what == Do::reach_nobody && number == 1;
  for (const KrylovOptions& options : test::all_methods()) {
    side.make(options, half.shared_devices);
    if (half.what == Do::leave && number == 1) {
      side.begin();
      _exit(0);
    }
    all.push_back(side.solve());
    EXPECT_EQ(side.solve().outcome.norms, all.back().outcome.norms);
  }
  return all;
}

class KrylovProcesses : public test::KrylovFixture {
 protected:
  void SetUp() override {
    test::KrylovFixture::SetUp();
    if (IsSkipped()) return;
    std::array<int, 2> sockets{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    mine_.socket = sockets[0];
    theirs_ = sockets[1];
    const std::vector<Where> places = test::krylov_places();
    while (name_of(places.at(mine_.place)) != name_of(GetParam())) ++mine_.place;
  }
  void TearDown() override {
    if (mine_.socket >= 0) close(mine_.socket);
  }
  /// Starts the other process.
  void start() {
    child_ = fork();
    ASSERT_GE(child_, 0);
    if (child_ != 0) {
      close(theirs_);
      return;
    }
    close(mine_.socket);
    std::ostringstream told;
    told << theirs_ << ' ' << mine_.place << ' ' << mine_.shared_devices << ' ' << static_cast<int>(mine_.what);
    setenv(kHalf, told.str().c_str(), 1);
    execl("/proc/self/exe", "other half", "--gtest_filter=KrylovOtherHalf.DISABLED_Run",
          "--gtest_also_run_disabled_tests", "--gtest_brief=1", nullptr);
    _exit(3);
  }
  [[nodiscard]] int wait() const {
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  Half mine_;
  int theirs_ = -1;
  pid_t child_ = -1;
};
INSTANTIATE_TEST_SUITE_P(On, KrylovProcesses, testing::ValuesIn(test::krylov_places()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST(KrylovOtherHalf, DISABLED_Run) {
  const char* const told = std::getenv(kHalf);
  ASSERT_NE(told, nullptr) << "this is run by other tests";
  Half half;
  int what = 0;
  std::istringstream(told) >> half.socket >> half.place >> half.shared_devices >> what;
  half.what = static_cast<Do>(what);
  EXPECT_EQ(run(half, 1).size(), test::all_methods().size());
}

TEST_P(KrylovProcesses, SolveTogether) {
  start();
  const std::vector<test::Solved> together = run(mine_, 0);
  EXPECT_EQ(wait(), 0);
  const auto alone = system(system_of_both(), With::diagonal);
  const auto half = [](Vector x) { return Vector(x.begin(), x.begin() + kRows / 2); };
  for (std::size_t k = 0; k < together.size(); ++k) {
    const KrylovOptions options = test::all_methods()[k];
    SCOPED_TRACE(to_string(options.method));
    Krylov k1 = krylov(*alone, options);
    const auto one = solve(k1, test::rhs_of(system_of_both()), {.relative = 1e-9, .iterations = 60});
    test::expect_alike(options.method, one.outcome, together[k].outcome, half(one.x), half(together[k].x));
  }
}

TEST_P(KrylovProcesses, TheEndOfOneIsNoticed) {
  mine_.what = Do::leave;
  start();
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THROW(run(mine_, 0), RankLost);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  EXPECT_EQ(wait(), 0);
}

/// Unless that is asked for.
TEST_P(KrylovProcesses, AGpuIsNotShared) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "no GPU";
  mine_.shared_devices = false;
  start();
  EXPECT_THROW(run(mine_, 0), Unsupported);
  EXPECT_EQ(wait(), 1);
}

/// One of the two cannot; both say so.
TEST_P(KrylovProcesses, AGpuWithoutAPathToTheOtherIsNotUsed) {
  if (GetParam().backend == Backend::host) GTEST_SKIP() << "no GPU";
  mine_.what = Do::reach_nobody;
  start();
  try {
    run(mine_, 0);
    ADD_FAILURE() << "the other GPU was reached";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("does not reach the memory of rank 0"), std::string::npos) << error.what();
  }
  EXPECT_EQ(wait(), 1);
}

}  // namespace
}  // namespace taskdag
