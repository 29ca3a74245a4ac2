/// \file
/// Rows of a triangle cut into tasks: runs of rows of one level.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/engine/static/order.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

struct RowTasks {
  /// The strict `triangle` of a square pattern.
  RowTasks(const CsrPattern& pattern, Triangle triangle);

  [[nodiscard]] std::size_t tasks() const { return begin.size() - 1; }
  [[nodiscard]] std::int64_t bytes() const;

  Index levels;
  Index widest_level;
  std::vector<Index> order;  ///< position → row, by level
  std::vector<Index> begin;  ///< of each task, and the end: positions
  std::vector<std::uint32_t> task_of_row;
  std::vector<std::vector<std::uint32_t>> predecessors;  ///< of each task, ascending
};

/// The order of one sweep, or of two in a row, where each row of the second one follows the same row of the first.
engine::StaticOrder order_of(const RowTasks& first, const RowTasks* second, engine::Dependencies dependencies);

}  // namespace taskdag::kernels
