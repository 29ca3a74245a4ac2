// Two threads of the application, each with its own objects of one context: what they compute is what one thread does
// alone. Also under ThreadSanitizer.
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "backends.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

constexpr int kRounds = 20;

class TwoThreads : public test::BackendTest {
 protected:
  /// Something to do again and again, with objects of its own.
  using Work = std::function<std::vector<double>()>;

  Work factoring(const CsrMatrix& a, const FactorOptions& options) const {
    const auto f = std::make_shared<Factorization>(factorization(a, options));
    return [this, f, a, n = options.block_size] {
      EXPECT_TRUE(factor(*f, a.values).ok());
      return apply(*f, Apply::full, test::right_hand_side(a.rows * n));
    };
  }

  /// The symbolic phase, too.
  Work filling(const CsrMatrix& a, Index levels) const {
    return [this, a, levels] { return factoring(a, {.levels = levels})(); };
  }

  Work sweeping(const CsrMatrix& a) const {
    const auto j = std::make_shared<Jacobi>(jacobi(a, {.sweeps = 3}));
    return [this, j, a] { return apply(*j, test::right_hand_side(a.rows)); };
  }

  [[nodiscard]] std::vector<Work> works() const {
    const CsrMatrix grid = make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 16, .nz = 12, .wind = 0.2});
    const CsrMatrix graph = make_stencil({.stencil = Stencil::five_point, .nx = 25, .ny = 20});
    return {factoring(grid, {}), factoring(grid, {.kind = FactorKind::ic}), filling(graph, 2), sweeping(grid),
            factoring(test::with_blocks(graph, 3, true), {.block_size = 3})};
  }

  static void repeat(const std::vector<Work>& works, const std::vector<std::vector<double>>& expected) {
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t k = 0; k < works.size(); ++k) EXPECT_TRUE(test::same_bits(works[k](), expected[k])) << k;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(On, TwoThreads, testing::ValuesIn(test::everywhere()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(TwoThreads, WithAnObjectEachComputeWhatOneDoes) {
  alarm(300);  // what hangs is killed
  std::vector<Work> mine = works();
  std::vector<Work> others = works();
  std::vector<std::vector<double>> expected;
  expected.reserve(mine.size());
  for (const Work& work : mine) expected.push_back(work());
  // The other way round, so that different jobs meet.
  std::ranges::reverse(others);
  std::vector<std::vector<double>> reversed(expected.rbegin(), expected.rend());
  std::thread other([&] { repeat(others, reversed); });
  repeat(mine, expected);
  other.join();
  alarm(0);
}

}  // namespace
}  // namespace taskdag
