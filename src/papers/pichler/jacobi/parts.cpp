#include "papers/pichler/jacobi/parts.hpp"

#include <algorithm>

#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// Parts that read too many parts and that all others wait for by name; where there are more, everybody waits for all.
constexpr std::size_t kMostWide = 16;

/// The part that each row's value is done with.
std::vector<Index> parts_of_rows(const std::vector<JacobiPart>& parts, Index rows) {
  std::vector<Index> of(at(rows));
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const JacobiPart& part = parts[p];
    for (Index row = part.row; row < part.row + part.rows; ++row) of[at(row)] = static_cast<Index>(p);
    if (part.pieces > 0) of[at(part.row)] = part.first_piece;
  }
  return of;
}

/// The parts that each part reads, itself among them, or the first of its pieces. Nothing where that is too many.
std::vector<std::vector<Index>> parts_read(const CsrPattern& pattern, const std::vector<JacobiPart>& parts) {
  const std::vector<Index> of = parts_of_rows(parts, pattern.rows);
  std::vector<std::vector<Index>> read(parts.size());
  std::vector<Index> seen(parts.size(), -1);
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const auto add = [&](Index q) {
      if (seen[at(q)] == static_cast<Index>(p)) return;
      seen[at(q)] = static_cast<Index>(p);
      read[p].push_back(q);
    };
    add(static_cast<Index>(p));
    if (parts[p].pieces > 0) add(parts[p].first_piece);
    for (Offset e = parts[p].begin; e < parts[p].end && read[p].size() <= kMostNeeds; ++e) {
      add(of[at(pattern.col_indices[e])]);
    }
    if (read[p].size() > kMostNeeds) read[p].clear();
  }
  return read;
}

}  // namespace

JacobiParts::JacobiParts(const CsrPattern& pattern, Index part_entries, Index long_row)
    : part(cut_into_parts(pattern.row_offsets, pattern.rows, part_entries, long_row)) {
  std::vector<std::vector<Index>> needs = parts_read(pattern, part);
  const std::size_t parts = part.size();
  std::vector<Index> wide;  // parts that read too many
  std::vector<std::size_t> readers(parts, 0);
  std::vector<std::size_t> own(parts);
  for (std::size_t p = 0; p < parts; ++p) {
    for (const Index q : needs[p]) ++readers[at(q)];
    own[p] = needs[p].size();
    if (own[p] == 0) wide.push_back(static_cast<Index>(p));
  }
  std::vector<char> all(parts, 0);
  for (std::size_t p = 0; p < parts; ++p) {
    all[p] = own[p] == 0 || wide.size() > kMostWide || readers[p] > kMostNeeds ? 1 : 0;
    if (all[p] == 0) needs[p].insert(needs[p].end(), wide.begin(), wide.end());  // they read everybody
  }
  for (std::size_t p = 0; p < parts; ++p) {
    for (std::size_t k = 0; k < own[p]; ++k) {
      const Index q = needs[p][k];
      if (all[at(q)] == 0) needs[at(q)].push_back(static_cast<Index>(p));
    }
  }
  need_begin.push_back(0);
  for (std::size_t p = 0; p < parts; ++p) {
    if (all[p] != 0) {
      some_need_all = true;
    } else {
      std::sort(needs[p].begin(), needs[p].end());
      needs[p].erase(std::unique(needs[p].begin(), needs[p].end()), needs[p].end());
      need.insert(need.end(), needs[p].begin(), needs[p].end());
      const auto last = static_cast<std::size_t>(needs[p].back());
      if (last > p) reach = std::max(reach, static_cast<std::uint32_t>(last - p));
    }
    need_begin.push_back(static_cast<std::uint32_t>(need.size()));
  }
}

std::vector<JacobiTask> skewed_order(const JacobiParts& parts, std::uint32_t sweeps, std::uint32_t skew) {
  const std::uint64_t count = parts.size();
  std::vector<JacobiTask> order;
  order.reserve(count * sweeps);
  // Task p of sweep s has the key p + s · skew; of equal keys the earlier sweep comes first.
  const std::uint64_t keys = count + std::uint64_t{sweeps - 1} * skew;
  for (std::uint64_t key = 0; count > 0 && key < keys; ++key) {
    const std::uint64_t least = key < count ? 0 : (key - count) / skew + 1;
    const std::uint64_t most = std::min<std::uint64_t>(key / skew, sweeps - 1);
    for (std::uint64_t s = least; s <= most; ++s) {
      order.push_back({static_cast<std::uint32_t>(key - s * skew), static_cast<std::uint32_t>(s)});
    }
  }
  return order;
}

}  // namespace taskdag::kernels
