// Sizes that memory does not hold, without taking that memory.
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends.hpp"
#include "measure.hpp"
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

/// What a first set-up takes from the device is time that nothing else of Jacobi's comes near.
TEST_P(DeviceMemoryTest, OneSweepOfJacobiIsOneArray) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 45, .ny = 45, .wind = 0.5});
  test::MatrixArrays a = place(grid);
  test::MatrixArrays without_diagonal = place(test::tridiagonal(grid.rows, -1, 0, 1));
  const std::int64_t before = test::live_device_bytes();
  test::restart_peak();
  Jacobi jacobi(context(), a.view(), space(), {}, stream());
  const std::int64_t held = test::live_device_bytes() - before;
  EXPECT_EQ(held, static_cast<std::int64_t>(sizeof(double)) * (grid.rows + 1)) << "and how many rows are without one";
  EXPECT_EQ(test::peak_device_bytes() - before, held);
  EXPECT_EQ(jacobi.bytes(), held);
  EXPECT_EQ(jacobi.zero_diagonals(), 0);
  jacobi.update_values(without_diagonal.view(), space(), stream());  // of another number of entries
  EXPECT_EQ(jacobi.zero_diagonals(), grid.rows);
}

/// A grid in an order that it can be solved in: natural, by `cells`; in blocks, by `blocks`.
struct MemoryCase {
  std::string name;
  CsrMatrix a;
  bool in_blocks = false;
  Precision precision = Precision::in_double;

  /// Values and columns of the factor, as it is stored.
  [[nodiscard]] double own_bytes() const {
    const std::size_t value = precision == Precision::in_single ? sizeof(float) : sizeof(double);
    return static_cast<double>((value + sizeof(Index)) * a.values.size());
  }
};

std::vector<MemoryCase> memory_cases() {
  // Of seven points such that pencils, 31 lines each, are full.
  const CsrMatrix five = make_stencil({.stencil = Stencil::five_point, .nx = 500, .ny = 500, .wind = 0.5});
  const CsrMatrix seven = make_stencil({.stencil = Stencil::seven_point, .nx = 160, .ny = 62, .nz = 60, .wind = 0.5});
  std::vector<MemoryCase> cases;
  for (const bool in_blocks : {false, true}) {
    for (const Precision precision : {Precision::in_double, Precision::in_single}) {
      const std::string how =
          std::string(in_blocks ? ", blocks" : ", natural") + (precision == Precision::in_single ? ", single" : "");
      cases.push_back({"five points" + how, five, in_blocks, precision});
      cases.push_back({"seven points" + how, seven, in_blocks, precision});
    }
  }
  return cases;
}

class FactorMemoryTest : public test::BackendTest {
 protected:
  void SetUp() override {
    test::BackendTest::SetUp();
    if (IsSkipped()) return;
    const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 100, .ny = 40, .wind = 0.5});
    try {
      factorization(grid, {.schedule = SolveSchedule::cells});
    } catch (const DeviceError& error) {
      GTEST_SKIP() << error.what();
    }
  }
  Factorization made(const MemoryCase& c, test::MatrixArrays& a) {
    FactorOptions options;
    options.precision = c.precision;
    options.schedule = c.in_blocks ? SolveSchedule::blocks : SolveSchedule::cells;
    std::vector<Index> order;
    if (c.in_blocks) {
      BlockOrdering ordering = block_multicolour(context(), a.pattern(), space(), {}, stream());
      order = std::move(ordering.order);
      options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
    }
    return {context(), a.pattern(), space(), options, order, order, stream()};
  }
  void expect_bytes(const MemoryCase& c, std::int64_t before) {
    const double held = static_cast<double>(test::live_device_bytes() - before) / c.own_bytes();
    const double most = static_cast<double>(test::peak_device_bytes() - before) / c.own_bytes();
    EXPECT_LE(held, 2.0);
    EXPECT_LE(most, 3.0);
  }
};

