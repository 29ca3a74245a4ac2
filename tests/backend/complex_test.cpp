// Complex matrices as point blocks (taskdag/complex.hpp), on both backends, against a serial factorisation of the
// numbers.
#include "taskdag/complex.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>

#include "backends.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using test::parts_of;
using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Row = std::map<Index, Number>;

TASKDAG_BACKEND_SUITE(ComplexTest, test::everywhere());

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

ComplexMatrix make_complex(const CsrMatrix& pattern, bool symmetric) {
  ComplexMatrix a{pattern.rows, pattern.cols, pattern.row_offsets, pattern.col_indices, {}};
  const auto number = [&](Index i, Index j) {
    const Index first = symmetric ? std::min(i, j) : i;
    const Index second = symmetric ? std::max(i, j) : j;
    return std::polar(1.0 + 0.1 * ((first + 3 * second) % 7), 0.7 * first + 1.3 * second);
  };
  for (Index i = 0; i < a.rows; ++i) {
    const auto entries = static_cast<double>(a.row_offsets[at(i) + 1] - a.row_offsets[at(i)]);
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      const Index j = a.col_indices[at(e)];
      a.values.push_back(i == j ? std::polar(1.5 * entries, 0.4 * i) : number(i, j));
    }
  }
  return a;
}

/// A = L U on the pattern, with the rule of ic for its lower triangle; row after row.
std::vector<Row> factor_numbers(const ComplexMatrix& a, FactorKind kind, double shift = 0.0,
                                bool diagonal_only = false) {
  std::vector<Row> rows(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      const Index j = a.col_indices[at(e)];
      if (kind == FactorKind::ic && j < i) continue;
      rows[at(i)][j] = a.values[at(e)] + (i == j ? shift : 0.0);
      if (kind == FactorKind::ic && j > i) rows[at(j)][i] = a.values[at(e)];
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (auto& [k, multiplier] : rows[i]) {
      if (at(k) >= i) break;
      multiplier /= rows[at(k)].at(k);
      for (const auto& [j, above] : rows[at(k)]) {
        const auto target = rows[i].find(j);
        if (diagonal_only && at(j) != i) continue;
        if (j > k && target != rows[i].end()) target->second -= multiplier * above;
      }
    }
  }
  return rows;
}

Numbers apply_numbers(const std::vector<Row>& factor, bool transposed, Numbers x) {
  const auto n = static_cast<Index>(factor.size());
  const auto each = [&](Index i, bool lower, const auto& work) {
    for (const auto& [j, value] : factor[at(i)]) {
      if (lower ? j < i : j > i) work(j, value);
    }
  };
  if (transposed) {  // Uᵀ, then Lᵀ, by columns
    for (Index i = 0; i < n; ++i) {
      x[at(i)] /= factor[at(i)].at(i);
      each(i, false, [&](Index j, Number value) { x[at(j)] -= value * x[at(i)]; });
    }
    for (Index i = n - 1; i >= 0; --i) each(i, true, [&](Index j, Number value) { x[at(j)] -= value * x[at(i)]; });
    return x;
  }
  for (Index i = 0; i < n; ++i) each(i, true, [&](Index j, Number value) { x[at(i)] -= value * x[at(j)]; });
  for (Index i = n - 1; i >= 0; --i) {
    each(i, false, [&](Index j, Number value) { x[at(i)] -= value * x[at(j)]; });
    x[at(i)] /= factor[at(i)].at(i);
  }
  return x;
}

Numbers right_side(Index rows) {
  Numbers b;
  for (Index i = 0; i < rows; ++i) b.push_back(std::polar(1.0 + 0.01 * (i % 13), 0.9 * i));
  return b;
}

/// The blocks as a matrix whose values are theirs.
CsrMatrix blocks_of(const ComplexMatrix& a) {
  return {a.rows, a.cols, a.row_offsets, a.col_indices, real_blocks(a.values)};
}

FactorOptions options_of(FactorKind kind, Index block_size = 2) {
  FactorOptions options;
  options.kind = kind;
  options.block_size = block_size;
  options.complex_blocks = true;
  return options;
}

constexpr FactorKind kKinds[] = {FactorKind::ilu, FactorKind::ic};

