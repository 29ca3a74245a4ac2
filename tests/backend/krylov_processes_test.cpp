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

namespace taskdag {
namespace {

using test::Vector;
using test::Where;
using test::With;

constexpr const char* kHalf = "TASKDAG_OTHER_HALF";
constexpr Index kRows = 400;

enum class Do { solve, leave };

/// What a half is told.
struct Half {
  int socket = -1;
  std::size_t place = 0;  ///< in krylov_places()
  bool shared_devices = true;
  Do what = Do::solve;
};

/// The rows of a rank of a system that both know.
KrylovOutcome run(const Half& half, int number, Vector& x) {
  const Where where = test::krylov_places().at(half.place);
  const test::PairOfProcesses group(number, half.socket);
  const CsrMatrix a = test::grid(20);
  const Vector b = test::rhs_of(a);
  const Context context = Context::create({.backend = where.backend, .threads = where.threads});
  test::Rank rank(context, where.space == MemorySpace::device, group,
                  test::share_of(a, kRows / 2 * number, kRows / 2 * (number + 1)));
  rank.precondition(With::diagonal);
  rank.make({.method = KrylovMethod::cg}, 1000.0, half.shared_devices);
  x.assign(b.size(), 0.0);
  if (half.what == Do::leave && number == 1) {
    rank.begin(b);
    _exit(0);
  }
  return rank.solve(b, x, false, {.relative = 1e-9});
}

class KrylovProcesses : public testing::TestWithParam<std::size_t> {
 protected:
  void SetUp() override {
    const Where where = test::krylov_places().at(GetParam());
    if (where.backend == Backend::cuda && probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
    std::array<int, 2> sockets{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()), 0);
    mine_.socket = sockets[0];
    theirs_ = sockets[1];
    mine_.place = GetParam();
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
INSTANTIATE_TEST_SUITE_P(On, KrylovProcesses, testing::Range<std::size_t>(0, test::krylov_places().size()),
                         [](const auto& parameter) { return name_of(test::krylov_places().at(parameter.param)); });

TEST(KrylovOtherHalf, DISABLED_Run) {
  const char* const told = std::getenv(kHalf);
  ASSERT_NE(told, nullptr) << "this is run by other tests";
  Half half;
  int what = 0;
  std::istringstream(told) >> half.socket >> half.place >> half.shared_devices >> what;
  half.what = static_cast<Do>(what);
  Vector x;
  EXPECT_TRUE(run(half, 1, x).converged());
}

TEST_P(KrylovProcesses, SolveTogether) {
  start();
  Vector x;
  const KrylovOutcome outcome = run(mine_, 0, x);
  EXPECT_TRUE(outcome.converged());
  EXPECT_EQ(wait(), 0);
}

TEST_P(KrylovProcesses, TheEndOfOneIsNoticed) {
  mine_.what = Do::leave;
  start();
  Vector x;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THROW(run(mine_, 0, x), RankLost);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(60));
  EXPECT_EQ(wait(), 0);
}

/// Unless that is asked for.
TEST_P(KrylovProcesses, AGpuIsNotShared) {
  if (test::krylov_places().at(GetParam()).backend == Backend::host) GTEST_SKIP() << "no GPU";
  mine_.shared_devices = false;
  start();
  Vector x;
  EXPECT_THROW(run(mine_, 0, x), Unsupported);
  EXPECT_EQ(wait(), 1);
}

}  // namespace
}  // namespace taskdag
