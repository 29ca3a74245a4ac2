// Broken arguments are refused with a message that names what is wrong.
#include <cmath>
#include <functional>
#include <limits>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/without_diagonal.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(MisuseTest, test::everywhere_and_one_block());

void expect_refused(const std::string& part_of_message, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << part_of_message;
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find(part_of_message), std::string::npos) << error.what();
  }
}

constexpr auto kHost = MemorySpace::host;
constexpr auto kDevice = MemorySpace::device;

TEST_P(MisuseTest, BrokenHostPatternsAreNamed) {
  const std::vector<std::pair<std::string, CsrMatrix>> broken = {
      {"row 1", {2, 2, {0, 1, 3}, {0, 1, 0}, {1, 1, 1}}},  // unsorted
      {"row 1 holds column 1 twice", {2, 2, {0, 1, 3}, {0, 1, 1}, {1, 1, 1}}},
      {"row 0 has column 2", {2, 2, {0, 1, 2}, {2, 1}, {1, 1}}},
      {"row 0 has column -1", {2, 2, {0, 1, 2}, {-1, 1}, {1, 1}}},
      {"row 1 ends at offset 1", {3, 3, {0, 2, 1, 3}, {0, 1, 2}, {1, 1, 1}}},
      {"row 0 starts at offset 1", {2, 2, {1, 2, 3}, {0, 0, 1}, {1, 1, 1}}},
      {"square", {2, 3, {0, 1, 2}, {0, 1}, {1, 1}}},
      {"square", {3, 2, {0, 1, 2, 2}, {0, 1}, {1, 1}}},
      {"negative", {-1, -1, {0}, {}, {}}},
  };
  for (const auto& one : broken) {
    const std::string& message = one.first;
    const CsrMatrix& a = one.second;
    SCOPED_TRACE(message);
    expect_refused(message, [&] { Factorization(context(), a.pattern(), kHost, {}); });
    expect_refused(message, [&] { TriangularSolver(context(), a.view(), kHost, {}); });
    expect_refused(message, [&] { Jacobi(context(), a.view(), kHost, {}); });
  }
}

TEST_P(MisuseTest, NonSquarePatternsAreRefusedInEveryMemorySpace) {
  const CsrMatrix wide{2, 3, {0, 1, 2}, {0, 1}, {1, 1}};
  expect_refused("2 x 3", [&] { static_cast<void>(factorization(wide, {})); });
  expect_refused("2 x 3", [&] { static_cast<void>(triangular(wide, {})); });
  expect_refused("2 x 3", [&] { static_cast<void>(jacobi(wide, {})); });
}

TEST_P(MisuseTest, MissingDiagonalEntriesAreNamed) {
  CsrMatrix a{4, 4, {0, 1, 2, 3, 4}, {0, 1, 3, 2}, {1, 1, 1, 1}};  // rows 2 and 3 lack theirs
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    expect_refused("row 2 has no diagonal entry", [&] { static_cast<void>(factorization(a, {.kind = kind})); });
  }
  expect_refused("row 2 has no diagonal entry", [&] { static_cast<void>(triangular(a, {})); });
  TriangularSolver unit = triangular(a, {.unit_diagonal = true});
  EXPECT_EQ(solve(unit, {1, 2, 3, 4}), (std::vector<double>{1, 2, 3, 1}));
  // Of a permuted matrix: exchanging two rows makes the diagonal full, or empties it. The row's name is the old one.
  Factorization exchanged = factorization(a, {}, {0, 1, 3, 2}, {0, 1, 2, 3});
  EXPECT_TRUE(factor(exchanged, a.values).ok());
  const CsrMatrix diagonal = test::tridiagonal(4, 0, 2, 0);
  expect_refused("row 2 has no diagonal entry", [&] {
    static_cast<void>(factorization(diagonal, {}, {0, 2, 1, 3}, {0, 1, 2, 3}));
  });
}

TEST_P(MisuseTest, MissingDiagonalEntriesAreNamedByTheMatrixRowInAnyOrder) {
  const CsrMatrix a = test::without_diagonal(test::tridiagonal(5, -1, 3, -1), 1);
  const std::vector<Index> order = {4, 3, 1, 2, 0};
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    for (const Index levels : {0, 1}) {
      expect_refused("row 1 has no diagonal entry",
                     [&] { static_cast<void>(factorization(a, {.kind = kind, .levels = levels}, order, order)); });
    }
    expect_refused("block row 1 has no diagonal entry",
                   [&] { static_cast<void>(factorization(a, {.kind = kind, .block_size = 3}, order, order)); });
  }
  test::MatrixArrays arrays = place(a);
  for (const Index block_size : {1, 3}) {
    expect_refused(block_size > 1 ? "block row 1 has no diagonal entry" : "row 1 has no diagonal entry", [&] {
      static_cast<void>(Sor(context(), arrays.pattern(), space(), {.block_size = block_size}, order, stream()));
    });
  }
}

