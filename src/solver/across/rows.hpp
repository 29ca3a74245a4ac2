/// \file
/// A rank's rows of one colour, run by host threads.
#pragma once

#include <algorithm>

#include "base/index.hpp"
#include "context/state.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/error.hpp"

namespace taskdag {

inline host::ThreadPool& threads_of(const Context& context) {
  if (context.backend() != Backend::host) throw Unsupported("work across ranks is for host threads");
  return *context.state()->pool;
}

/// Calls work(thread, row) for own rows [first, last) of one colour: threads take whole blocks, whose rows come in
/// turn, ascending for Triangle::lower, else descending. Few rows are not worth a second thread.
template <class Work>
void for_rows(host::ThreadPool& pool, const RankRows& rows, Triangle direction, Index first, Index last,
              const Work& work) {
  constexpr Index kLeast = 512;
  const Index count = last - first;
  const int threads = std::clamp(static_cast<int>(count / kLeast), 1, pool.processors());
  const auto start = [&](int t) {
    const Index share = first + static_cast<Index>(std::int64_t{count} * t / threads);
    return rows.blocks.empty() ? share : *std::lower_bound(rows.blocks.begin(), rows.blocks.end(), share);
  };
  pool.run(threads, [&](int thread) {
    const Index begin = start(thread);
    const Index end = start(thread + 1);
    const bool up = direction == Triangle::lower;
    for (Index k = 0; k < end - begin; ++k) work(thread, up ? begin + k : end - 1 - k);
  });
}

/// Σ v_e x_j over entries [begin, end).
inline double sum_of(const double* values, const Index* columns, Offset begin, Offset end, const double* x) {
  double sum = 0.0;
  for (Offset e = begin; e < end; ++e) sum += values[e] * x[columns[e]];
  return sum;
}

}  // namespace taskdag
