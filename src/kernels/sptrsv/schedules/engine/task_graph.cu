#include <algorithm>
#include <vector>

#include "kernels/sptrsv/schedules/engine/task_graph.hpp"

namespace taskdag::kernels::engine_schedule {

namespace {

constexpr std::int64_t kLanes = 32;

/// A packed triangle on the host.
struct HostTasks {
  HostTasks(const PackedTriangle& packed, cudaStream_t stream)
      : task(static_cast<std::size_t>(packed.tasks().tasks)),
        column(packed.columns().size()),
        rows(packed.tasks().rows) {
    cuda::copy_to_host(task.data(), packed.tasks().task.data(), task.size(), stream);
    cuda::copy_to_host(column.data(), packed.columns().data(), column.size(), stream);
    cuda::synchronize(stream);
    task_of.resize(static_cast<std::size_t>(rows));
    for (std::size_t t = 0; t < task.size(); ++t) {
      for (Index p = task[t].first; p < task[t].first + task[t].rows; ++p) {
        task_of[static_cast<std::size_t>(p)] = static_cast<std::uint32_t>(t);
      }
    }
  }

  /// Calls found(task) for the tasks that task t waits for, some of them several times.
  template <class Found>
  void each_predecessor(std::size_t t, const Found& found) const {
    const std::int64_t begin = std::int64_t{task[t].offset} * kLanes;
    const std::int64_t end = begin + std::int64_t{task[t].width} * kLanes;
    for (std::int64_t at = begin; at < end; ++at) {
      const Index operand = column[static_cast<std::size_t>(at)];
      if (operand < rows) found(task_of[static_cast<std::size_t>(operand)]);
    }
  }

  std::vector<WarpTask> task;
  std::vector<Index> column;
  std::vector<std::uint32_t> task_of;  ///< by position
  Index rows;
};

/// Predecessors of all tasks, each once, as lists.
class Predecessors {
 public:
  /// Calls list(found) for the predecessors of the next task.
  template <class List>
  void add_task(const List& list) {
    list([&](std::uint32_t task) { predecessor_.push_back(task); });
    const auto first = predecessor_.begin() + static_cast<std::ptrdiff_t>(begin_.back());
    std::sort(first, predecessor_.end());
    predecessor_.erase(std::unique(first, predecessor_.end()), predecessor_.end());
    begin_.push_back(predecessor_.size());
  }

  void successors(engine::StaticOrder& order) const {
    const std::size_t tasks = begin_.size() - 1;
    order.successor_begin.assign(tasks + 1, 0);
    for (const std::uint32_t task : predecessor_) ++order.successor_begin[task + 1];
    for (std::size_t t = 0; t < tasks; ++t) order.successor_begin[t + 1] += order.successor_begin[t];
    order.successor.resize(predecessor_.size());
    std::vector<std::uint32_t> at(order.successor_begin.begin(), order.successor_begin.end() - 1);
    for (std::size_t t = 0; t < tasks; ++t) {
      for (std::size_t k = begin_[t]; k < begin_[t + 1]; ++k) {
        order.successor[at[predecessor_[k]]++] = static_cast<std::uint32_t>(t);
      }
    }
  }

  /// Ends of the levels of tasks first, …, end − 1, which come by level.
  void levels(std::size_t first, std::size_t end, engine::StaticOrder& order) const {
    std::vector<Index> level(end - first, 0);
    for (std::size_t t = first; t < end; ++t) {
      for (std::size_t k = begin_[t]; k < begin_[t + 1]; ++k) {
        if (predecessor_[k] < first) continue;  // of the sweep before
        level[t - first] = std::max(level[t - first], level[predecessor_[k] - first] + 1);
      }
      if (t > first && level[t - first] != level[t - first - 1])
        order.level_end.push_back(static_cast<std::uint32_t>(t));
    }
    if (end > first) order.level_end.push_back(static_cast<std::uint32_t>(end));
  }

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<std::uint32_t> predecessor_;
};

}  // namespace

engine::StaticOrder order_of(const PackedTriangle& first, const PackedTriangle* second, const Index* rhs_index,
                             engine::Dependencies dependencies, cudaStream_t stream) {
  engine::StaticOrder order;
  order.tasks.push_back(static_cast<std::uint32_t>(first.tasks().tasks));
  if (second != nullptr) order.tasks.push_back(static_cast<std::uint32_t>(second->tasks().tasks));
  if (dependencies == engine::Dependencies::ordered) return order;

  Predecessors predecessors;
  const HostTasks forward(first, stream);
  for (std::size_t t = 0; t < forward.task.size(); ++t) {
    predecessors.add_task([&](const auto& found) { forward.each_predecessor(t, found); });
  }
  predecessors.levels(0, forward.task.size(), order);
  if (second != nullptr) {
    const HostTasks backward(*second, stream);
    std::vector<Index> rhs(static_cast<std::size_t>(backward.rows));
    cuda::copy_to_host(rhs.data(), rhs_index, rhs.size(), stream);
    cuda::synchronize(stream);
    const auto offset = static_cast<std::uint32_t>(forward.task.size());
    for (std::size_t t = 0; t < backward.task.size(); ++t) {
      predecessors.add_task([&](const auto& found) {
        backward.each_predecessor(t, [&](std::uint32_t task) { found(offset + task); });
        const WarpTask& task = backward.task[t];
        for (Index p = task.first; p < task.first + task.rows; ++p) {
          const Index row = rhs[static_cast<std::size_t>(p)];
          if (row >= 0) found(forward.task_of[static_cast<std::size_t>(row)]);
        }
      });
    }
    predecessors.levels(offset, offset + backward.task.size(), order);
  }
  if (dependencies == engine::Dependencies::individual) predecessors.successors(order);
  return order;
}

}  // namespace taskdag::kernels::engine_schedule