INSTANTIATE_TEST_SUITE_P(On, FactorMemoryTest, testing::ValuesIn(test::device_arrays()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(FactorMemoryTest, HoldsTwiceTheFactorAndTakesThriceAtMost) {
  for (const MemoryCase& c : memory_cases()) {
    SCOPED_TRACE(c.name);
    test::MatrixArrays a = place(c.a);
    test::Array<double> b = place(test::right_hand_side(c.a.rows));
    test::Array<double> x = place(std::vector<double>(static_cast<std::size_t>(c.a.rows)));
    const std::int64_t before = test::live_device_bytes();
    test::restart_peak();
    Factorization f = made(c, a);
    for (int again = 0; again < 3; ++again) {
      ASSERT_TRUE(f.factor(a.values(), space(), stream()).ok());
      f.apply(Apply::full, b.data(), x.data(), space(), stream());
      static_cast<void>(x.read());
      expect_bytes(c, before);
      test::restart_peak();
    }
    EXPECT_LE(f.info().bytes, test::live_device_bytes() - before);
    EXPECT_GE(f.info().bytes, (test::live_device_bytes() - before) * 95 / 100) << "what -ksp_view shows";
    const std::int64_t rows = c.a.rows;
    const auto pattern = static_cast<std::int64_t>(sizeof(Index) * c.a.values.size());
    EXPECT_GE(f.info().numeric_bytes, pattern + 16 * rows) << "offsets, diagonal, pivots";
    EXPECT_LE(f.info().numeric_bytes, pattern + 17 * rows) << "no list beside them";
  }
}

/// What the sweeps alone hold comes back for whoever asks for it, and stays.
TEST_P(FactorMemoryTest, EntriesComeBackWhereTheyAreNeeded) {
  for (const MemoryCase& c : memory_cases()) {
    SCOPED_TRACE(c.name);
    test::MatrixArrays a = place(c.a);
    test::Array<double> values = place(
        test::made_dominant({c.a.rows, c.a.cols, c.a.row_offsets, c.a.col_indices, test::other_values(c.a.values)})
            .values);
    Factorization f = made(c, a);
    const std::vector<double> b = test::right_hand_side(c.a.rows);
    for (const double* const of : {a.values(), static_cast<const double*>(values.data())}) {
      ASSERT_TRUE(f.factor(of, space(), stream()).ok());
      const CsrMatrix first = f.copy_factor();
      const std::vector<double> full = apply(f, Apply::full, b);
      const std::vector<double> transposed = apply(f, Apply::transposed, b);
      // The same values anew, whose entries stay.
      ASSERT_TRUE(f.factor(of, space(), stream()).ok());
      const double bound = c.precision == Precision::in_single ? 1e-6 : 1e-14;
      EXPECT_LE(test::difference(f.copy_factor().values, first.values), bound);
      EXPECT_EQ(apply(f, Apply::full, b), full);
      EXPECT_LE(test::difference(apply(f, Apply::transposed, b), transposed), test::kForwardBound);
    }
  }
}

/// What the device gets back: other processes need it.
TEST_P(FactorMemoryTest, FreedMemoryDoesNotStay) {
  const CsrMatrix grid = make_stencil({.stencil = Stencil::seven_point, .nx = 124, .ny = 124, .nz = 124, .wind = 0.5});
  const auto make_and_factor = [&] {
    test::MatrixArrays a = place(grid);
    Factorization f({context(), a.pattern(), space(), {}, {}, {}, stream()});
    ASSERT_TRUE(f.factor(a.values(), space(), stream()).ok());
  };
  const std::int64_t before = test::reserved_device_bytes();
  make_and_factor();
  constexpr std::int64_t kKept = std::int64_t{64} << 20;
  constexpr std::int64_t kPiece = std::int64_t{32} << 20;  // the pool takes memory by
  EXPECT_LE(test::reserved_device_bytes(), std::max(before, kKept + kPiece));
}

}  // namespace
}  // namespace taskdag
