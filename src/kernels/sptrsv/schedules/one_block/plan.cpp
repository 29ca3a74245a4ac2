#include "kernels/sptrsv/schedules/one_block/plan.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "base/index.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels::one_block {
namespace {

/// Rows by level, inside a level by how many lanes they get.
struct Sorted {
  static constexpr int kClasses = kMostLanesLog + 1;
  Index levels = 0;
  std::vector<Index> order;
  std::vector<Index> offsets;  ///< of level · kClasses + class
};

int lanes_log_for(Offset entries) {
  const auto lanes = static_cast<std::uint32_t>((entries + kRecord - 1) / kRecord);
  return lanes <= 1 ? 0 : std::min(kMostLanesLog, static_cast<int>(std::bit_width(lanes - 1)));
}

Sorted sort_rows(const StrictTriangle& triangle) {
  Sorted sorted;
  const Index rows = triangle.rows;
  std::vector<Index> level(at(rows));
  const auto visit = [&](Index i) {
    Index mine = 0;
    for (Offset e = triangle.begin[i]; e < triangle.end[i]; ++e) {
      mine = std::max(mine, level[at(triangle.columns[e])] + 1);
    }
    level[at(i)] = mine;
    sorted.levels = std::max(sorted.levels, mine + 1);
  };
  if (triangle.triangle == Triangle::lower) {
    for (Index i = 0; i < rows; ++i) visit(i);
  } else {
    for (Index i = rows; i-- > 0;) visit(i);
  }
  const auto key = [&](Index i) {
    return at(level[at(i)]) * Sorted::kClasses + at(lanes_log_for(triangle.end[i] - triangle.begin[i]));
  };
  sorted.offsets.assign(at(sorted.levels) * Sorted::kClasses + 1, 0);
  for (Index i = 0; i < rows; ++i) ++sorted.offsets[key(i) + 1];
  for (std::size_t k = 1; k < sorted.offsets.size(); ++k) sorted.offsets[k] += sorted.offsets[k - 1];
  std::vector<Index> next(sorted.offsets.begin(), sorted.offsets.end() - 1);
  sorted.order.resize(at(rows));
  for (Index i = 0; i < rows; ++i) sorted.order[at(next[key(i)]++)] = i;
  return sorted;
}

/// Threads of a level's rows, in the mean.
std::int64_t threads_a_level(const Sorted& sorted) {
  if (sorted.levels == 0) return 0;
  std::int64_t lanes = 0;
  for (std::size_t k = 0; k + 1 < sorted.offsets.size(); ++k) {
    const auto rows = static_cast<std::int64_t>(sorted.offsets[k + 1] - sorted.offsets[k]);
    lanes += rows << (k % Sorted::kClasses);
  }
  return lanes / sorted.levels;
}

/// Steps of one triangle behind those that are there.
class Layout {
 public:
  Layout(Plan& plan, const StrictTriangle& triangle) : plan_(plan), triangle_(triangle) {}

  void take(const Sorted& sorted) {
    for (Index level = 0; level < sorted.levels; ++level) {
      const std::size_t before = plan_.steps.size();
      for (int lanes_log = 0; lanes_log < Sorted::kClasses; ++lanes_log) {
        const std::size_t key = at(level) * Sorted::kClasses + at(lanes_log);
        const Index most = plan_.threads >> lanes_log;
        for (Index p = sorted.offsets[key]; p < sorted.offsets[key + 1]; p += most) {
          const Index rows = std::min(most, sorted.offsets[key + 1] - p);
          add(sorted.order.data() + p, rows, lanes_log);
        }
      }
      close_level(before);
    }
  }

