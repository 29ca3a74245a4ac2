#include "kernels/rows/row_tasks.hpp"

#include <algorithm>

#include "dag/dependencies.hpp"

namespace taskdag::kernels {

namespace {

/// Few enough that a level of some hundred rows keeps several threads at work.
constexpr Index kRowsOfTask = 32;

}  // namespace

RowTasks::RowTasks(const CsrPattern& pattern, Triangle triangle) : begin{0} {
  const Schedule schedule = make_level_schedule(pattern, triangle);
  levels = schedule.levels();
  widest_level = schedule.widest_level();
  order.assign(schedule.order().begin(), schedule.order().end());
  const auto level_begin = schedule.level_offsets();
  for (std::size_t level = 1; level < level_begin.size(); ++level) {
    while (begin.back() < level_begin[level]) {
      begin.push_back(std::min(begin.back() + kRowsOfTask, level_begin[level]));
    }
  }
  task_of_row.resize(order.size());
  predecessors.resize(tasks());
  for (std::size_t task = 0; task < tasks(); ++task) {
    std::vector<std::uint32_t>& mine = predecessors[task];
    for (Index p = begin[task]; p < begin[task + 1]; ++p) {
      const Index row = order[static_cast<std::size_t>(p)];
      task_of_row[static_cast<std::size_t>(row)] = static_cast<std::uint32_t>(task);
      for (const Index j : dependencies(pattern, triangle, row))
        mine.push_back(task_of_row[static_cast<std::size_t>(j)]);
    }
    std::ranges::sort(mine);
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
}

std::int64_t RowTasks::bytes() const {
  std::size_t edges = 0;
  for (const auto& mine : predecessors) edges += mine.size();
  return static_cast<std::int64_t>(sizeof(Index) * (order.size() + begin.size()) +
                                   sizeof(std::uint32_t) * (task_of_row.size() + edges) +
                                   sizeof(std::vector<std::uint32_t>) * predecessors.size());
}

engine::StaticOrder order_of(const RowTasks& first, const RowTasks* second, engine::Dependencies dependencies) {
  engine::StaticOrderBuilder builder;
  builder.begin_type();
  for (const auto& predecessors : first.predecessors) builder.add_task(predecessors);
  if (second == nullptr) return builder.order(dependencies);
  builder.begin_type();
  const auto offset = static_cast<std::uint32_t>(first.tasks());
  std::vector<std::uint32_t> predecessors;
  for (std::size_t task = 0; task < second->tasks(); ++task) {
    predecessors.clear();
    for (const std::uint32_t other : second->predecessors[task]) predecessors.push_back(offset + other);
    for (Index p = second->begin[task]; p < second->begin[task + 1]; ++p) {
      const Index row = second->order[static_cast<std::size_t>(p)];
      predecessors.push_back(first.task_of_row[static_cast<std::size_t>(row)]);
    }
    builder.add_task(predecessors);
  }
  return builder.order(dependencies);
}

}  // namespace taskdag::kernels
