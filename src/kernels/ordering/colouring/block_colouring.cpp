#include "kernels/ordering/colouring/block_colouring.hpp"

#include <algorithm>
#include <numeric>

#include "backends/host/seam.hpp"
#include "backends/host/thread_pool.hpp"
#include "base/index.hpp"
#include "kernels/ordering/colouring/colour.hpp"
#include "kernels/ordering/colouring/smallest_last.hpp"

namespace taskdag::kernels {

std::vector<Index> cut_blocks(std::span<const Index> rows_of_block, Index block_size) {
  std::vector<Index> offsets{0};
  offsets.reserve(rows_of_block.size() + 1);
  for (const Index rows : rows_of_block) {
    if (rows == 0) continue;
    const Index begin = offsets.back();
    const Index pieces = rows > 2 * std::int64_t{block_size} ? pieces_of(rows, block_size) : 1;
    for (Index p = 1; p <= pieces; ++p) {
      offsets.push_back(begin + static_cast<Index>(std::int64_t{rows} * p / pieces));
    }
  }
  return offsets;
}

namespace {

/// The graph of the blocks from its pairs.
CsrMatrix block_graph(Index blocks, std::span<const std::uint64_t> couplings) {
  const auto count = static_cast<std::uint64_t>(blocks);
  CsrMatrix graph;
  graph.rows = graph.cols = blocks;
  static_cast<void>(checked_offset(2 * static_cast<std::int64_t>(couplings.size()), "the graph of the blocks"));
  std::vector<Offset> next(at(blocks) + 1, 0);
  for (const std::uint64_t pair : couplings) {
    ++next[pair / count + 1];
    ++next[pair % count + 1];
  }
  std::partial_sum(next.begin(), next.end(), next.begin());
  graph.row_offsets = next;
  graph.col_indices.resize(2 * couplings.size());
  for (const std::uint64_t pair : couplings) {
    const std::uint64_t p = pair / count;
    const std::uint64_t q = pair % count;
    graph.col_indices[at(next[p]++)] = static_cast<Index>(q);
    graph.col_indices[at(next[q]++)] = static_cast<Index>(p);
  }
  return graph;
}

/// Pairs of blocks that an edge couples, sorted, each once: every thread collects those of its blocks.
std::vector<std::uint64_t> find_couplings(const GraphView& graph, const std::vector<Index>& order,
                                          const std::vector<Index>& offsets, const std::vector<Index>& block_of,
                                          host::ThreadPool& pool) {
  const auto blocks = static_cast<Index>(offsets.size()) - 1;
  constexpr Index kChunk = 16;
  std::vector<std::vector<std::uint64_t>> found(at(pieces_of(blocks, kChunk)));
  host::TicketCounter tickets;
  pool.run(pool.processors(), [&](int) {
    std::vector<Index> near;
    Index first = 0;
    Index last = 0;
    while (tickets.take(blocks, kChunk, first, last)) {
      std::vector<std::uint64_t>& pairs = found[at(first / kChunk)];
      for (Index p = first; p < last; ++p) {
        near.clear();
        for (Index k = offsets[at(p)]; k < offsets[at(p) + 1]; ++k) {
          const Index row = order[at(k)];
          for (EdgeOffset e = graph.begin(row); e < graph.end(row); ++e) {
            const Index q = block_of[at(graph.neighbours[e])];
            if (q > p && (near.empty() || near.back() != q)) near.push_back(q);
          }
        }
        std::ranges::sort(near);
        near.erase(std::unique(near.begin(), near.end()), near.end());
        for (const Index q : near) pairs.push_back(static_cast<std::uint64_t>(p) * at(blocks) + at(q));
      }
    }
  });
  std::vector<std::uint64_t> all;
  for (const auto& pairs : found) all.insert(all.end(), pairs.begin(), pairs.end());
  return all;
}

/// First fit by number, which on grids gives the fewest colours and leaves neighbours of the natural order mostly
/// neighbours; elsewhere smallest last often does with one or two colours less, each of them two launches of an
/// application.
Colouring colour_blocks(const CsrPattern& graph) {
  constexpr Index kFewest = 2;
  Colouring colouring = reference_colour(graph, {ColourOrder::natural, 0, 1});
  if (colouring.colours <= kFewest) return colouring;
  Colouring other = colour_in_order(graph, smallest_last_order(graph));
  return other.colours < colouring.colours ? other : colouring;
}

}  // namespace

BlockPositions arrange_blocks(std::span<const Index> offsets, std::span<const std::uint64_t> couplings) {
  const auto count = static_cast<Index>(offsets.size()) - 1;
  const ColourClasses classes = colour_classes(colour_blocks(block_graph(count, couplings).pattern()));
  BlockPositions positions;
  positions.first.resize(at(count));
  positions.blocks.colour_offsets.assign(classes.first.begin(), classes.first.end());
  positions.blocks.block_offsets.reserve(at(count) + 1);
  Index next = 0;
  for (const Index p : classes.order) {
    positions.first[at(p)] = next;
    next += offsets[at(p) + 1] - offsets[at(p)];
    positions.blocks.block_offsets.push_back(next);
  }
  return positions;
}

BlockOrdering order_by_blocks(const GraphView& graph, const BlockSize& size, host::ThreadPool& pool) {
  BlockOrdering result;
  Aggregates aggregation = aggregate(graph, size, pool);
  result.block_size = aggregation.block_size;
  result.shape = aggregation.shape;

  std::vector<Index> count(at(aggregation.blocks), 0);
  for (const Index b : aggregation.block) ++count[at(b)];
  std::vector<Index> next(count.size());
  std::exclusive_scan(count.begin(), count.end(), next.begin(), Index{0});
  std::vector<Index> sorted(at(graph.nodes));
  for (Index row = 0; row < graph.nodes; ++row) sorted[at(next[at(aggregation.block[at(row)])]++)] = row;

  const std::vector<Index> offsets = cut_blocks(count, result.block_size);
  std::vector<Index>& block_of = aggregation.block;  // from here on after the cuts
  const std::size_t blocks = offsets.size() - 1;
  for (std::size_t p = 0; p < blocks; ++p) {
    for (Index k = offsets[p]; k < offsets[p + 1]; ++k) block_of[at(sorted[at(k)])] = static_cast<Index>(p);
  }
  BlockPositions positions = arrange_blocks(offsets, find_couplings(graph, sorted, offsets, block_of, pool));
  result.order.resize(at(graph.nodes));
  for (std::size_t p = 0; p < blocks; ++p) {
    std::copy(sorted.begin() + offsets[p], sorted.begin() + offsets[p + 1], result.order.begin() + positions.first[p]);
  }
  result.blocks = std::move(positions.blocks);
  return result;
}

BlockOrdering order_by_points(const GraphView& graph, host::ThreadPool& pool) {
  std::vector<Offset> offsets(at(graph.nodes) + 1);
  static_cast<void>(checked_offset(graph.offsets[graph.nodes], "the graph of the rows"));
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<Offset>(graph.offsets[i]);
  const Colouring colouring = colour_graph({graph.nodes, graph.nodes, offsets.data(), graph.neighbours}, {}, pool);
  ColourClasses classes = colour_classes(colouring);
  BlockOrdering result;
  result.block_size = 1;
  result.order = std::move(classes.order);
  result.blocks.block_offsets.resize(at(graph.nodes) + 1);
  std::iota(result.blocks.block_offsets.begin(), result.blocks.block_offsets.end(), Index{0});
  result.blocks.colour_offsets.assign(classes.first.begin(), classes.first.end());
  return result;
}

}  // namespace taskdag::kernels