 private:
  void add(const Index* rows, Index count, int lanes_log) {
    const Index lanes = Index{1} << lanes_log;
    const Index width = (count * lanes + kWarp - 1) / kWarp * kWarp;
    Offset records = 0;
    for (Index r = 0; r < count; ++r) {
      const Offset mine = triangle_.end[rows[r]] - triangle_.begin[rows[r]];
      records = std::max(records, (mine + lanes * kRecord - 1) / (lanes * kRecord));
    }
    const std::size_t first = plan_.column.size() / kRecord;
    const std::size_t end = first + at(width) * at(records);
    if (end * kRecord > at(std::numeric_limits<Offset>::max())) {
      throw Unsupported("the schedule one-block has no room for so many entries");
    }
    plan_.steps.push_back({static_cast<Offset>(first), static_cast<Index>(plan_.row.size()),
                           static_cast<std::uint16_t>(width), static_cast<std::uint8_t>(lanes_log), Barrier::none,
                           records});
    plan_.row.insert(plan_.row.end(), rows, rows + count);
    plan_.row.resize(plan_.row.size() + at(width / lanes - count), -1);
    plan_.column.resize(end * kRecord, -1);
    plan_.source.resize(end * kRecord, -1);
    for (Index r = 0; r < count; ++r) {
      const Offset begin = triangle_.begin[rows[r]];
      for (Offset e = begin; e < triangle_.end[rows[r]]; ++e) {
        const Offset record = (e - begin) / kRecord;
        const std::size_t number = first + at(record / lanes) * at(width) + at(r * lanes + record % lanes);
        const std::size_t slot = number * kRecord + at((e - begin) % kRecord);
        plan_.column[slot] = triangle_.columns[e];
        plan_.source[slot] = e;
      }
    }
  }

  void close_level(std::size_t before) {
    std::vector<Step>& steps = plan_.steps;
    if (steps.size() == before) return;
    const bool narrow = steps.size() == before + 1 && steps.back().width == kWarp;  // the first warp's alone
    // The level before is over: what separates it from this one is known now.
    if (before > 0) steps[before - 1].barrier = narrow && narrow_before_ ? Barrier::warp : Barrier::block;
    narrow_before_ = narrow;
    steps.back().barrier = Barrier::block;
  }

  Plan& plan_;
  const StrictTriangle& triangle_;
  bool narrow_before_ = false;
};

}  // namespace

Plan make_plan(const std::vector<StrictTriangle>& triangles) {
  Plan plan;
  // The vector's elements are counted in bytes.
  constexpr Index kMostRows = std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(double)) - 1;
  std::vector<Sorted> sorted;
  std::int64_t width = 0;
  std::size_t rows = 0;
  for (const StrictTriangle& triangle : triangles) {
    if (triangle.rows > kMostRows) throw Unsupported("the schedule one-block has no room for so many rows");
    sorted.push_back(sort_rows(triangle));
    width = std::max(width, threads_a_level(sorted.back()));
    rows += at(triangle.rows);
  }
  // Twice the mean, so that most levels are one step; fewer threads wait for each other sooner.
  constexpr std::int64_t kLeastThreads = std::int64_t{4} * kWarp;
  const std::int64_t threads = std::clamp<std::int64_t>(2 * width, kLeastThreads, kMostThreads);
  plan.threads = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(threads)));
  plan.row.reserve(rows);
  for (std::size_t k = 0; k < triangles.size(); ++k) {
    plan.sweeps.push_back({plan.row.size(), plan.column.size(), sorted[k].levels});
    Layout(plan, triangles[k]).take(sorted[k]);
  }
  return plan;
}

Index runs_that_pay(const Plan& plan) {
  // In the first process that does it, setting up other schedules takes 6 ms more, a step 0.4 µs more than with these
  // (docs/notes/set-up.md).
  constexpr std::int64_t kStepsThatPay = 15000;
  std::int64_t steps = 0;
  for (const Step& step : plan.steps) steps += std::max(1, step.records);
  return static_cast<Index>(std::max<std::int64_t>(1, kStepsThatPay / std::max<std::int64_t>(1, steps)));
}

}  // namespace taskdag::kernels::one_block
