/// \file
/// Several right-hand sides in one loop: what a method does of one of them, done for all. A column is a slice of each
/// stage, so its sums have the order and the bits that they have in a loop of its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include "krylov/column.hpp"
#include "krylov/system.hpp"
#include "taskdag/engine/loop/stage.hpp"

namespace taskdag::krylov {

/// The right-hand sides of a loop, a column each.
struct RightHandSides {
  std::uint32_t count = 1;
  std::size_t stride = 0;                  ///< elements from a work vector of a column to the same of the next
  const std::uint32_t* at_work = nullptr;  ///< a word each: LoopCondition::word of the column
};

/// What a stage of one column's loop is in that of another: the stages of methods have their Data, called d, and those
/// of system.hpp know it themselves.
template <class S>
TASKDAG_TASK S stage_of(const S& stage, const Column& column) {
  if constexpr (requires { stage.d; }) {
    S one = stage;
    one.d = stage.d.at(column);
    return one;
  } else {
    return stage.at(column);
  }
}

/// A stage of column 0 as a stage of all. A column whose loop has ended is idle.
template <class S>
struct StageOfColumns {
  static constexpr const char* name = S::name;
  static constexpr int sums = engine::stage_sums<S>();
  S stage;
  RightHandSides columns;

  [[nodiscard]] TASKDAG_TASK std::uint32_t slices() const { return columns.count; }
  [[nodiscard]] std::uint32_t most_slices() const { return columns.count; }
  [[nodiscard]] TASKDAG_TASK bool idle(std::uint32_t column) const { return columns.at_work[column] == 0; }
  [[nodiscard]] TASKDAG_TASK auto worker(std::uint32_t column) const {
    const S one = of(column);
    if constexpr (requires { one.worker(); }) {
      return one.worker();
    } else {
      return one;
    }
  }
  TASKDAG_TASK void finish(std::uint32_t column, const double* sum) const requires engine::stage_finishes<S> {
    of(column).finish(sum);
  }

 private:
  [[nodiscard]] TASKDAG_TASK S of(std::uint32_t column) const { return stage_of(stage, {column, columns.stride}); }
};

/// An application of the preconditioner to a vector of each column, ended or not.
struct ApplicationToColumns {
  static constexpr const char* name = Application::name;
  Application one;
  RightHandSides columns;
  void operator()(Stream stream) const {
    const auto stride = static_cast<std::int64_t>(columns.stride);
    one.map->apply_columns(static_cast<Index>(columns.count), one.x, stride, one.y, stride, stream);
  }
};

/// Does for all columns what a method writes down for one, whose stages do not decide what comes next in a turn.
template <class Flow>
class ColumnsFlow {
 public:
  static constexpr bool calls = true;
  static constexpr bool ranks = false;
  static constexpr bool several = true;

  ColumnsFlow(Flow& flow, const RightHandSides& of) : flow_(flow), columns_(of) {}
  template <class S>
  void stage(const S& stage, std::uint32_t tasks) {
    flow_.stage(StageOfColumns<S>{stage, columns_}, tasks);
  }
  void call(const Application& one) { flow_.call(ApplicationToColumns{one, columns_}); }

 private:
  Flow& flow_;
  RightHandSides columns_;
};

/// Whether a method has several columns.
template <class Method>
inline constexpr bool has_columns = requires(const typename Method::Data& data) {
  data.at(Column{});
};

/// work(flow), or with a flow for all columns where there are several.
template <class Method, class Flow, class Work>
void with_columns(Flow& flow, const RightHandSides& columns, const Work& work) {
  if constexpr (has_columns<Method>) {
    if (columns.count > 1) {
      ColumnsFlow<Flow> all(flow, columns);
      return work(all);
    }
  }
  work(flow);
}

}  // namespace taskdag::krylov
