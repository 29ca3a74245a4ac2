// Patterns with 64-bit indices in device memory: their copies with 32 make the same factorisations.
#include "taskdag/narrowed_pattern.hpp"

#include <cstdint>
#include <utility>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(NarrowedPatternTest, test::device_arrays());

std::vector<std::int64_t> widened(const std::vector<Index>& indices) { return {indices.begin(), indices.end()}; }

class Wide {
 public:
  Wide(test::DeviceStream* device, Index rows, const std::vector<std::int64_t>& offsets,
       const std::vector<std::int64_t>& columns)
      : rows_(rows), offsets_(device, offsets), columns_(device, columns) {}
  NarrowedPattern narrowed(Stream stream) { return {rows_, offsets_.data(), columns_.data(), stream}; }

 private:
  Index rows_;
  test::Array<std::int64_t> offsets_;
  test::Array<std::int64_t> columns_;
};

TEST_P(NarrowedPatternTest, MakesTheSameFactorisation) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7});
  const std::vector<double> b = test::right_hand_side(a.rows);
  Factorization expected = factorization(a, {});
  ASSERT_TRUE(factor(expected, a.values).ok());

  Wide wide(device(), a.rows, widened(a.row_offsets), widened(a.col_indices));
  NarrowedPattern first = wide.narrowed(stream());
  const NarrowedPattern pattern = std::move(first);
  EXPECT_EQ(pattern.view().rows, a.rows);
  EXPECT_GT(pattern.bytes(), 0);
  Factorization f(context(), pattern.view(), MemorySpace::device, {}, {}, {}, stream());
  ASSERT_TRUE(factor(f, a.values).ok());
  EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), apply(expected, Apply::full, b)));
}

TEST_P(NarrowedPatternTest, IndicesThatDoNotFitAreRefused) {
  constexpr std::int64_t kTooMuch = std::int64_t{1} << 31;
  EXPECT_THROW(Wide(device(), 2, {0, 1, 2}, {0, kTooMuch}).narrowed(stream()), InvalidInput);
  EXPECT_THROW(Wide(device(), 2, {0, 1, 2}, {0, 2}).narrowed(stream()), InvalidInput);
  EXPECT_THROW(Wide(device(), 2, {0, 1, 2}, {0, -1}).narrowed(stream()), InvalidInput);
  EXPECT_THROW(Wide(device(), 2, {0, kTooMuch + 1, 2}, {0, 1}).narrowed(stream()), InvalidInput);
  EXPECT_THROW(Wide(device(), 2, {0, 1, kTooMuch}, {0, 1}).narrowed(stream()), InvalidInput);
}

TEST(NarrowedPatternOfNoRows, IsEmpty) {
  const NarrowedPattern pattern(0, nullptr, nullptr, {});
  EXPECT_EQ(pattern.view().rows, 0);
  EXPECT_EQ(pattern.bytes(), 0);
  EXPECT_THROW(NarrowedPattern(-1, nullptr, nullptr, {}), InvalidInput);
}

}  // namespace
}  // namespace taskdag
