// Copies in double precision of a caller's floats, and back.
#include "taskdag/double_copy.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "backends.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(DoubleCopyTest, test::once_per_backend());

std::vector<float> some_floats(std::size_t count) {
  std::vector<float> floats(count);
  for (std::size_t k = 0; k < count; ++k) floats[k] = std::sin(static_cast<float>(k)) / 3.0F;
  return floats;
}

TEST_P(DoubleCopyTest, HasTheNumbersOfAllColumnsAndGivesThemBack) {
  constexpr std::size_t distance = 1003;
  constexpr std::int64_t rows = 1000;
  constexpr std::int64_t columns = 3;
  const std::vector<float> floats = some_floats(distance * columns);
  test::Array<float> from(device(), floats);
  test::Array<float> to(device(), std::vector<float>(floats.size(), 7.0F));
  DoubleCopy first;
  const FloatColumns shape = {rows, columns, distance, space()};
  const double* const place = first.take(from.data(), shape, stream());
  DoubleCopy copy = std::move(first);
  EXPECT_EQ(copy.room(shape, stream()), place) << "it has moved";
  copy.give(to.data(), stream());
  std::vector<float> expected = floats;
  for (std::size_t k = 0; k < expected.size(); ++k)
    if (k % distance >= static_cast<std::size_t>(rows)) expected[k] = 7.0F;  // between columns nothing is written
  EXPECT_EQ(to.read(), expected);
}

// What a solver computes with is exact, and what it hands back is rounded once.
TEST_P(DoubleCopyTest, IsReadAndWrittenBySolvers) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7});
  const std::vector<float> floats = some_floats(static_cast<std::size_t>(a.rows));
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  const std::vector<double> expected = apply(f, Apply::full, std::vector<double>(floats.begin(), floats.end()));

  test::Array<float> from(device(), floats);
  test::Array<float> to(device(), floats);
  DoubleCopy b;
  DoubleCopy x;
  const FloatColumns shape = {.rows = a.rows, .space = space()};
  f.apply(Apply::full, b.take(from.data(), shape, stream()), x.room(shape, stream()), space(), stream());
  x.give(to.data(), stream());
  EXPECT_EQ(to.read(), std::vector<float>(expected.begin(), expected.end()));
}

TEST_P(DoubleCopyTest, WhatIsTooLargeForAFloatIsAnInfinity) {
  const CsrMatrix a{4, 4, {0, 1, 2, 3, 4}, {0, 1, 2, 3}, {1e-10, 1e-10, 1e-10, 1e-10}};
  Factorization f = factorization(a, {});
  ASSERT_TRUE(factor(f, a.values).ok());
  test::Array<float> from(device(), {1e30F, -1e30F, std::nanf(""), 1e-30F});
  test::Array<float> to(device(), std::vector<float>(4, 0.0F));
  DoubleCopy b;
  DoubleCopy x;
  const FloatColumns shape = {.rows = 4, .space = space()};
  f.apply(Apply::full, b.take(from.data(), shape, stream()), x.room(shape, stream()), space(), stream());
  x.give(to.data(), stream());
  const std::vector<float> result = to.read();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(result[0], infinity);
  EXPECT_EQ(result[1], -infinity);
  EXPECT_TRUE(std::isnan(result[2]));
}

TEST_P(DoubleCopyTest, GrowsAndTakesNothing) {
  test::Array<float> floats(device(), some_floats(5000));
  test::Array<float> back(device(), std::vector<float>(5000, 0.0F));
  DoubleCopy copy;
  EXPECT_EQ(copy.take(nullptr, {.rows = 0, .space = space()}, stream()), nullptr);
  EXPECT_NE(copy.take(floats.data(), {.rows = 10, .space = space()}, stream()), nullptr);
  EXPECT_NE(copy.take(floats.data(), {.rows = 5000, .space = space()}, stream()), nullptr);
  copy.give(back.data(), stream());
  EXPECT_EQ(back.read(), some_floats(5000));
}

TEST(DoubleCopyShape, ThatIsNoneIsRefused) {
  DoubleCopy copy;
  EXPECT_THROW(copy.room({.rows = -1}, {}), InvalidInput);
  EXPECT_THROW(copy.room({.rows = 1, .columns = -1}, {}), InvalidInput);
  EXPECT_THROW(copy.room({.rows = 3, .columns = 2, .distance = 2}, {}), InvalidInput);
}

}  // namespace
}  // namespace taskdag