TEST_P(MisuseTest, MissingDiagonalEntriesAreNamedByTheMatrixRowInAnOrderOnTheDevice) {
  if (GetParam().backend != Backend::cuda) GTEST_SKIP() << "such orders are CUDA's";
  const CsrMatrix full = test::tridiagonal(5, -1, 3, -1);
  test::MatrixArrays arrays = place(full);
  FactorOptions options;
  options.device_order = block_multicolour(context(), arrays.pattern(), space(), {1, true}, stream()).device_order;
  ASSERT_TRUE(options.device_order);
  const std::vector<Index> order = options.device_order->to_host();
  std::size_t moved = 0;
  while (order.at(moved) == static_cast<Index>(moved)) ++moved;
  expect_refused("row " + std::to_string(order[moved]) + " has no diagonal entry",
                 [&] { static_cast<void>(factorization(test::without_diagonal(full, order[moved]), options)); });
}

TEST_P(MisuseTest, OrdersThatAreNoPermutationsAreRefused) {
  const CsrMatrix a = test::tridiagonal(4, -1, 3, -1);
  const std::vector<Index> good = {3, 2, 1, 0};
  for (const std::vector<Index>& bad :
       {std::vector<Index>{0, 1, 2}, std::vector<Index>{0, 1, 2, 3, 4}, std::vector<Index>{0, 1, 1, 3},
        std::vector<Index>{0, 1, 2, 4}, std::vector<Index>{-1, 1, 2, 3}}) {
    EXPECT_THROW(static_cast<void>(factorization(a, {}, bad, good)), InvalidInput);
    EXPECT_THROW(static_cast<void>(factorization(a, {}, good, bad)), InvalidInput);
    EXPECT_THROW(static_cast<void>(factorization(a, {.kind = FactorKind::ic}, bad, bad)), InvalidInput);
  }
  expect_refused("same order", [&] {
    static_cast<void>(factorization(a, {.kind = FactorKind::ic}, good, {0, 1, 2, 3}));
  });
  expect_refused("row order has 3 entries", [&] { static_cast<void>(factorization(a, {}, {0, 1, 2}, good)); });
}

TEST_P(MisuseTest, OptionsOutOfRangeAreRefused) {
  const CsrMatrix a = test::tridiagonal(4, -1, 3, -1);
  const double nan = std::nan("");
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity}) {
    EXPECT_THROW(static_cast<void>(factorization(a, {.shift_amount = bad})), InvalidInput);
    EXPECT_THROW(static_cast<void>(factorization(a, {.zero_pivot = bad})), InvalidInput);
    EXPECT_THROW(static_cast<void>(jacobi(a, {.damping = bad})), InvalidInput);
  }
  EXPECT_THROW(static_cast<void>(factorization(a, {.zero_pivot = -1e-14})), InvalidInput);
  EXPECT_THROW(static_cast<void>(jacobi(a, {.damping = 0.0})), InvalidInput);
  EXPECT_THROW(static_cast<void>(jacobi(a, {.sweeps = 0})), InvalidInput);
}

TEST_P(MisuseTest, ApplyingBeforeTheFirstFactorIsRefused) {
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f = factorization(a, {.kind = kind});
    const std::vector<double> b(6, 1.0);
    expect_refused("before its first factor()", [&] { apply(f, Apply::full, b); });
    expect_refused("before its first factor()", [&] { apply(f, Apply::transposed, b); });
    ASSERT_TRUE(factor(f, a.values).ok());
    EXPECT_EQ(apply(f, Apply::full, b).size(), 6U);
  }
}

TEST_P(MisuseTest, SymmetricPartsNeedIcAndPivotsThatAreNotNegative) {
  const std::vector<double> b(6, 1.0);
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  Factorization ilu0 = factorization(a, {});
  ASSERT_TRUE(factor(ilu0, a.values).ok());
  expect_refused("ic only", [&] { apply(ilu0, Apply::symmetric_left, b); });
  expect_refused("ic only", [&] { apply(ilu0, Apply::symmetric_right, b); });
  std::vector<double> indefinite = a.values;
  indefinite.back() = -3;
  Factorization ic0 = factorization(a, {.kind = FactorKind::ic});
  ASSERT_TRUE(factor(ic0, indefinite).ok());
  EXPECT_TRUE(test::all_finite(apply(ic0, Apply::full, b)));
  expect_refused("negative", [&] { apply(ic0, Apply::symmetric_left, b); });
  expect_refused("negative", [&] { apply(ic0, Apply::symmetric_right, b); });
  ASSERT_TRUE(factor(ic0, a.values).ok());  // and the refusal does not stay
  EXPECT_TRUE(test::all_finite(apply(ic0, Apply::symmetric_left, b)));
}

