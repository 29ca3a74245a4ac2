/// \file
/// Runs the rows of a triangle as a static program of the task engine, on host threads: what PlanExecutor does with a
/// plan.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "dag/row_order.hpp"
#include "kernels/rows/row_tasks.hpp"

namespace taskdag::kernels {

class RowProgram {
 public:
  /// The strict `triangle` of a square pattern says which row waits for which. The pool must outlive the program.
  RowProgram(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
             const engine::StaticOptions& options);
  RowProgram(RowProgram&&) noexcept;
  RowProgram& operator=(RowProgram&&) noexcept;
  ~RowProgram();

  [[nodiscard]] int threads() const { return threads_; }
  /// The row at each position.
  [[nodiscard]] RowOrder order() const { return RowOrder(tasks_.order); }
  [[nodiscard]] engine::Report report() const;
  [[nodiscard]] std::int64_t bytes() const;

  /// Calls rows(thread, first, last) for ranges of positions that together are all of them, each after what it waits
  /// for, which it then sees. `rows` may not throw.
  template <class Rows>
  void run(const Rows& rows) {
    run({&rows, [](const void* target, int thread, Index first, Index last) {
           (*static_cast<const Rows*>(target))(thread, first, last);
         }});
  }

  struct Body {
    const void* target;
    void (*run)(const void* target, int thread, Index first, Index last);
  };

 private:
  struct Program;
  void run(const Body& body);

  int threads_;
  RowTasks tasks_;
  std::vector<std::uint32_t> ended_;  ///< by task: runs in which it has ended, numbered from 1
  std::unique_ptr<Program> program_;
};

}  // namespace taskdag::kernels
