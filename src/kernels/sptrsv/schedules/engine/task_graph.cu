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

}  // namespace

engine::StaticOrder order_of(const PackedTriangle& first, const PackedTriangle* second, const Index* rhs_index,
                             engine::Dependencies dependencies, cudaStream_t stream) {
  if (dependencies == engine::Dependencies::ordered) {
    engine::StaticOrder order{{static_cast<std::uint32_t>(first.tasks().tasks)}};
    if (second != nullptr) order.tasks.push_back(static_cast<std::uint32_t>(second->tasks().tasks));
    return order;
  }
  engine::StaticOrderBuilder builder;
  std::vector<std::uint32_t> predecessors;
  const HostTasks forward(first, stream);
  builder.begin_type();
  for (std::size_t t = 0; t < forward.task.size(); ++t) {
    predecessors.clear();
    forward.each_predecessor(t, [&](std::uint32_t task) { predecessors.push_back(task); });
    builder.add_task(predecessors);
  }
  if (second != nullptr) {
    const HostTasks backward(*second, stream);
    const auto rhs = cuda::fetch_array(rhs_index, static_cast<std::size_t>(backward.rows), stream);
    const auto offset = static_cast<std::uint32_t>(forward.task.size());
    builder.begin_type();
    for (std::size_t t = 0; t < backward.task.size(); ++t) {
      predecessors.clear();
      backward.each_predecessor(t, [&](std::uint32_t task) { predecessors.push_back(offset + task); });
      const WarpTask& task = backward.task[t];
      for (Index p = task.first; p < task.first + task.rows; ++p) {
        const Index position = rhs[static_cast<std::size_t>(p)];
        if (position >= 0) predecessors.push_back(forward.task_of[static_cast<std::size_t>(position)]);
      }
      builder.add_task(predecessors);
    }
  }
  return builder.order(dependencies);
}

}  // namespace taskdag::kernels::engine_schedule
