// Sizes that memory does not hold, without taking that memory.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "backends.hpp"
#include "problems.hpp"
#include "support/effort.hpp"

namespace taskdag {
namespace {

/// Lets the address space of this process grow by no more than `bytes` while it lives.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(rlim_t bytes) {
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + bytes;
    active_ = pages > 0 && setrlimit(RLIMIT_AS, &limit) == 0;
  }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  [[nodiscard]] bool active() const { return active_; }

 private:
  rlimit before_{};
  bool active_ = false;
};

TEST(MemoryTest, ExhaustedHostMemoryIsOutOfMemory) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need the address space";
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  const CsrMatrix a = test::tridiagonal(4'000'000, -1, 3, 0);
  malloc_trim(0);  // what the generator gave back must not serve the solvers
  const AddressSpaceLimit limit(rlim_t{8} << 20);
  ASSERT_TRUE(limit.active());
  EXPECT_THROW(TriangularSolver(context, a.view(), MemorySpace::host, {}), OutOfMemory);
  EXPECT_THROW(Factorization(context, a.pattern(), MemorySpace::host, {}), OutOfMemory);
  EXPECT_THROW(Jacobi(context, a.view(), MemorySpace::host, {.sweeps = 2}), OutOfMemory);
  EXPECT_THROW(BlockJacobi(context, a.pattern(), MemorySpace::host, consecutive_blocks(a.rows, 32)), OutOfMemory);
}

TEST(MemoryTest, ThreadsThatTheSystemDoesNotStartAreOutOfMemory) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers need the address space";
  const AddressSpaceLimit limit(rlim_t{64} << 20);  // a thread's stack takes some MiB
  ASSERT_TRUE(limit.active());
  EXPECT_THROW(static_cast<void>(Context::create({.backend = Backend::host, .threads = 1000})), OutOfMemory);
}

TEST(MemoryTest, OffsetsBeyond32BitsAreRefused) {
  EXPECT_THROW(make_stencil({.stencil = Stencil::seven_point, .nx = 1200, .ny = 1200, .nz = 1200}), InvalidInput);
  EXPECT_THROW(make_stencil({.stencil = Stencil::five_point, .nx = 2'000'000'000, .ny = 2'000'000'000}), InvalidInput);
  EXPECT_THROW(static_cast<void>(checked_offset(std::int64_t{1} << 31, "a matrix")), InvalidInput);
}

TASKDAG_BACKEND_SUITE(DeviceMemoryTest, test::device_arrays());

TEST_P(DeviceMemoryTest, AbsurdAllocationsAreOutOfMemoryAndDoNotStay) {
  EXPECT_THROW(static_cast<void>(device()->allocate(std::size_t{1} << 46)), OutOfMemory);
  const CsrMatrix a = test::tridiagonal(33, -1, 3, -1);
  Factorization f = factorization(a, {});
  EXPECT_TRUE(factor(f, a.values).ok());
}

}  // namespace
}  // namespace taskdag
