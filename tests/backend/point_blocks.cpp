#include "point_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "problems.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::test {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

}  // namespace

std::vector<Graph> graphs() {
  return {{"one", make_stencil({.stencil = Stencil::five_point, .nx = 1, .ny = 1})},
          {"chain", tridiagonal(40, -1.0, 4.0, -1.0)},
          {"arrow", arrow(35)},
          {"five point", make_stencil({.stencil = Stencil::five_point, .nx = 7, .ny = 6})},
          {"27 point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 4, .ny = 4, .nz = 4})}};
}

CsrMatrix with_blocks(const CsrMatrix& graph, Index n, bool symmetric) {
  CsrMatrix a = graph;
  a.values.assign(graph.values.size() * at(n) * at(n), 0.0);
  const auto element = [n](Offset e, Index r, Index c) { return (at(e) * at(n) + at(c)) * at(n) + at(r); };
  const auto value = [n](Index row, Index column) {
    const double mixed = std::sin(1.0 + 12.9898 * row + 78.233 * column) * 43758.5453;
    const double fraction = mixed - std::floor(mixed);
    // Some elements of blocks are 0, as where fields are not coupled.
    return (row + 2 * column) % 5 == 0 && n > 2 ? 0.0 : fraction - 0.5;
  };
  for (Index i = 0; i < a.rows; ++i) {
    const Offset begin = a.row_offsets[at(i)];
    const Offset end = a.row_offsets[at(i) + 1];
    for (Offset e = begin; e < end; ++e) {
      const Index j = a.col_indices[at(e)];
      for (Index r = 0; r < n; ++r) {
        for (Index c = 0; c < n; ++c) {
          Index row = i * n + r;
          Index column = j * n + c;
          if (symmetric && row > column) std::swap(row, column);
          a.values[element(e, r, c)] = value(row, column);
          if (i != j) continue;
          // Dominant beside the diagonal where that costs nothing of the symmetry.
          const Index strong = symmetric || n == 2 ? r : n - 1 - r;
          if (c == strong) a.values[element(e, r, c)] += 0.6 * static_cast<double>((end - begin) * n);
        }
      }
    }
  }
  return a;
}

CsrMatrix in_blocks(const CsrMatrix& rows, Index n) {
  CsrMatrix a;
  a.rows = a.cols = rows.rows / n;
  for (Index i = 0; i < a.rows; ++i) {
    std::set<Index> columns = {i};
    const Offset begin = rows.row_offsets[at(i * n)];
    const Offset end = rows.row_offsets[at((i + 1) * n)];
    for (Offset e = begin; e < end; ++e) {
      if (rows.col_indices[at(e)] / n < a.cols) columns.insert(rows.col_indices[at(e)] / n);
    }
    const std::vector<Index> sorted(columns.begin(), columns.end());
    const std::size_t first = a.col_indices.size();
    a.col_indices.insert(a.col_indices.end(), sorted.begin(), sorted.end());
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
    a.values.resize(a.col_indices.size() * at(n) * at(n), 0.0);
    for (Index r = 0; r < n; ++r) {
      for (Offset e = rows.row_offsets[at(i * n + r)]; e < rows.row_offsets[at(i * n + r) + 1]; ++e) {
        const Index column = rows.col_indices[at(e)];
        const auto place = std::lower_bound(sorted.begin(), sorted.end(), column / n);
        if (place == sorted.end() || *place != column / n) continue;
        const std::size_t block = first + static_cast<std::size_t>(place - sorted.begin());
        a.values[(block * at(n) + at(column % n)) * at(n) + at(r)] = rows.values[at(e)];
      }
    }
  }
  return a;
}

CsrMatrix by_rows(const CsrMatrix& blocks, Index n) {
  CsrMatrix a;
  a.rows = a.cols = blocks.rows * n;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = blocks.row_offsets[at(i / n)]; e < blocks.row_offsets[at(i / n) + 1]; ++e) {
      for (Index c = 0; c < n; ++c) {
        a.col_indices.push_back(blocks.col_indices[at(e)] * n + c);
        a.values.push_back(blocks.values[(at(e) * at(n) + at(c)) * at(n) + at(i % n)]);
      }
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

}  // namespace taskdag::test
