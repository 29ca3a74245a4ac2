#include "kernels/sptrsv/host.hpp"

#include <algorithm>

#include "dag/levels.hpp"

namespace taskdag::kernels {

namespace {
constexpr Index kLeastChunk = 16;
constexpr Index kMostChunk = 256;
}  // namespace

HostSweep::HostSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle, host::ThreadPool& pool)
    : pool_(&pool), forward_(triangle == Triangle::lower) {
  const Schedule schedule(triangle, compute_levels(pattern, triangle, pool));
  const Index n = pattern.rows;
  const bool renumber = pool.threads() > 1;
  levels_ = schedule.levels();
  widest_level_ = schedule.widest_level();
  // Chunks of half a thread's share of an average level keep all threads inside a level.
  chunk_ = std::clamp(n / std::max(1, 2 * levels_ * pool.threads()), kLeastChunk, kMostChunk);

  row_.reserve(static_cast<std::size_t>(n));
  offsets_.reserve(static_cast<std::size_t>(n) + 1);
  offsets_.push_back(0);
  const auto append = [&](Offset e) {
    const Index column = pattern.col_indices[e];
    columns_.push_back(renumber ? schedule.position()[static_cast<std::size_t>(column)] : column);
    source_.push_back(source == nullptr ? e : source[e]);
  };
  for (Index p = 0; p < n; ++p) {
    const Index i = renumber ? schedule.order()[static_cast<std::size_t>(p)] : (forward_ ? p : n - 1 - p);
    row_.push_back(i);
    if (forward_) {
      for (Offset e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1] && pattern.col_indices[e] < i; ++e) {
        append(e);
      }
    } else {
      for (Offset e = pattern.row_offsets[i + 1] - 1; e >= pattern.row_offsets[i] && pattern.col_indices[e] > i; --e) {
        append(e);
      }
    }
    offsets_.push_back(static_cast<Offset>(columns_.size()));
  }
  values_.resize(columns_.size());
  if (renumber) {
    for (auto& slots : slots_) slots.assign(static_cast<std::size_t>(n), not_yet());
  }
}

void HostSweep::load(const double* values) {
  for (std::size_t e = 0; e < values_.size(); ++e) values_[e] = values[source_[e]];
}

std::int64_t HostSweep::bytes() const {
  return static_cast<std::int64_t>(sizeof(Index) * (row_.size() + offsets_.size() + 2 * columns_.size()) +
                                   sizeof(double) * (values_.size() + 2 * slots_[0].size()));
}

}  // namespace taskdag::kernels
