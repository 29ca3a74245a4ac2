// First fit over ranks: what one of them does.
#include <algorithm>
#include <numeric>

#include "base/index.hpp"
#include "base/memory_errors.hpp"
#include "kernels/ordering/colouring/colour.hpp"
#include "kernels/ordering/colouring/first_fit.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

namespace {
constexpr Index kNone = -1;
}

RankColouring::RankColouring(const CsrPattern& graph, std::span<const std::int64_t> global,
                             std::span<const std::uint64_t> priority)
    : graph_(graph) {
  if (global.size() != at(graph.cols) || priority.size() != at(graph.cols)) {
    throw InvalidInput("each vertex of a rank, and each ghost, has one global number and one priority");
  }
  with_memory_errors("the colours", graph.rows, [&] {
    colours_.assign(at(graph.cols), kNone);
    waiting_.reserve(at(graph.rows));
    keys_.reserve(at(graph.cols));
    for (std::size_t v = 0; v < global.size(); ++v) keys_.push_back({priority[v], global[v]});
    begin();
  });
}

// The hash is of 32 bits: beyond so many rows numbers decide between equal ones.
std::uint64_t RankColouring::priority_of(std::int64_t global, Index degree) {
  return kernels::colour_key({}, static_cast<Index>(global), degree);
}

void RankColouring::begin() {
  waiting_.resize(at(graph_.rows));
  std::iota(waiting_.begin(), waiting_.end(), 0);
  std::ranges::sort(waiting_, [&](Index a, Index b) { return keys_[at(a)] < keys_[at(b)]; });
  std::ranges::fill(colours_, kNone);
}

void RankColouring::reverse(Index colours) {
  for (std::size_t v = 0; v < keys_.size(); ++v) keys_[v].first = static_cast<std::uint64_t>(colours - colours_[v]);
  begin();
}

/// kNone where a neighbour before the vertex has no colour.
Index RankColouring::first_fit(Index vertex) const {
  kernels::ColourWindow window;
  while (true) {
    for (Offset e = graph_.row_offsets[vertex]; e < graph_.row_offsets[vertex + 1]; ++e) {
      const Index neighbour = graph_.col_indices[e];
      if (keys_[at(vertex)] < keys_[at(neighbour)]) continue;
      if (colours_[at(neighbour)] == kNone) return kNone;
      window.add(colours_[at(neighbour)]);
    }
    if (window.has_free()) return window.first_free();
    window.advance();
  }
}

Index RankColouring::advance() {
  const auto waits = [this](Index vertex) {
    colours_[at(vertex)] = first_fit(vertex);
    return colours_[at(vertex)] == kNone;
  };
  // std::remove_if() asks for each vertex once, in order, so chains inside a rank take one call.
  const auto end = std::remove_if(waiting_.begin(), waiting_.end(), [&](Index vertex) { return !waits(vertex); });
  waiting_.erase(end, waiting_.end());
  return static_cast<Index>(waiting_.size());
}

}  // namespace taskdag