TEST_P(ComplexTest, FactorsOfNumbersAreThoseOfTheMatrix) {
  for (const test::Graph& graph : test::graphs()) {
    for (const FactorKind kind : kKinds) {
      for (const bool diagonal_only : {false, true}) {
        SCOPED_TRACE(graph.name + (diagonal_only ? ", the diagonal alone" : ""));
        const ComplexMatrix a = make_complex(graph.a, kind == FactorKind::ic);
        const CsrMatrix blocks = blocks_of(a);
        FactorOptions options = options_of(kind);
        options.diagonal_only = diagonal_only;
        Factorization f = factorization(blocks, options);
        ASSERT_TRUE(factor(f, blocks.values).ok());
        const std::vector<Row> expected = factor_numbers(a, kind, 0.0, diagonal_only);
        const Numbers b = right_side(a.rows);
        for (const bool transposed : {false, true}) {
          const std::vector<double> x = apply(f, transposed ? Apply::transposed : Apply::full, parts_of(b));
          EXPECT_LE(test::difference(x, parts_of(apply_numbers(expected, transposed, b))), 1e-10) << transposed;
        }
      }
    }
  }
}

TEST_P(ComplexTest, BlocksAreMadeOnTheDeviceAsOnTheHost) {
  const CsrMatrix graph = make_stencil({.nx = 7, .ny = 6});
  const Index entries = graph.row_offsets.back();
  for (const Index size : {1, 2, 3}) {
    SCOPED_TRACE(size);
    Numbers numbers = right_side(entries * size * size);
    for (Index i = 0; i < graph.rows; ++i) {
      for (Offset e = graph.row_offsets[at(i)]; e < graph.row_offsets[at(i) + 1]; ++e) {
        for (Index k = 0; k < size && graph.col_indices[at(e)] == i; ++k)
          numbers[at((e * size + k) * size + k)] += Number(20.0, 5.0) * static_cast<double>(size);
      }
    }
    EXPECT_THROW(RealBlocks(nullptr, entries * size * size, size + 20, stream()), InvalidInput);
    if (GetParam().space == MemorySpace::host) continue;
    const CsrMatrix blocks{graph.rows, graph.cols, graph.row_offsets, graph.col_indices, real_blocks(numbers, size)};
    test::Array<double> lent = place(parts_of(numbers));
    const RealBlocks made(lent.data(), entries * size * size, size, stream());
    const std::vector<double> b = parts_of(right_side(graph.rows * size));
    Factorization expected = factorization(blocks, options_of(FactorKind::ilu, 2 * size));
    ASSERT_TRUE(factor(expected, blocks.values).ok());
    Factorization f = factorization(blocks, options_of(FactorKind::ilu, 2 * size));
    ASSERT_TRUE(f.factor(made.values(), MemorySpace::device, stream()).ok());
    EXPECT_EQ(apply(f, Apply::full, b), apply(expected, Apply::full, b));
  }
}

// New values reach transposed applications, too.
TEST_P(ComplexTest, NewValuesAreTaken) {
  ComplexMatrix a = make_complex(make_stencil({.nx = 7, .ny = 6}), false);
  const CsrMatrix before = blocks_of(a);
  Factorization f = factorization(before, options_of(FactorKind::ilu));
  ASSERT_TRUE(factor(f, before.values).ok());
  const Numbers b = right_side(a.rows);
  static_cast<void>(apply(f, Apply::transposed, parts_of(b)));
  for (Number& value : a.values) value *= Number(0.5, -2.0);
  ASSERT_TRUE(factor(f, blocks_of(a).values).ok());
  const std::vector<double> x = apply(f, Apply::transposed, parts_of(b));
  EXPECT_LE(test::difference(x, parts_of(apply_numbers(factor_numbers(a, FactorKind::ilu), true, b))), 1e-10);
}

/// The first pivot is small, and so is one after it.
ComplexMatrix with_bad_pivots(Number first) {
  ComplexMatrix a = make_complex(make_stencil({.nx = 7, .ny = 6}), true);
  for (const Index row : {0, a.rows / 2}) {
    for (Offset e = a.row_offsets[at(row)]; e < a.row_offsets[at(row) + 1]; ++e) {
      if (a.col_indices[at(e)] == row) a.values[at(e)] = first;
    }
  }
  return a;
}

