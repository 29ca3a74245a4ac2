#include "ata_reference.hpp"

#include <algorithm>
#include <numeric>

#include "base/index.hpp"
#include "dag/dependencies.hpp"

namespace taskdag::test {
namespace {

using kernels::Aggregation;
using kernels::CoarseDag;
using kernels::kMaxAdaptiveTasks;
using kernels::kMaxCoarseEdges;

/// The rows of `order` sorted by key(row) in [0, keys), equal keys as they were.
template <class Key>
std::vector<Index> stable_by(const std::vector<Index>& order, Index keys, const Key& key) {
  std::vector<Index> next(at(keys) + 1, 0);
  for (const Index row : order) ++next[at(key(row)) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Index> sorted(order.size());
  for (const Index row : order) sorted[at(next[at(key(row))]++)] = row;
  return sorted;
}

std::vector<Index> sweep_order(const FineDag& dag) {
  std::vector<Index> order(at(dag.rows()));
  std::iota(order.begin(), order.end(), 0);
  if (dag.triangle == Triangle::upper) std::reverse(order.begin(), order.end());
  return order;
}

/// Algorithm 3: the task of each level. @returns the number of tasks
Index join_levels(const FineDag& dag, Index granularity, std::vector<Index>& task_of_level) {
  const std::vector<Index> size = rows_of_levels(dag);
  task_of_level.resize(size.size());
  Index task = 0;
  Index rows = 0;
  for (std::size_t l = 0; l < size.size(); ++l) {
    task_of_level[l] = task;
    rows += size[l];
    if (rows >= granularity) {
      ++task;
      rows = 0;
    }
  }
  return rows > 0 ? task + 1 : task;
}

/// Sets task_of_row; `by_level` is the level order of the rows, `by_step` the sweep order. @returns the number of tasks
Index assign_tasks(const FineDag& dag, Aggregation aggregation, Index granularity, const std::vector<Index>& by_level,
                   const std::vector<Index>& by_step, std::vector<Index>& task_of_row) {
  const Index n = dag.rows();
  task_of_row.assign(at(n), 0);
  const auto cut = [&](const std::vector<Index>& order) {
    for (Index p = 0; p < n; ++p) task_of_row[at(order[at(p)])] = p / granularity;
    return (n - 1) / granularity + 1;
  };
  switch (aggregation) {
    case Aggregation::sweep_order:
      return 1;
    case Aggregation::by_level:
      task_of_row = dag.level;
      return dag.levels;
    case Aggregation::concurrency: {
      std::vector<Index> task_of_level;
      const Index tasks = join_levels(dag, granularity, task_of_level);
      for (std::size_t i = 0; i < task_of_row.size(); ++i) task_of_row[i] = task_of_level[at(dag.level[i])];
      return tasks;
    }
    case Aggregation::locality:
      return cut(by_step);
    case Aggregation::greedy:
      return cut(by_level);
  }
  return 0;
}

/// Coarse edges, fine edges and which tasks have any. An edge from p to t is left out where p, p + 1, …, t − 1, t are a
/// chain of edges already: then it adds nothing.
void add_edges(const FineDag& dag, HierarchicalDag& result) {
  CoarseDag& coarse = result.coarse;
  const std::size_t tasks = at(coarse.tasks());
  coarse.tracked.assign(tasks, 0);
  std::vector<Index> seen_by(tasks, -1);
  std::vector<Index> chain_start(tasks, 0);
  std::vector<Index> found;
  for (Index t = 0; t < coarse.tasks(); ++t) {
    found.clear();
    const std::int64_t fine_before = coarse.fine_edges;
    for (Index p = coarse.first[at(t)]; p < coarse.first[at(t) + 1]; ++p) {
      const Index row = result.order[at(p)];
      for (Offset e = dag.offsets[at(row)]; e < dag.offsets[at(row) + 1]; ++e) {
        const Index other = result.task_of_row[at(dag.columns[at(e)])];
        if (other == t) {
          ++coarse.fine_edges;
        } else if (seen_by[at(other)] != t) {
          seen_by[at(other)] = t;
          found.push_back(other);
        }
      }
    }
    std::sort(found.begin(), found.end());
    coarse.tracked[at(t)] = coarse.fine_edges > fine_before ? 1 : 0;
    const bool follows = t > 0 && seen_by[at(t) - 1] == t;
    chain_start[at(t)] = follows ? chain_start[at(t) - 1] : t;
    for (const Index other : found) {
      if (!follows || other == t - 1 || other < chain_start[at(t)]) coarse.predecessors.push_back(other);
    }
    coarse.predecessor_offsets.push_back(static_cast<std::int64_t>(coarse.predecessors.size()));
  }
}

HierarchicalDag group(const FineDag& dag, Aggregation aggregation, Index granularity,
                      std::span<const std::uint8_t> lanes) {
  constexpr Index kLaneClasses = 6;
  HierarchicalDag result;
  if (dag.rows() == 0) return result;
  const std::vector<Index> by_step = sweep_order(dag);
  std::vector<Index> by_level;
  if (aggregation != Aggregation::sweep_order) {
    by_level = stable_by(by_step, kLaneClasses, [&](Index row) { return Index{lanes[at(row)]}; });
    by_level = stable_by(by_level, dag.levels, [&](Index row) { return dag.level[at(row)]; });
  }
  const Index tasks = assign_tasks(dag, aggregation, granularity, by_level, by_step, result.task_of_row);
  result.order = aggregation == Aggregation::sweep_order
                     ? by_step
                     : stable_by(by_level, tasks, [&](Index row) { return result.task_of_row[at(row)]; });
  std::vector<Index>& first = result.coarse.first;
  first.assign(at(tasks) + 1, 0);
  for (const Index task : result.task_of_row) ++first[at(task) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  add_edges(dag, result);
  return result;
}

}  // namespace

FineDag make_fine_dag(const CsrPattern& pattern, Triangle triangle, std::span<const Index> level, Index levels) {
  FineDag dag;
  dag.triangle = triangle;
  dag.level.assign(level.begin(), level.end());
  dag.levels = levels;
  for (Index i = 0; i < pattern.rows; ++i) {
    const auto columns = dependencies(pattern, triangle, i);
    dag.columns.insert(dag.columns.end(), columns.begin(), columns.end());
    const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
    for (std::size_t k = 0; k < columns.size(); ++k) dag.entry.push_back(begin + static_cast<Offset>(k));
    dag.offsets.push_back(static_cast<Offset>(dag.columns.size()));
  }
  return dag;
}

FineDag make_fine_dag(const CsrMatrix& a, Triangle triangle) {
  const Schedule schedule = make_level_schedule(a.pattern(), triangle);
  std::vector<Index> level(at(a.rows));
  for (Index l = 0; l < schedule.levels(); ++l) {
    for (Index p = schedule.level_offsets()[at(l)]; p < schedule.level_offsets()[at(l) + 1]; ++p) {
      level[at(schedule.order()[at(p)])] = l;
    }
  }
  return make_fine_dag(a.pattern(), triangle, level, schedule.levels());
}

FineDag make_successors(const FineDag& dag) {
  FineDag result;
  result.triangle = dag.triangle;
  result.level = dag.level;
  result.levels = dag.levels;
  result.offsets.assign(dag.offsets.size(), 0);
  result.columns.resize(dag.columns.size());
  result.entry.resize(dag.entry.size());
  for (const Index producer : dag.columns) ++result.offsets[at(producer) + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  std::vector<Offset> next(result.offsets.begin(), result.offsets.end() - 1);
  for (Index i = 0; i < dag.rows(); ++i) {
    for (Offset e = dag.offsets[at(i)]; e < dag.offsets[at(i) + 1]; ++e) {
      const Offset to = next[at(dag.columns[at(e)])]++;
      result.columns[at(to)] = i;
      result.entry[at(to)] = dag.entry[at(e)];
    }
  }
  return result;
}

HierarchicalDag aggregate(const FineDag& dag, Aggregation aggregation, Index granularity,
                          std::span<const std::uint8_t> lanes) {
  const bool sized = aggregation != Aggregation::by_level && aggregation != Aggregation::sweep_order;
  if (!sized || dag.rows() == 0) return group(dag, aggregation, granularity, lanes);
  const Index n = dag.rows();
  const Index most_tasks = aggregation == Aggregation::concurrency ? dag.levels : (n - 1) / granularity + 1;
  if (most_tasks > kMaxAdaptiveTasks) granularity = std::max(granularity, (n - 1) / (kMaxAdaptiveTasks - 1) + 1);
  for (;;) {
    HierarchicalDag result = group(dag, aggregation, granularity, lanes);
    result.coarse.granularity = granularity;
    if (static_cast<std::int64_t>(result.coarse.predecessors.size()) <= kMaxCoarseEdges) return result;
    granularity = granularity > n / 2 ? n : 2 * granularity;  // ends: with S = n there is one task and no coarse edge
  }
}

RowTaskList make_row_tasks(const FineDag& dag, const HierarchicalDag& hierarchy, std::span<const std::uint8_t> lanes) {
  constexpr Index kWarp = 32;
  RowTaskList result;
  for (Index t = 0; t < hierarchy.coarse.tasks(); ++t) {
    const Index end = hierarchy.coarse.first[at(t) + 1];
    for (Index p = hierarchy.coarse.first[at(t)]; p < end;) {
      const Index row = hierarchy.order[at(p)];
      const Index most = std::min(end, p + (kWarp >> lanes[at(row)]));
      Index q = p + 1;
      while (q < most && dag.level[at(hierarchy.order[at(q)])] == dag.level[at(row)] &&
             lanes[at(hierarchy.order[at(q)])] == lanes[at(row)]) {
        ++q;
      }
      result.task.push_back({p, static_cast<std::uint16_t>(q - p), lanes[at(row)]});
      p = q;
    }
    result.first.push_back(static_cast<Index>(result.task.size()));
  }
  return result;
}

std::vector<Index> rows_of_levels(const FineDag& dag) {
  std::vector<Index> size(at(dag.levels), 0);
  for (const Index level : dag.level) ++size[at(level)];
  return size;
}

}  // namespace taskdag::test
