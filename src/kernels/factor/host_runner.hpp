/// \file
/// Who runs the rows of a factorisation on host threads: a thread plan, or a program of the task engine.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "dag/plan_runner.hpp"
#include "kernels/rows/row_program.hpp"

namespace taskdag::kernels {

class HostRunner {
 public:
  /// run: of the program; nothing: a plan. `triangle` of the pattern says which row waits for which.
  HostRunner(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
             const std::optional<engine::StaticOptions>& run)
      : runner_(make(pattern, triangle, pool, run)) {}

  /// The plan; null where there is none.
  [[nodiscard]] std::shared_ptr<const ThreadPlan> plan() const {
    const auto* const planned = std::get_if<PlanRunner>(&runner_);
    return planned != nullptr ? planned->shared_plan() : nullptr;
  }
  [[nodiscard]] int threads() const {
    const auto* const planned = std::get_if<PlanRunner>(&runner_);
    return planned != nullptr ? planned->plan().threads() : std::get<RowProgram>(runner_).threads();
  }
  [[nodiscard]] RowOrder order() const {
    return std::visit([](const auto& runner) { return runner.order(); }, runner_);
  }
  /// Whether one thread runs the rows in their natural order.
  [[nodiscard]] bool in_turn() const { return threads() == 1 && program() == nullptr; }
  /// The program of the task engine; null where there is none.
  [[nodiscard]] const RowProgram* program() const { return std::get_if<RowProgram>(&runner_); }
  /// As PlanRunner::run().
  template <class Rows>
  void run(const Rows& rows) {
    std::visit([&](auto& runner) { runner.run(rows); }, runner_);
  }

 private:
  using Runner = std::variant<PlanRunner, RowProgram>;
  static Runner make(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
                     const std::optional<engine::StaticOptions>& run) {
    if (run) return Runner(std::in_place_type<RowProgram>, pattern, triangle, pool, *run);
    return Runner(std::in_place_type<PlanRunner>,
                  std::make_shared<const ThreadPlan>(pattern, triangle, pool.processors()), pool);
  }

  Runner runner_;
};

}  // namespace taskdag::kernels
