#include "kernels/jacobi/resident.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// A row costs about as much as so many entries, in shared memory and in time.
constexpr std::int64_t kRowWeight = 4;

/// The foreign columns of each block, ascending.
std::vector<std::vector<Index>> foreign_columns(const CsrPattern& pattern, const std::vector<Index>& first) {
  std::vector<std::vector<Index>> foreign(first.size() - 1);
  std::vector<Index> seen(at(pattern.cols), -1);
  for (std::size_t b = 0; b < foreign.size(); ++b) {
    for (Offset e = pattern.row_offsets[first[b]]; e < pattern.row_offsets[first[b + 1]]; ++e) {
      const Index column = pattern.col_indices[e];
      if ((column >= first[b] && column < first[b + 1]) || seen[at(column)] == static_cast<Index>(b)) continue;
      seen[at(column)] = static_cast<Index>(b);
      foreign[b].push_back(column);
    }
    std::sort(foreign[b].begin(), foreign[b].end());
  }
  return foreign;
}

/// Every block takes a value from each block that takes one from it.
void take_both_ways(std::vector<std::vector<Index>>& foreign, const std::vector<Index>& first) {
  const auto block_of = [&](Index row) {
    return static_cast<std::size_t>(std::upper_bound(first.begin(), first.end(), row) - first.begin()) - 1;
  };
  std::vector<std::vector<std::size_t>> givers(foreign.size());
  for (std::size_t b = 0; b < foreign.size(); ++b) {
    for (const Index row : foreign[b]) {
      const std::size_t giver = block_of(row);
      if (givers[b].empty() || givers[b].back() != giver) givers[b].push_back(giver);
    }
  }
  for (std::size_t b = 0; b < foreign.size(); ++b) {
    for (const std::size_t giver : givers[b]) {
      if (!std::binary_search(givers[giver].begin(), givers[giver].end(), b)) foreign[giver].push_back(first[b]);
    }
  }
}

}  // namespace

std::vector<Index> equal_rows(const CsrPattern& pattern, Index blocks) {
  const auto weight = [&](Index row) { return pattern.row_offsets[row] + kRowWeight * row; };
  std::vector<Index> first{0};
  for (Index b = 1; b < blocks; ++b) {
    const std::int64_t target = weight(pattern.rows) * b / blocks;
    Index low = first.back();
    Index high = pattern.rows;
    while (low < high) {
      const Index middle = low + (high - low) / 2;
      if (weight(middle) < target) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    first.push_back(low);
  }
  first.push_back(pattern.rows);
  first.erase(std::unique(first.begin(), first.end()), first.end());
  return first;
}

ResidentLayout::ResidentLayout(const CsrPattern& pattern, Index blocks) {
  const std::vector<Index> first = equal_rows(pattern, blocks);
  std::vector<std::vector<Index>> foreign = foreign_columns(pattern, first);
  take_both_ways(foreign, first);

  std::vector<std::uint32_t> slot_of_row(at(pattern.rows), 0);
  std::vector<char> given(at(pattern.rows), 0);
  for (const std::vector<Index>& columns : foreign) {
    for (const Index row : columns) given[at(row)] = 1;
  }
  for (std::size_t b = 0; b + 1 < first.size(); ++b) {
    ResidentBlock one{};
    one.first_row = first[b];
    one.rows = first[b + 1] - first[b];
    one.first_entry = pattern.row_offsets[first[b]];
    one.entries = pattern.row_offsets[first[b + 1]] - one.first_entry;
    one.slot_begin = static_cast<std::uint32_t>(row_of_slot.size());
    for (Index row = first[b]; row < first[b + 1]; ++row) {
      if (given[at(row)] == 0) continue;
      slot_of_row[at(row)] = static_cast<std::uint32_t>(row_of_slot.size());
      row_of_slot.push_back(static_cast<std::uint16_t>(row - first[b]));
    }
    one.slot_end = static_cast<std::uint32_t>(row_of_slot.size());
    most_rows = std::max(most_rows, one.rows);
    most_entries = std::max(most_entries, one.entries);
    most_places = std::max(most_places, one.rows + static_cast<Index>(foreign[b].size()));
    block.push_back(one);
  }
  if (!fits()) return;

  place.resize(at(pattern.entries()));
  std::vector<std::uint16_t> place_of_row(at(pattern.rows), 0);
  for (std::size_t b = 0; b < block.size(); ++b) {
    block[b].halo_begin = static_cast<std::uint32_t>(halo.size());
    for (std::size_t k = 0; k < foreign[b].size(); ++k) {
      place_of_row[at(foreign[b][k])] = static_cast<std::uint16_t>(block[b].rows + static_cast<Index>(k));
      halo.push_back(slot_of_row[at(foreign[b][k])]);
    }
    block[b].halo_end = static_cast<std::uint32_t>(halo.size());
    for (Index row = 0; row < block[b].rows; ++row) {
      place_of_row[at(block[b].first_row + row)] = static_cast<std::uint16_t>(row);
    }
    for (Offset e = block[b].first_entry; e < block[b].first_entry + block[b].entries; ++e) {
      place[at(e)] = place_of_row[at(pattern.col_indices[e])];
    }
  }
}

std::size_t ResidentLayout::shared_bytes() const {
  // See resident_cuda.cu: values, b and scale, two iterates; row ends, slots of rows and places.
  const std::size_t doubles = at(most_entries) + 2 * at(most_rows) + 2 * at(most_places);
  const std::size_t shorts = at(most_entries) + 2 * at(most_rows) + 1;
  return doubles * sizeof(double) + (shorts * sizeof(std::uint16_t) + 7) / 8 * 8;
}

}  // namespace taskdag::kernels
