#include "kernels/jacobi/resident_host.hpp"

#include <algorithm>
#include <utility>

#include "base/index.hpp"

namespace taskdag::kernels {

namespace {

/// A row costs about as much as so many entries.
constexpr std::int64_t kRowWeight = 4;

/// First rows of `blocks` runs of rows of about equal work, and the end.
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

}  // namespace

HostResident::HostResident(const CsrPattern& pattern, int threads) {
  const std::vector<Index> first = equal_rows(pattern, threads);
  std::vector<int> part_of(at(pattern.rows));
  for (std::size_t p = 0; p + 1 < first.size(); ++p) {
    part_.push_back({first[p], first[p + 1], {}});
    done_.emplace_back();
    std::fill(part_of.begin() + first[p], part_of.begin() + first[p + 1], static_cast<int>(p));
  }
  for (std::size_t p = 0; p < part_.size(); ++p) {
    std::vector<char> reads(part_.size(), 0);
    for (Offset e = pattern.row_offsets[part_[p].first]; e < pattern.row_offsets[part_[p].last]; ++e) {
      reads[at(part_of[at(pattern.col_indices[e])])] = 1;
    }
    for (std::size_t q = 0; q < part_.size(); ++q) {
      if (q == p || reads[q] == 0) continue;
      part_[p].neighbours.push_back(static_cast<int>(q));
      part_[q].neighbours.push_back(static_cast<int>(p));
    }
  }
  for (Part& part : part_) {
    std::sort(part.neighbours.begin(), part.neighbours.end());
    part.neighbours.erase(std::unique(part.neighbours.begin(), part.neighbours.end()), part.neighbours.end());
  }
}

void HostResident::run(const CsrView& a, const double* scale, const double* b, double* from, double* to, int sweeps,
                       const RowCut& cut, host::ThreadPool& pool) {
  for (host::ProgressCounter& counter : done_) counter.reset();
  pool.run(static_cast<int>(part_.size()), [&](int thread) {
    const Part& part = part_[at(thread)];
    double* iterate[2] = {from, to};
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      // Their values of this sweep are there, and they have read what this one writes over.
      for (const int q : part.neighbours) done_[at(q)].wait_for(sweep);
      const double* const x = iterate[sweep & 1];
      double* const y = iterate[1 - (sweep & 1)];
      for (Index i = part.first; i < part.last; ++i) {
        y[i] = jacobi_row_in_pieces(a, i, x, b[i], scale[i], cut);
      }
      done_[at(thread)].publish(sweep + 1);
    }
  });
}

}  // namespace taskdag::kernels
