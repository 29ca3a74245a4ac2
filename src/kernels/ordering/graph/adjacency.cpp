#include "kernels/ordering/graph/adjacency.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"

namespace taskdag::kernels {
namespace {

constexpr Index kRowChunk = 4096;

/// Calls body(first, last) for chunks of [0, rows) on all threads; a single chunk wakes none.
template <class Body>
void for_rows(host::ThreadPool& pool, Index rows, const Body& body) {
  if (rows <= kRowChunk) {
    if (rows > 0) body(0, rows);
    return;
  }
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    Index first = 0;
    Index last = 0;
    while (tickets.take(rows, kRowChunk, first, last)) body(first, last);
  });
}

/// Aᵀ as offsets and columns, by counting; its columns ascend because the rows of A are taken in order.
struct Transposed {
  explicit Transposed(const CsrPattern& a) : offsets(at(a.rows) + 1, 0), columns(at(a.entries())) {
    Offset* next = offsets.data() + 1;
    for (Offset e = 0; e < a.entries(); ++e) ++next[a.col_indices[e]];
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
    std::vector<Offset> cursor_of_row(offsets.begin(), offsets.end());
    Offset* cursor = cursor_of_row.data();
    for (Index row = 0; row < a.rows; ++row) {
      for (Offset e = a.row_offsets[row]; e < a.row_offsets[row + 1]; ++e) {
        columns.data()[cursor[a.col_indices[e]]++] = row;
      }
    }
  }

  std::vector<Offset> offsets;
  std::vector<Index> columns;
};

/// Calls take(column) for the columns of both ascending ranges, each once, without `row`.
template <class Take>
void merge(const Index* left, const Index* left_end, const Index* right, const Index* right_end, Index row,
           const Take& take) {
  while (left != left_end || right != right_end) {
    const bool from_left = right == right_end || (left != left_end && *left <= *right);
    const Index column = from_left ? *left : *right;
    if (left != left_end && *left == column) ++left;
    if (right != right_end && *right == column) ++right;
    if (column != row) take(column);
  }
}

/// Whether the ascending columns [first, last) hold `column`. The halves are chosen without a branch: which one it is
/// cannot be predicted.
bool holds(const Index* first, const Index* last, Index column) {
  for (std::ptrdiff_t remaining = last - first; remaining > 1;) {
    const std::ptrdiff_t half = remaining / 2;
    first += first[half] <= column ? half : 0;
    remaining -= half;
  }
  return first != last && *first == column;
}

}  // namespace

bool find_degrees(const CsrPattern& a, host::ThreadPool& pool, std::vector<Index>& degree) {
  std::atomic<bool> symmetric{true};
  std::atomic<std::int64_t> surplus{0};  // entries above the diagonal over those below
  for_rows(pool, a.rows, [&](Index first, Index last) {
    if (!symmetric.load(std::memory_order_relaxed)) return;
    bool partners = true;
    std::int64_t above = 0;
    for (Index row = first; row < last; ++row) {
      const Offset end = a.row_offsets[row + 1];
      Offset e = a.row_offsets[row];
      Index neighbours = end - e;
      for (; e < end && a.col_indices[e] < row; ++e) --above;
      if (e < end && a.col_indices[e] == row) {
        ++e;
        --neighbours;
      }
      degree[at(row)] = neighbours;
      above += end - e;
      for (; e < end; ++e) {
        const Index column = a.col_indices[e];
        partners &= holds(a.col_indices + a.row_offsets[column], a.col_indices + a.row_offsets[column + 1], row);
      }
    }
    surplus.fetch_add(above, std::memory_order_relaxed);
    if (!partners) symmetric.store(false, std::memory_order_relaxed);
  });
  return symmetric.load(std::memory_order_relaxed) && surplus.load(std::memory_order_relaxed) == 0;
}

bool has_symmetric_pattern(const CsrPattern& a, host::ThreadPool& pool) {
  std::vector<Index> degree(at(a.rows));
  return find_degrees(a, pool, degree);
}

HostGraph symmetrised_graph(const CsrPattern& a, host::ThreadPool& pool) {
  HostGraph graph;
  graph.nodes = a.rows;
  graph.offsets.assign(at(a.rows) + 1, 0);
  if (a.rows == 0) return graph;

  // Where the pattern is symmetric, a row is merged with nothing.
  const bool symmetric = has_symmetric_pattern(a, pool);
  const Transposed transposed(symmetric ? CsrPattern{0, 0, nullptr, nullptr} : a);
  const auto for_neighbours = [&](Index row, const auto& take) {
    const Index* const right = transposed.columns.data();
    const Offset begin = symmetric ? 0 : transposed.offsets[at(row)];
    const Offset end = symmetric ? 0 : transposed.offsets[at(row) + 1];
    merge(a.col_indices + a.row_offsets[row], a.col_indices + a.row_offsets[row + 1], right + begin, right + end, row,
          take);
  };

  for_rows(pool, a.rows, [&](Index first, Index last) {
    for (Index row = first; row < last; ++row) {
      EdgeOffset degree = 0;
      for_neighbours(row, [&degree](Index) { ++degree; });
      graph.offsets[at(row) + 1] = degree;
    }
  });
  std::partial_sum(graph.offsets.begin(), graph.offsets.end(), graph.offsets.begin());
  graph.neighbours.resize(static_cast<std::size_t>(graph.offsets.back()));
  for_rows(pool, a.rows, [&](Index first, Index last) {
    Index* out = graph.neighbours.data() + graph.offsets[at(first)];
    for (Index row = first; row < last; ++row) {
      for_neighbours(row, [&out](Index column) { *out++ = column; });
    }
  });
  return graph;
}

}  // namespace taskdag::kernels
