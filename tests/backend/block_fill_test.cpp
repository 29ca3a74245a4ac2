// Fill inside blocks: the host's pattern everywhere, factors and solves by every schedule.
#include <algorithm>
#include <numeric>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "support/effort.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using test::Problem;

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

CsrMatrix grid(Stencil stencil, Index nx, Index ny, Index nz = 1, double wind = 0.0) {
  return make_stencil({.stencil = stencil, .nx = nx, .ny = ny, .nz = nz, .unknowns_per_node = 1, .wind = wind});
}

BlockOrdering ordering_of(const CsrMatrix& a, Index block_size) {
  const Context context = Context::create({.backend = Backend::host, .threads = 1});
  return block_multicolour(context, a.pattern(), MemorySpace::host, {block_size});
}

/// A matrix in the order of its blocks.
struct Ordered {
  CsrMatrix a;
  std::shared_ptr<const RowBlocks> blocks;
};

Ordered ordered(const CsrMatrix& a, Index block_size) {
  BlockOrdering ordering = ordering_of(a, block_size);
  return {test::permuted(a, ordering.order, ordering.order),
          std::make_shared<const RowBlocks>(std::move(ordering.blocks))};
}

FactorOptions options_for(FactorKind kind, Index levels, const std::shared_ptr<const RowBlocks>& blocks) {
  FactorOptions options;
  options.kind = kind;
  options.levels = levels;
  options.fill = FillScope::blocks;
  options.blocks = blocks;
  return options;
}

/// The upper triangle of `a`, and of the lower one the entries with an even column: a symmetric factorisation must not
/// look at it.
CsrMatrix with_half_a_lower_triangle(const CsrMatrix& a) {
  CsrMatrix result;
  result.rows = result.cols = a.rows;
  for (Index i = 0; i < a.rows; ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i) + 1]); ++e) {
      if (a.col_indices[e] < i && a.col_indices[e] % 2 != 0) continue;
      result.col_indices.push_back(a.col_indices[e]);
      result.values.push_back(a.values[e]);
    }
    result.row_offsets.push_back(static_cast<Offset>(result.col_indices.size()));
  }
  return result;
}

std::vector<Problem> problems() {
  std::vector<Problem> all = test::small_problems();
  std::erase_if(all, [](const Problem& problem) { return problem.a.rows > 1100; });
  all.push_back({"five_point", grid(Stencil::five_point, 61, 47, 1, 0.5)});
  all.push_back({"seven_point", grid(Stencil::seven_point, 13, 12, 11)});
  all.push_back({"random", test::mirrored(make_erdos_renyi_lower(1200, 0.003, 7), 0.5)});
  return all;
}

TASKDAG_BACKEND_SUITE(BlockFillTest, test::everywhere());

TEST_P(BlockFillTest, FactorIsThatOfTheHostsPattern) {
  for (const Problem& problem : problems()) {
    for (const Index size : {0, 1, 40, 100000}) {
      const Ordered o = ordered(problem.a, size);
      for (const FactorKind kind : kKinds) {
        for (const Index levels : {1, 2, 4}) {
          if (size > 1000 && levels > 2) continue;  // one block: the fill of some would not end
          if (test::kSanitized && levels != (kind == FactorKind::ilu ? 2 : 1)) continue;
          SCOPED_TRACE(problem.name + ", blocks of " + std::to_string(size) +
                       (kind == FactorKind::ic ? ", ic " : ", ilu ") + std::to_string(levels));
          const FactorOptions options = options_for(kind, levels, o.blocks);
          Factorization f = factorization(o.a, options);
          ASSERT_TRUE(factor(f, o.a.values).ok());
          const CsrMatrix computed = f.copy_factor();
          const CsrMatrix filled = test::with_fill(o.a, options);
          ASSERT_EQ(computed.row_offsets, filled.row_offsets);
          ASSERT_EQ(computed.col_indices, filled.col_indices);
          EXPECT_EQ(f.info().entries, filled.entries());
          FactorStatus unused;
          EXPECT_LE(test::factor_difference(computed, test::reference_factor(filled, {.kind = kind}, 0.0, unused)),
                    test::kForwardBound);
          EXPECT_LE(test::factor_error(filled, computed, kind), 1.0);
        }
      }
    }
  }
}

