/// \file
/// Adaptive task aggregation (ATA) on the device: from the fine DAG of the rows to a hierarchical DAG of adaptive
/// tasks. Rows and entries stay in device memory: sorts, scans and one pass over the edges. The host sees what there is
/// one of for each level, each task and each pair of tasks, and decides about these (coarse_dag.hpp).
#pragma once

#include "papers/helal/coarse_dag.hpp"
#include "papers/helal/fine_dag.hpp"

namespace taskdag::kernels {

/// What kernels need of the rows in SET order (section III-B1: by level, inside a level by neighbourhood, rows with as
/// many lanes together).
struct SetOrder {
  cuda::DeviceArray<Index> order;   ///< position → row
  cuda::DeviceArray<RowTask> task;  ///< of one adaptive task after the other
  cuda::DeviceArray<Index> first;   ///< adaptive task → its first row task; one more at the end
};

/// These rows, grouped into adaptive tasks.
struct HierarchicalDag {
  CoarseDag coarse;
  SetOrder rows;
  cuda::ScratchArray<Index> task_of_row;  ///< row → adaptive task
  cuda::ScratchArray<Index> inside;       ///< row → operands of its own adaptive task
  double milliseconds = 0.0;              ///< that aggregate() took
};

/// `lanes`: log2 of the lanes of each row's worker, device memory. `granularity` S >= 1 (ignored by by_level and
/// sweep_order). Synchronises `stream`.
HierarchicalDag aggregate(const FineDag& dag, Aggregation aggregation, Index granularity, const std::uint8_t* lanes,
                          cudaStream_t stream);

}  // namespace taskdag::kernels
