#include "dag/thread_plan.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/index.hpp"
#include "dag/dependencies.hpp"
#include "dag/levels.hpp"

namespace taskdag {

namespace {

constexpr Index kChunkSizes[] = {512, 128, 32, 1};

struct RowCosts {
  std::vector<std::int64_t> until;  ///< by step: of the rows of the steps before it, run one after the other
  std::int64_t longest_path = 0;    ///< of rows of which each waits for the one before: no plan is faster
};

RowCosts find_row_costs(const CsrPattern& pattern, Triangle triangle, const PlanCosts& costs) {
  RowCosts result;
  result.until.reserve(at(pattern.rows) + 1);
  result.until.push_back(0);
  const auto path = std::make_unique_for_overwrite<std::int64_t[]>(at(pattern.rows));  // by row: that ends there
  for (Index step = 0; step < pattern.rows; ++step) {
    const Index row = triangle == Triangle::lower ? step : pattern.rows - 1 - step;
    const auto columns = dependencies(pattern, triangle, row);
    std::int64_t longest = 0;
    for (const Index column : columns) longest = std::max(longest, path[at(column)]);
    const std::int64_t own = costs.row + costs.entry * static_cast<std::int64_t>(columns.size());
    path[at(row)] = longest + own;
    result.longest_path = std::max(result.longest_path, longest + own);
    result.until.push_back(result.until.back() + own);
  }
  return result;
}

/// A plan is worth its hand-overs where it takes three quarters of the time of one thread at most.
bool pays(std::int64_t duration, std::int64_t serial) { return 4 * duration < 3 * serial; }

/// The least time of a plan of chunks of `most` rows, whatever waits for what: that of rows and chunks, shared evenly.
std::int64_t least_duration(Index rows, Index most, int threads, const PlanCosts& costs, std::int64_t serial) {
  return (serial + costs.chunk * pieces_of(rows, most)) / threads;
}

/// One way to share the rows.
struct Candidate {
  Chunks chunks;
  Schedule schedule;        // of the chunks
  std::vector<Index> cuts;  // [l · threads + t]: the schedule's position where thread t's share of level l begins; it
                            // ends where the next one begins
  std::int64_t duration = 0;  // expected
};

Candidate make_candidate(const CsrPattern& pattern, Triangle triangle, Index most, int threads, const PlanCosts& costs,
                         const std::vector<std::int64_t>& until_step) {
  Chunks chunks = make_chunks(pattern, triangle, most);
  Schedule schedule(Triangle::lower, compute_levels(chunks.dependencies(), Triangle::lower));
  std::vector<Index> cuts(at(schedule.levels()) * static_cast<std::size_t>(threads) + 1, schedule.rows());
  std::int64_t duration = 0;
  std::vector<std::int64_t> until;  // cost of the level's chunks before each position
  bool shared_before = false;
  for (Index l = 0; l < schedule.levels(); ++l) {
    const Index first = schedule.level_offsets()[at(l)];
    const Index last = schedule.level_offsets()[at(l) + 1];
    until.assign(1, 0);
    for (Index p = first; p < last; ++p) {
      const auto c = at(schedule.order()[at(p)]);
      until.push_back(until.back() + costs.chunk + until_step[at(chunks.first_step[c + 1])] -
                      until_step[at(chunks.first_step[c])]);
    }
    const std::int64_t total = until.back();
    const std::int64_t shares = std::clamp<std::int64_t>(total / costs.least_share, 1, threads);
    std::int64_t longest = 0;
    std::int64_t begin = 0;
    Index* const cut = cuts.data() + at(l) * static_cast<std::size_t>(threads);
    for (int t = 0; t < threads; ++t) {
      cut[t] = first + static_cast<Index>(begin);
      const std::int64_t goal = total * std::min<std::int64_t>(t + 1, shares) / shares;
      auto end = std::lower_bound(until.begin() + begin, until.end(), goal) - until.begin();
      // The chunk across the goal goes to the side where it overshoots less.
      if (end - 1 > begin &&
          goal - until[static_cast<std::size_t>(end) - 1] < until[static_cast<std::size_t>(end)] - goal) {
        --end;
      }
      longest = std::max(longest, until[static_cast<std::size_t>(end)] - until[static_cast<std::size_t>(begin)]);
      begin = end;
    }
    const bool shared = shares > 1;
    duration += longest + (shared || shared_before ? costs.hop : 0);
    shared_before = shared;
  }
  return {std::move(chunks), std::move(schedule), std::move(cuts), duration};
}

}  // namespace

ThreadPlan::ThreadPlan(const CsrPattern& pattern, Triangle triangle, int threads, const PlanCosts& costs)
    : rows_(pattern.rows), triangle_(triangle) {
  if (threads > 1) {
    const RowCosts rows = find_row_costs(pattern, triangle, costs);
    const std::int64_t serial = rows.until.back();
    std::optional<Candidate> best;
    for (const Index most : kChunkSizes) {
      const std::int64_t least =
          std::max(rows.longest_path, least_duration(pattern.rows, most, threads, costs, serial));
      // Making one takes as long as two or three sweeps: not for a twentieth of one.
      if (!pays(least, serial) || (best && 20 * best->duration <= 21 * least)) continue;
      Candidate candidate = make_candidate(pattern, triangle, most, threads, costs, rows.until);
      if (!best || candidate.duration < best->duration) best = std::move(candidate);
    }
    if (best && pays(best->duration, serial)) {
      expected_time_ = best->duration;
      split(best->chunks, best->schedule, best->cuts, threads);
      return;
    }
  }
  first_share_.assign(2, 0);
  first_position_ = {0, rows()};
}

void ThreadPlan::split(const Chunks& chunks, const Schedule& schedule, std::span<const Index> cuts, int threads) {
  const RowOrder natural(rows_, triangle_);
  order_.resize(at(rows_));
  first_share_.push_back(0);
  first_position_.push_back(0);
  std::vector<Index> chunk_order;  // thread by thread
  Index next = 0;
  for (int t = 0; t < threads; ++t) {
    for (Index l = 0; l < schedule.levels(); ++l) {
      const std::size_t k = at(l) * static_cast<std::size_t>(threads) + static_cast<std::size_t>(t);
      if (cuts[k] == cuts[k + 1]) continue;
      const Index first = next;
      for (const Index c : schedule.order().subspan(at(cuts[k]), at(cuts[k + 1] - cuts[k]))) {
        chunk_order.push_back(c);
        for (Index step = chunks.first_step[at(c)]; step < chunks.first_step[at(c) + 1]; ++step) {
          order_[at(next++)] = natural[step];
        }
      }
      shares_.push_back({first, next, 0, 0});
    }
    first_share_.push_back(shares_.size());
    first_position_.push_back(next);
  }
  find_waits(chunks, chunk_order, threads);
}

void ThreadPlan::find_waits(const Chunks& chunks, std::span<const Index> chunk_order, int threads) {
  struct Owner {
    int thread;
    Index finished;  // how many shares its thread has finished when the chunk is done
  };
  std::vector<Owner> owner(chunk_order.size());
  const auto each_share = [&](const auto& visit) {  // visit(share, its chunks, thread, number in the thread)
    std::size_t next = 0;
    for (int t = 0; t < threads; ++t) {
      const std::size_t first = first_share_[static_cast<std::size_t>(t)];
      for (std::size_t s = first; s < first_share_[static_cast<std::size_t>(t) + 1]; ++s) {
        const std::size_t begin = next;
        for (Index remaining = shares_[s].last - shares_[s].first; remaining > 0; ++next) {
          const auto c = at(chunk_order[next]);
          remaining -= chunks.first_step[c + 1] - chunks.first_step[c];
        }
        visit(shares_[s], chunk_order.subspan(begin, next - begin), t, static_cast<Index>(s - first));
      }
    }
  };
  each_share([&](const Share&, std::span<const Index> members, int t, Index number) {
    for (const Index c : members) owner[at(c)] = {t, number + 1};
  });
  // A wait is left out where an earlier one of the same thread covers it.
  std::vector<Index> needed;
  std::vector<Index> known;
  each_share([&](Share& share, std::span<const Index> members, int t, Index number) {
    if (number == 0) known.assign(static_cast<std::size_t>(threads), 0);
    needed = known;
    for (const Index c : members) {
      for (Offset e = chunks.row_offsets[at(c)]; e < chunks.row_offsets[at(c) + 1]; ++e) {
        const Owner& from = owner[at(chunks.col_indices[static_cast<std::size_t>(e)])];
        Index& most = needed[static_cast<std::size_t>(from.thread)];
        most = std::max(most, from.finished);
      }
    }
    share.first_wait = static_cast<std::uint32_t>(waits_.size());
    for (int u = 0; u < threads; ++u) {
      const auto k = static_cast<std::size_t>(u);
      if (u != t && needed[k] != known[k]) waits_.push_back({u, needed[k]});
    }
    share.last_wait = static_cast<std::uint32_t>(waits_.size());
    known = needed;
  });
}

std::span<const ThreadPlan::Share> ThreadPlan::shares(int thread) const {
  const auto t = static_cast<std::size_t>(thread);
  return std::span(shares_).subspan(first_share_[t], first_share_[t + 1] - first_share_[t]);
}

std::span<const ThreadPlan::Wait> ThreadPlan::waits(const Share& share) const {
  return std::span(waits_).subspan(share.first_wait, share.last_wait - share.first_wait);
}

std::int64_t ThreadPlan::bytes() const {
  return static_cast<std::int64_t>(sizeof(Index) * order_.size() + sizeof(Share) * shares_.size() +
                                   sizeof(Wait) * waits_.size());
}

}  // namespace taskdag