TEST_P(BlockFillTest, AddsEntriesAndFewerThanFillEverywhere) {
  const CsrMatrix a = grid(Stencil::five_point, 64, 64);
  const Ordered o = ordered(a, 64);
  FactorOptions options = options_for(FactorKind::ilu, 0, o.blocks);
  const Offset without = factorization(o.a, options).info().entries;
  options.levels = 1;
  const Offset inside = factorization(o.a, options).info().entries;
  options.fill = FillScope::everywhere;
  const Offset everywhere = factorization(o.a, options).info().entries;
  EXPECT_EQ(without, a.entries());
  // 64 blocks of 8 x 8 points: in each an entry on either side of the diagonal for each of its 7 x 7 inner corners.
  EXPECT_EQ(inside, without + 64 * 2 * 49);
  EXPECT_LT(inside, everywhere);
}

TEST_P(BlockFillTest, EveryScheduleSolvesWithIt) {
  const CsrMatrix a = grid(Stencil::seven_point, 16, 15, 14, 0.5);
  const Ordered o = ordered(a, 64);
  const std::vector<double> b = test::right_hand_side(a.rows);
  for (const FactorKind kind : kKinds) {
    for (const SolveSchedule schedule : test::runnable_schedules(GetParam().backend)) {
      for (const Index levels : {1, 2}) {
        SCOPED_TRACE(std::string(to_string(schedule)) + (kind == FactorKind::ic ? ", ic " : ", ilu ") +
                     std::to_string(levels));
        FactorOptions options = options_for(kind, levels, o.blocks);
        options.schedule = schedule;
        Factorization f = factorization(o.a, options);
        ASSERT_TRUE(factor(f, o.a.values).ok());
        if (schedule == SolveSchedule::blocks) {
          EXPECT_EQ(f.info().lower_schedule, SolveSchedule::blocks);
          EXPECT_EQ(f.info().upper_schedule, SolveSchedule::blocks);
        }
        const CsrMatrix computed = f.copy_factor();
        for (const bool transposed : {false, true}) {
          const std::vector<double> x = apply(f, transposed ? Apply::transposed : Apply::full, b);
          EXPECT_LE(test::apply_error(computed, kind, transposed, b, x), 1.0);
        }
        EXPECT_EQ(f.outcome(), SolveOutcome::success);
      }
    }
  }
}

TEST_P(BlockFillTest, NewValuesGiveTheFactorOfAFreshAnalysis) {
  const CsrMatrix a = grid(Stencil::five_point, 50, 40, 1, 0.5);
  const BlockOrdering ordering = ordering_of(a, 64);
  const auto blocks = std::make_shared<const RowBlocks>(ordering.blocks);
  CsrMatrix other = a;
  other.values = test::other_values(other.values);
  other = test::made_dominant(other);
  for (const FactorKind kind : kKinds) {
    for (const SolveSchedule schedule : {SolveSchedule::automatic, SolveSchedule::blocks}) {
      FactorOptions options = options_for(kind, 2, blocks);
      options.schedule = schedule;
      Factorization f = factorization(a, options, ordering.order, ordering.order);
      ASSERT_TRUE(factor(f, a.values).ok());
      ASSERT_TRUE(factor(f, other.values).ok());
      Factorization fresh = factorization(other, options, ordering.order, ordering.order);
      ASSERT_TRUE(factor(fresh, other.values).ok());
      EXPECT_TRUE(test::same_bits(f.copy_factor().values, fresh.copy_factor().values));
      const std::vector<double> b = test::right_hand_side(a.rows);
      EXPECT_TRUE(test::same_bits(apply(f, Apply::full, b), apply(fresh, Apply::full, b)));
    }
  }
}

TEST_P(BlockFillTest, OfAnOrderedMatrixIsThatOfTheOrderedPattern) {
  const CsrMatrix a = grid(Stencil::five_point, 34, 33, 1, 0.5);
  const BlockOrdering ordering = ordering_of(a, 50);
  const Ordered o = ordered(a, 50);
  for (const FactorKind kind : kKinds) {
    const FactorOptions options = options_for(kind, 2, o.blocks);
    Factorization f = factorization(a, options, ordering.order, ordering.order);
    Factorization g = factorization(o.a, options);
    ASSERT_TRUE(factor(f, a.values).ok());
    ASSERT_TRUE(factor(g, o.a.values).ok());
    EXPECT_EQ(f.copy_factor().col_indices, g.copy_factor().col_indices);
    EXPECT_TRUE(test::same_bits(f.copy_factor().values, g.copy_factor().values));
  }
}

