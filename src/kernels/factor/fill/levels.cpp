#include "kernels/factor/fill/levels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/index.hpp"

namespace taskdag {

namespace {

constexpr Index kRowsAtOnce = 256;

std::size_t begin_of(const MappedPattern& pattern, Index i) {
  return static_cast<std::size_t>(pattern.row_offsets[at(i)]);
}

std::span<const Index> row_of(const CsrPattern& pattern, Index i) {
  return {pattern.col_indices + pattern.row_offsets[i], at(pattern.row_offsets[i + 1] - pattern.row_offsets[i])};
}

/// A graph by rows; a node's neighbours may be spread over two patterns (a triangle and its transpose).
struct Graph {
  CsrPattern first;
  CsrPattern second;  ///< no rows: none
  [[nodiscard]] std::array<std::span<const Index>, 2> neighbours(Index i) const {
    return {row_of(first, i), second.rows > 0 ? row_of(second, i) : std::span<const Index>()};
  }
};

/// Consecutive rows.
struct Range {
  Index first;
  Index last;  ///< not of them
  [[nodiscard]] bool holds(Index i) const { return first <= i && i < last; }
};

/// The rows that row i may get fill with. `blocks`: null where that is all of them.
Range range_of(const RowBlocks* blocks, Index i, Index rows) {
  if (blocks == nullptr) return {0, rows};
  const auto next = std::ranges::upper_bound(blocks->block_offsets, i);
  return {*(next - 1), *next};
}

/// Finds what a row reaches through smaller rows. One per thread.
class UpperSearch {
 public:
  UpperSearch(const Graph& graph, const RowBlocks* blocks, Index levels)
      : graph_(&graph), blocks_(blocks), levels_(levels), seen_by_(at(graph.first.rows), Index{-1}) {}

  /// Appends the columns j > i of row i, ascending.
  void append(Index i, std::vector<Index>& columns) {
    const auto begin = static_cast<std::ptrdiff_t>(columns.size());
    const Range block = range_of(blocks_, i, graph_->first.rows);
    seen_by_[at(i)] = i;
    frontier_.assign(1, i);
    for (Index level = 0; level <= levels_ && !frontier_.empty(); ++level) {
      next_.clear();
      for (const Index node : frontier_) {
        for (const auto list : graph_->neighbours(node)) {
          for (const Index j : list) {
            if (seen_by_[at(j)] == i || !may_go(i, block, node, j)) continue;
            seen_by_[at(j)] = i;
            (j > i ? columns : next_).push_back(j);
          }
        }
      }
      std::swap(frontier_, next_);
    }
    std::sort(columns.begin() + begin, columns.end());
  }

 private:
  /// Whether the search of row i goes on from `node` to j. An entry of row i itself always counts.
  static bool may_go(Index i, const Range& block, Index node, Index j) {
    return block.holds(j) || node == i || (block.holds(node) && j < block.first);
  }

