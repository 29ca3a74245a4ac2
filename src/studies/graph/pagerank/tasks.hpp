/// \file
/// PageRank as tasks. A vertex is handed on by the worker that lifts its residue above the threshold, and by no other
/// until the residue has been taken: so each is in one list at most, and the run ends when no residue is above.
///
/// Ranks and residues are relaxed: sums, whose order does not matter; a residue that is added after it was taken stays
/// for the next time.
#pragma once

#include "studies/graph/pagerank/pagerank.hpp"
#include "studies/graph/range_task.hpp"

namespace taskdag::graph {

struct PagerankData {
  GraphView graph;
  float* rank;
  float* residue;
  float damping;
  float threshold;
  TallyRef tally;
  int rounds;
  std::uint32_t* cursor;  ///< where the next idle worker looks; null where none is idle
};

/// Edges along which `share` goes; the vertex's residue has still to be taken where it is negative.
struct ShareRange {
  Index vertex;
  Offset first;
  Offset last;
  float share;
};

struct Push {
  using Data = PagerankData;
  using Item = ShareRange;
  using Value = float;
  using Seen = float;  ///< a neighbour's residue before
  static constexpr auto name = "push";
  static constexpr float kUntaken = -1.0F;

  TASKDAG_TASK static float begin(const PagerankData& data, const ShareRange& range) {
    if (range.share >= 0.0F) return range.share;
    const float taken = engine::AtomicRef<float>(data.residue[range.vertex]).exchange(0.0F, engine::relaxed);
    engine::AtomicRef<float>(data.rank[range.vertex]).fetch_add(taken, engine::relaxed);
    return taken * data.damping / static_cast<float>(range.last - range.first);
  }
  TASKDAG_TASK static float see(const PagerankData& data, float share, Index u) {
    return engine::AtomicRef<float>(data.residue[u]).fetch_add(share, engine::relaxed);
  }
  TASKDAG_TASK static bool settle(const PagerankData& data, float share, Index u, float before, ShareRange& child) {
    if (before > data.threshold || before + share <= data.threshold) return false;
    child = {u, data.graph.offsets[u], data.graph.offsets[u + 1], kUntaken};
    return true;
  }
  TASKDAG_TASK static ShareRange piece(const ShareRange& range, float share, Offset first, Offset last) {
    return {range.vertex, first, last, share};
  }
};

/// The same, and workers without work look for residues of at least half the threshold: they need not be handed on,
/// but what is handed on early need not be later.
struct PushWhileIdle : Push {
  static constexpr bool idles = true;
  static constexpr std::uint32_t kLooks = 8;  ///< vertices that a worker looks at before it looks at the queue again

  TASKDAG_TASK static bool look(const PagerankData& data, ShareRange& item) {
    const auto rows = static_cast<std::uint32_t>(data.graph.vertices);
    const std::uint32_t first = engine::AtomicRef<std::uint32_t>(*data.cursor).fetch_add(kLooks, engine::relaxed);
    for (std::uint32_t k = 0; k < kLooks; ++k) {
      const auto v = static_cast<Index>((first + k) % rows);
      const float residue = peek(data.residue[v]);
      // Above the threshold the vertex has been handed on already.
      if (residue <= 0.5F * data.threshold || residue > data.threshold) continue;
      item = {v, data.graph.offsets[v], data.graph.offsets[v + 1], kUntaken};
      return true;
    }
    return false;
  }
};

/// The residues that all vertices hand on at first, to be cut into ranges of at most `most` edges.
inline std::vector<ShareRange> first_shares(const CsrPattern& graph, const PagerankOptions& options, Offset most) {
  std::vector<ShareRange> shares;
  for (Index v = 0; v < graph.rows; ++v) {
    const Offset last = graph.row_offsets[v + 1];
    const float share = (1.0F - options.damping) * options.damping / static_cast<float>(last - graph.row_offsets[v]);
    for (Offset e = graph.row_offsets[v]; e < last; e += most) {
      shares.push_back({v, e, last - e < most ? last : e + most, share});
    }
  }
  return shares;
}

}  // namespace taskdag::graph
