#include "problems.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "support/effort.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::test {
namespace {

CsrMatrix from_map(Index n, const std::map<std::pair<Index, Index>, double>& entries) {
  CsrMatrix a{n, n, std::vector<Offset>(static_cast<std::size_t>(n) + 1, 0), {}, {}};
  for (const auto& [at, value] : entries) {
    ++a.row_offsets[static_cast<std::size_t>(at.first) + 1];
    a.col_indices.push_back(at.second);
    a.values.push_back(value);
  }
  for (std::size_t i = 1; i < a.row_offsets.size(); ++i) a.row_offsets[i] += a.row_offsets[i - 1];
  return a;
}

}  // namespace

CsrMatrix tridiagonal(Index n, double low, double diagonal, double high) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
      const double value = j < i ? low : (j == i ? diagonal : high);
      if (value == 0.0) continue;
      a.col_indices.push_back(j);
      a.values.push_back(value);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

CsrMatrix arrow(Index n) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      if (i != j && i != n - 1 && j != n - 1) continue;
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? n : -1.0 / (1 + j));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

CsrMatrix made_dominant(CsrMatrix a) {
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i) {
    double sum = 1.0;
    double* diagonal = nullptr;
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      if (static_cast<std::size_t>(a.col_indices[e]) == i) {
        diagonal = &a.values[e];
      } else {
        sum += std::abs(a.values[e]);
      }
    }
    if (diagonal == nullptr) throw InvalidInput("row " + std::to_string(i) + " has no diagonal entry");
    *diagonal = std::copysign(sum, *diagonal);
  }
  return a;
}

CsrMatrix mirrored(const CsrMatrix& lower, double mirror) {
  std::map<std::pair<Index, Index>, double> entries;
  for (Index i = 0; i < lower.rows; ++i) {
    for (Offset e = lower.row_offsets[static_cast<std::size_t>(i)];
         e < lower.row_offsets[static_cast<std::size_t>(i) + 1]; ++e) {
      const Index j = lower.col_indices[static_cast<std::size_t>(e)];
      const double value = lower.values[static_cast<std::size_t>(e)];
      entries[{j, i}] = mirror * value;
      entries[{i, j}] = i == j ? std::abs(value) : value;
    }
  }
  return made_dominant(from_map(lower.rows, entries));
}

CsrMatrix permuted(const CsrMatrix& a, const std::vector<Index>& row_order, const std::vector<Index>& col_order) {
  const std::vector<Index> row_position = invert_permutation(row_order);
  const std::vector<Index> col_position = invert_permutation(col_order);
  std::map<std::pair<Index, Index>, double> entries;
  for (std::size_t i = 0; i + 1 < a.row_offsets.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      entries[{row_position[i], col_position[static_cast<std::size_t>(a.col_indices[e])]}] = a.values[e];
    }
  }
  return from_map(a.rows, entries);
}

CsrMatrix transposed(const CsrMatrix& a) {
  CsrMatrix t{a.cols, a.rows, std::vector<Offset>(static_cast<std::size_t>(a.cols) + 1, 0), {}, {}};
  for (const Index column : a.col_indices) ++t.row_offsets[static_cast<std::size_t>(column) + 1];
  for (std::size_t row = 1; row < t.row_offsets.size(); ++row) t.row_offsets[row] += t.row_offsets[row - 1];
  t.col_indices.resize(a.col_indices.size());
  t.values.resize(a.values.size());
  std::vector<Offset> next(t.row_offsets.begin(), t.row_offsets.end() - 1);
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[static_cast<std::size_t>(i)]; e < a.row_offsets[static_cast<std::size_t>(i) + 1];
         ++e) {
      const auto from = static_cast<std::size_t>(e);
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(a.col_indices[from])]++);
      t.col_indices[to] = i;
      t.values[to] = a.values[from];
    }
  }
  return t;
}

CsrMatrix cube_of_nodes(Index side, Index unknowns) {
  return make_stencil(
      {.stencil = Stencil::twenty_seven_point, .nx = side, .ny = side, .nz = side, .unknowns_per_node = unknowns});
}

CsrMatrix with_a_row_of_its_own(CsrMatrix a) {
  const Offset at = a.row_offsets[2];
  a.col_indices.insert(a.col_indices.begin() + at, a.cols - 1);
  a.values.insert(a.values.begin() + at, 0.0);
  for (auto row = static_cast<std::size_t>(2); row < a.row_offsets.size(); ++row) ++a.row_offsets[row];
  return a;
}

bool has_full_diagonal(const CsrMatrix& a) {
  for (Index i = 0; i < a.rows; ++i) {
    const auto begin = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i)];
    const auto end = a.col_indices.begin() + a.row_offsets[static_cast<std::size_t>(i) + 1];
    if (!std::binary_search(begin, end, i)) return false;
  }
  return true;
}

std::vector<Problem> small_problems() {
  std::vector<Problem> result;
  // Strictly dominant also when ic0 mirrors the upper triangle: without that, rounding alone exceeds the bound
  // (condition number ~ n²).
  for (const Index n : {0, 1, 2, 33, 1025}) {
    result.push_back({"tridiagonal " + std::to_string(n), tridiagonal(n, -1, 2.75, -1.25)});
  }
  result.push_back({"chain", tridiagonal(5000 / kSmaller, -0.5, 1, 0)});
  result.push_back({"backward chain", tridiagonal(1025, 0, 2, 0.75)});
  result.push_back({"diagonal", tridiagonal(2000, 0, 3, 0)});
  result.push_back({"arrow", arrow(1200 / kSmaller)});
  result.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 50 / kSmaller})});
  result.push_back(
      {"7-point wind", make_stencil({.stencil = Stencil::seven_point, .nx = 14, .ny = 13, .nz = 12, .wind = 1.5})});
  result.push_back(
      {"27-point, 3 unknowns",
       make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 6, .nz = 6, .unknowns_per_node = 3})});
  result.push_back({"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7})});
  result.push_back({"full", mirrored(make_erdos_renyi_lower(300 / kSmaller, 0.98, 7), 0.75)});
  for (const Problem& random : random_triangles()) {
    result.push_back({random.name + ", mirrored", mirrored(random.a, 0.75)});
  }
  return result;
}

std::vector<Problem> random_triangles() {
  return {{"Erdős–Rényi", make_erdos_renyi_lower(1500 / kSmaller, 0.004 * kSmaller, 11)},
          {"dense Erdős–Rényi", make_erdos_renyi_lower(300 / kSmaller, 0.2, 5)},
          {"narrow band", make_narrow_band_lower(2000, 0.14, 10, 3)}};
}

std::vector<double> right_hand_side(Index n) {
  std::vector<double> b(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  return b;
}

std::vector<double> parts_of(const std::vector<std::complex<double>>& numbers) {
  std::vector<double> parts;
  for (const std::complex<double>& number : numbers) parts.insert(parts.end(), {number.real(), number.imag()});
  return parts;
}

std::vector<double> nudged(std::vector<double> values) {
  for (std::size_t e = 0; e < values.size(); ++e) {
    const bool up = ((e * 2654435761U) >> 13U & 1U) != 0;
    values[e] *= 1.0 + (up ? 1.0 : -1.0) * std::numeric_limits<double>::epsilon();
  }
  return values;
}

std::vector<double> other_values(std::vector<double> values) {
  for (std::size_t e = 0; e < values.size(); ++e) values[e] *= 1.0 + 0.1 * std::cos(1.3 * static_cast<double>(e));
  return values;
}

}  // namespace taskdag::test