  const Graph* graph_;
  const RowBlocks* blocks_;
  Index levels_;
  std::vector<Index> seen_by_;  ///< by node: the last row whose search has met it
  std::vector<Index> frontier_;
  std::vector<Index> next_;
};

/// Calls body(thread, first, last) for pieces [first, last) of the rows, each for one thread.
template <class Body>
void for_pieces(Index rows, host::ThreadPool& pool, const Body& body) {
  const Index pieces = pieces_of(rows, kRowsAtOnce);
  std::atomic<Index> next{0};
  pool.run(pool.processors(), [&](int thread) {
    for (Index piece = next++; piece < pieces; piece = next++) {
      const Index first = piece * kRowsAtOnce;
      body(thread, first, end_of_piece(first, kRowsAtOnce, rows));
    }
  });
}

/// A pattern without a way back.
struct Pattern {
  Index rows = 0;
  std::vector<Offset> row_offsets;
  std::vector<Index> col_indices;
  [[nodiscard]] CsrPattern view() const { return {rows, rows, row_offsets.data(), col_indices.data()}; }
};

/// Turns counts, one behind each row, into offsets.
void sum_up(std::vector<Offset>& row_offsets) {
  std::int64_t sum = 0;
  for (Offset& offset : row_offsets) {
    sum += offset;
    offset = checked_offset(sum, "the filled pattern");
  }
}

/// The strictly upper part of the filled pattern.
Pattern strictly_upper(const Graph& graph, Index levels, const RowBlocks* blocks, host::ThreadPool& pool) {
  Pattern result;
  result.rows = graph.first.rows;
  result.row_offsets.assign(at(result.rows) + 1, 0);
  std::vector<UpperSearch> searches(at(pool.processors()), UpperSearch(graph, blocks, levels));
  std::vector<std::vector<Index>> columns((at(result.rows) + at(kRowsAtOnce) - 1) / at(kRowsAtOnce));
  for_pieces(result.rows, pool, [&](int thread, Index first, Index last) {
    std::vector<Index>& mine = columns[at(first / kRowsAtOnce)];
    for (Index i = first; i < last; ++i) {
      const std::size_t before = mine.size();
      searches[at(thread)].append(i, mine);
      result.row_offsets[at(i) + 1] = static_cast<Offset>(mine.size() - before);
    }
  });
  sum_up(result.row_offsets);
  result.col_indices.resize(at(result.row_offsets.back()));
  for_pieces(result.rows, pool, [&](int, Index first, Index) {
    const std::vector<Index>& piece = columns[at(first / kRowsAtOnce)];
    std::copy(piece.begin(), piece.end(), result.col_indices.begin() + result.row_offsets[at(first)]);
  });
  return result;
}

/// Rows of `lower` (if any), the diagonal, `upper`; what is in `original` keeps its source.
MappedPattern assemble(const MappedPattern& original, const CsrPattern* lower, const CsrPattern& upper,
                       host::ThreadPool& pool) {
  MappedPattern result{original.rows, original.rows, std::vector<Offset>(at(original.rows) + 1, 0), {}, {}};
  for (Index i = 0; i < original.rows; ++i) {
    const std::size_t others = row_of(upper, i).size() + (lower != nullptr ? row_of(*lower, i).size() : 0);
    result.row_offsets[at(i) + 1] = static_cast<Offset>(others + 1);
  }
  sum_up(result.row_offsets);
  result.col_indices.resize(at(result.row_offsets.back()));
  result.source_entry.resize(at(result.row_offsets.back()));
  for_pieces(original.rows, pool, [&](int, Index first, Index last) {
    for (Index i = first; i < last; ++i) {
      auto column = result.col_indices.begin() + result.row_offsets[at(i)];
      if (lower != nullptr) column = std::ranges::copy(row_of(*lower, i), column).out;
      *column++ = i;
      std::ranges::copy(row_of(upper, i), column);
      std::size_t given = begin_of(original, i);
      for (std::size_t e = begin_of(result, i); e < begin_of(result, i + 1); ++e) {
        const bool present = given < begin_of(original, i + 1) && original.col_indices[given] == result.col_indices[e];
        result.source_entry[e] = present ? original.source_entry[given++] : -1;
      }
    }
  });
  return result;
}

}  // namespace

MappedPattern fill_pattern(const MappedPattern& pattern, Index levels, const RowBlocks* blocks,
                           host::ThreadPool& pool) {
  if (pattern.rows == 0) return pattern;
  const Transposed transposed = transpose(pattern.view());
  const Pattern upper = strictly_upper({pattern.view(), {}}, levels, blocks, pool);
  const bool symmetric = transposed.row_offsets == pattern.row_offsets && transposed.col_indices == pattern.col_indices;
  const Pattern of_transposed = symmetric ? Pattern() : strictly_upper({transposed.view(), {}}, levels, blocks, pool);
  const Transposed lower = transpose((symmetric ? upper : of_transposed).view());
  const CsrPattern lower_view = lower.view();
  return assemble(pattern, &lower_view, upper.view(), pool);
}

MappedPattern fill_upper_pattern(const MappedPattern& upper, Index levels, const RowBlocks* blocks,
                                 host::ThreadPool& pool) {
  if (upper.rows == 0) return upper;
  const Transposed lower = transpose(upper.view());
  const Pattern filled = strictly_upper({upper.view(), lower.view()}, levels, blocks, pool);
  return assemble(upper, nullptr, filled.view(), pool);
}

}  // namespace taskdag