TEST_P(ComplexTest, ShiftedFactorsAreThoseOfTheShiftedMatrix) {
  const ComplexMatrix a = with_bad_pivots({-1e-9, 1e-9});
  const CsrMatrix blocks = blocks_of(a);
  const Numbers b = right_side(a.rows);
  for (const FactorKind kind : kKinds) {
    for (const ShiftType shift : {ShiftType::nonzero, ShiftType::positive_definite}) {
      FactorOptions options = options_of(kind);
      options.shift = shift;
      options.shift_amount = 0.01;
      options.zero_pivot = 1e-6;
      Factorization f = factorization(blocks, options);
      const FactorStatus status = factor(f, blocks.values);
      ASSERT_TRUE(status.ok());
      EXPECT_GT(status.shifts, 0);
      EXPECT_GT(status.shift_amount, 0.0);
      const std::vector<Row> expected = factor_numbers(a, kind, status.shift_amount);
      EXPECT_LE(test::difference(apply(f, Apply::full, parts_of(b)), parts_of(apply_numbers(expected, false, b))),
                1e-8);
    }
  }
}

TEST_P(ComplexTest, SmallPivotsAreHeldAgainstTheTolerance) {
  const CsrMatrix blocks = blocks_of(with_bad_pivots({3e-9, -4e-9}));
  FactorOptions options = options_of(FactorKind::ilu);
  options.zero_pivot = 4.9e-9;
  Factorization f = factorization(blocks, options);
  EXPECT_TRUE(factor(f, blocks.values).ok());
  f.set_pivoting(options.shift_amount, 5.1e-9);
  const FactorStatus status = factor(f, blocks.values);
  EXPECT_EQ(status.outcome, FactorOutcome::zero_pivot);
  EXPECT_EQ(status.first_row, 0);
  if (status.last_row == 0) {
    EXPECT_NEAR(status.last_pivot, 5e-9, 1e-20);
  }
  options.shift = ShiftType::inblocks;
  options.shift_amount = 0.5;
  options.zero_pivot = 5.1e-9;
  Factorization shifted = factorization(blocks, options);
  const FactorStatus healed = factor(shifted, blocks.values);
  EXPECT_TRUE(healed.ok());
  EXPECT_GE(healed.shifts, 1);
}

// Blocks of two numbers: the preconditioner of the numbers on the same pattern, moved inside the blocks alone.
TEST_P(ComplexTest, BlocksOfNumbersAreThePreconditionerOfTheNumbers) {
  for (const test::Graph& graph : test::graphs()) {
    for (const FactorKind kind : kKinds) {
      SCOPED_TRACE(graph.name);
      const CsrMatrix pattern = test::by_rows(test::with_blocks(graph.a, 2, true), 2);
      const ComplexMatrix a = make_complex(pattern, kind == FactorKind::ic);
      const CsrMatrix numbers = blocks_of(a);
      Numbers by_blocks;
      for (Index i = 0; i < graph.a.rows; ++i) {
        const Offset first = graph.a.row_offsets[at(i)];
        for (Offset e = first; e < graph.a.row_offsets[at(i) + 1]; ++e) {
          for (Index c = 0; c < 2; ++c) {
            for (Index r = 0; r < 2; ++r)
              by_blocks.push_back(a.values[at(a.row_offsets[at(2 * i + r)] + 2 * (e - first) + c)]);
          }
        }
      }
      const CsrMatrix blocks = {graph.a.rows, graph.a.cols, graph.a.row_offsets, graph.a.col_indices,
                                real_blocks(by_blocks, 2)};
      Factorization of_numbers = factorization(numbers, options_of(kind));
      Factorization of_blocks = factorization(blocks, options_of(kind, 4));
      ASSERT_TRUE(factor(of_numbers, numbers.values).ok());
      ASSERT_TRUE(factor(of_blocks, blocks.values).ok());
      const std::vector<double> b = parts_of(right_side(a.rows));
      for (const Apply part : {Apply::full, Apply::transposed}) {
        EXPECT_LE(test::difference(apply(of_blocks, part, b), apply(of_numbers, part, b)), 1e-10);
      }
    }
  }
}

TEST_P(ComplexTest, WhatNumbersDoNotHaveIsRefused) {
  const CsrMatrix blocks = blocks_of(make_complex(make_stencil({.nx = 7, .ny = 6}), true));
  FactorOptions options = options_of(FactorKind::ic);
  options.shift = ShiftType::scaled;
  EXPECT_THROW(factorization(blocks, options), InvalidInput);
  EXPECT_THROW(factorization(blocks, options_of(FactorKind::ilu, 3)), InvalidInput);
}

}  // namespace
}  // namespace taskdag
