/// \file
/// Who runs the rows of a factorisation on host threads: a thread plan, or a program of the task engine.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "dag/plan_executor.hpp"
#include "kernels/rows/row_program.hpp"

namespace taskdag::kernels {

class HostExecutor {
 public:
  /// run: of the program; nothing: a plan. `triangle` of the pattern says which row waits for which.
  HostExecutor(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
               const std::optional<engine::StaticOptions>& run)
      : executor_(make(pattern, triangle, pool, run)) {}

  /// The plan; null where there is none.
  [[nodiscard]] std::shared_ptr<const ThreadPlan> plan() const {
    const auto* const planned = std::get_if<PlanExecutor>(&executor_);
    return planned != nullptr ? planned->shared_plan() : nullptr;
  }
  [[nodiscard]] int threads() const {
    const auto* const planned = std::get_if<PlanExecutor>(&executor_);
    return planned != nullptr ? planned->plan().threads() : std::get<RowProgram>(executor_).threads();
  }
  [[nodiscard]] RowOrder order() const {
    return std::visit([](const auto& executor) { return executor.order(); }, executor_);
  }
  /// Whether one thread runs the rows in their natural order.
  [[nodiscard]] bool serial() const { return threads() == 1 && program() == nullptr; }
  /// The program of the task engine; null where there is none.
  [[nodiscard]] const RowProgram* program() const { return std::get_if<RowProgram>(&executor_); }
  /// As PlanExecutor::run().
  template <class Rows>
  void run(const Rows& rows) {
    std::visit([&](auto& executor) { executor.run(rows); }, executor_);
  }

 private:
  using Executor = std::variant<PlanExecutor, RowProgram>;
  static Executor make(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
                       const std::optional<engine::StaticOptions>& run) {
    if (run) return Executor(std::in_place_type<RowProgram>, pattern, triangle, pool, *run);
    return Executor(std::in_place_type<PlanExecutor>,
                    std::make_shared<const ThreadPlan>(pattern, triangle, pool.processors()), pool);
  }

  Executor executor_;
};

}  // namespace taskdag::kernels