TEST_P(MisuseTest, SeveralVectorsMustNotOverlap) {
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  test::Array<double> x = place(std::vector<double>(12, 1.0));
  expect_refused("distance", [&] { f.apply_many(Apply::full, 2, x.data(), 5, x.data(), 6, space(), stream()); });
  expect_refused("distance", [&] { f.apply_many(Apply::full, 2, x.data(), 6, x.data(), 5, space(), stream()); });
  expect_refused("negative", [&] { f.apply_many(Apply::full, -1, x.data(), 6, x.data(), 6, space(), stream()); });
}

TEST_P(MisuseTest, NullArraysAreRefused) {
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  test::Array<double> x = place(std::vector<double>(6, 1.0));
  Factorization f = factorization(a, {});
  expect_refused("values is null", [&] { f.factor(nullptr, space(), stream()); });
  ASSERT_TRUE(factor(f, a.values).ok());
  expect_refused("b is null", [&] { f.apply(Apply::full, nullptr, x.data(), space(), stream()); });
  expect_refused("x is null", [&] { f.apply(Apply::full, x.data(), nullptr, space(), stream()); });
  TriangularSolver t = triangular(a, {});
  expect_refused("b is null", [&] { t.solve(nullptr, x.data(), space(), stream()); });
  expect_refused("x is null", [&] { t.solve(x.data(), nullptr, space(), stream()); });
  expect_refused("values is null", [&] { t.update_values(nullptr, space(), stream()); });
  Jacobi j = jacobi(a, {});
  expect_refused("b is null", [&] { j.apply(nullptr, x.data(), space(), false, stream()); });
  expect_refused("x is null", [&] { j.apply(x.data(), nullptr, space(), false, stream()); });
  expect_refused("values is null", [&] { j.update_values({a.pattern(), nullptr}, kHost); });
  expect_refused("row_offsets is null", [&] { j.update_values({{6, 6, nullptr, nullptr}, nullptr}, space()); });
  expect_refused("rows", [&] { j.update_values(test::tridiagonal(5, -1, 3, -1).view(), kHost); });
  expect_refused("values is null", [&] { Jacobi(context(), {a.pattern(), nullptr}, kHost, {}); });
  expect_refused("values is null", [&] { TriangularSolver(context(), {a.pattern(), nullptr}, kHost, {}); });
  expect_refused("row", [&] { Factorization(context(), {6, 6, nullptr, nullptr}, kHost, {}); });
}

TEST_P(MisuseTest, HostBackendRefusesDeviceMemory) {
  if (GetParam().backend != Backend::host) GTEST_SKIP() << "the CUDA backend takes device memory";
  const CsrMatrix a = test::tridiagonal(6, -1, 3, -1);
  std::vector<double> x(6, 1.0);
  expect_refused("device memory", [&] { Factorization(context(), a.pattern(), kDevice, {}); });
  expect_refused("device memory", [&] { TriangularSolver(context(), a.view(), kDevice, {}); });
  expect_refused("device memory", [&] { Jacobi(context(), a.view(), kDevice, {}); });
  Factorization f = factorization(a, {});
  expect_refused("device memory", [&] { f.factor(a.values.data(), kDevice); });
  ASSERT_TRUE(factor(f, a.values).ok());
  expect_refused("device memory", [&] { f.apply(Apply::full, x.data(), x.data(), kDevice); });
  TriangularSolver t = triangular(a, {});
  expect_refused("device memory", [&] { t.solve(x.data(), x.data(), kDevice); });
  expect_refused("device memory", [&] { t.update_values(a.values.data(), kDevice); });
  Jacobi j = jacobi(a, {});
  expect_refused("device memory", [&] { j.apply(x.data(), x.data(), kDevice); });
  expect_refused("device memory", [&] { j.update_values(a.view(), kDevice); });
  expect_refused("device memory", [&] { blocks_of_graph(context(), a.pattern(), kDevice); });
  expect_refused("device memory", [&] { BlockJacobi(context(), a.pattern(), kDevice, consecutive_blocks(6, 2)); });
  BlockJacobi blocks(context(), a.pattern(), kHost, consecutive_blocks(6, 2));
  expect_refused("device memory", [&] { blocks.update_values(a.view(), kDevice); });
  ASSERT_TRUE(blocks.update_values(a.view(), kHost).ok());
  expect_refused("device memory", [&] { blocks.apply(x.data(), x.data(), kDevice); });
}

}  // namespace
}  // namespace taskdag