TEST_P(BlockFillTest, OfASymmetricFactorComesFromTheUpperTriangle) {
  const Ordered o = ordered(grid(Stencil::seven_point, 11, 10, 9), 50);
  const CsrMatrix half = with_half_a_lower_triangle(o.a);
  ASSERT_LT(half.entries(), o.a.entries());
  const FactorOptions options = options_for(FactorKind::ic, 2, o.blocks);
  Factorization whole = factorization(o.a, options);
  Factorization upper = factorization(half, options);
  ASSERT_TRUE(factor(whole, o.a.values).ok());
  ASSERT_TRUE(factor(upper, half.values).ok());
  EXPECT_EQ(whole.copy_factor().col_indices, upper.copy_factor().col_indices);
  EXPECT_TRUE(test::same_bits(whole.copy_factor().values, upper.copy_factor().values));
}

TEST_P(BlockFillTest, ShiftsSeeTheMatrixAlone) {
  Ordered o = ordered(grid(Stencil::five_point, 12, 12), 36);
  for (double& value : o.a.values) {
    if (value > 0) value *= 0.6;  // no longer positive definite
  }
  for (const FactorKind kind : kKinds) {
    FactorOptions options = options_for(kind, 1, o.blocks);
    options.shift = ShiftType::positive_definite;
    Factorization inside = factorization(o.a, options);
    const FactorStatus status = factor(inside, o.a.values);
    EXPECT_TRUE(status.ok());
    EXPECT_GT(status.shifts, 0);
    const CsrMatrix filled = test::with_fill(o.a, options);
    EXPECT_LE(test::factor_error(filled, inside.copy_factor(), kind, status.shift_amount), 1.0);
  }
}

TEST_P(BlockFillTest, NeedsBlocksThatFit) {
  const Ordered o = ordered(grid(Stencil::five_point, 10, 10), 16);
  FactorOptions options = options_for(FactorKind::ilu, 1, nullptr);
  EXPECT_THROW(static_cast<void>(factorization(o.a, options)), InvalidInput);
  options.levels = 0;
  EXPECT_NO_THROW(static_cast<void>(factorization(o.a, options))) << "there is no fill to keep anywhere";
  options.levels = 1;
  RowBlocks short_ones = *o.blocks;
  short_ones.block_offsets.back() -= 1;
  options.blocks = std::make_shared<const RowBlocks>(short_ones);
  EXPECT_THROW(static_cast<void>(factorization(o.a, options)), InvalidInput);
}

TEST_P(BlockFillTest, ScheduleOfBlocksNeedsItAndColoursThatAreNotCoupled) {
  const Ordered o = ordered(grid(Stencil::five_point, 80, 70), 64);  // more than one thread block of CUDA holds
  FactorOptions options = options_for(FactorKind::ilu, 1, o.blocks);
  options.schedule = SolveSchedule::blocks;
  EXPECT_NO_THROW(static_cast<void>(factorization(o.a, options)));
  options.fill = FillScope::everywhere;
  EXPECT_THROW(static_cast<void>(factorization(o.a, options)), InvalidInput);
  options.fill = FillScope::blocks;
  RowBlocks one_colour = *o.blocks;
  one_colour.colour_offsets = {0, one_colour.blocks()};
  options.blocks = std::make_shared<const RowBlocks>(one_colour);
  EXPECT_THROW(static_cast<void>(factorization(o.a, options)), InvalidInput);
}

TEST_P(BlockFillTest, OfNoRowsIsEmpty) {
  Factorization f = factorization(CsrMatrix(), options_for(FactorKind::ilu, 2, std::make_shared<const RowBlocks>()));
  EXPECT_TRUE(factor(f, {}).ok());
  EXPECT_TRUE(apply(f, Apply::full, {}).empty());
}

}  // namespace
}  // namespace taskdag
