/// \file
/// The levels of a cycle, and how their rows are shared out.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cycles/stages.hpp"
#include "krylov/device.hpp"
#include "krylov/shape.hpp"
#include "taskdag/cycle.hpp"
#include "taskdag/engine/loop/host.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::cycles {

/// A matrix of no more rows and entries is small: one cluster of thread blocks is as fast with it as a whole device,
/// which needs a launch for each stage.
inline constexpr std::int64_t most_small_rows = 16384;
inline constexpr std::int64_t most_small_entries = 100000;

inline bool is_small(std::int64_t rows, std::int64_t entries) {
  return rows <= most_small_rows && entries <= most_small_entries;
}

/// How many threads of CUDA share a row of a small matrix: as many as have entries and as a cluster has.
inline int threads_of_small_row(std::int64_t rows, std::int64_t entries) {
  std::int64_t threads = 1;
  while (threads < 32 && threads * rows < entries && 2 * threads * rows <= most_small_rows) threads *= 2;
  return static_cast<int>(threads);
}

/// Rows that a stage has a task for each of: those of a matrix, and how they are shared out.
class SharedRows {
 public:
  SharedRows() = default;
  SharedRows(const Context& context, const CsrView& matrix)
      : count_(static_cast<std::uint32_t>(matrix.pattern.rows)),
        rows_{matrix.pattern.row_offsets, matrix.pattern.col_indices, matrix.values} {
    if (context.backend() == Backend::host) {
      validate(matrix.pattern);
      entries_ = matrix.pattern.entries();
      share_out(context, krylov::cut_rows(matrix.pattern, 1, krylov::threads_of_loop(context, count_, entries_)));
    } else {
      entries_ = krylov::count_entries(matrix.pattern, {});
      row_threads_ = is_small() ? threads_of_small_row(count_, entries_) : krylov::threads_of_row(count_, entries_);
    }
  }
  /// Those of a dense inverse, which are few.
  static SharedRows of_inverse(const Context& context, Index rows) {
    SharedRows shared;
    shared.count_ = static_cast<std::uint32_t>(rows);
    shared.entries_ = std::int64_t{rows} * rows;
    shared.row_threads_ = 32;
    if (context.backend() == Backend::host) shared.share_out(context, {0U, shared.count_});
    return shared;
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  [[nodiscard]] int row_threads() const { return row_threads_; }
  [[nodiscard]] bool is_small() const { return cycles::is_small(count_, entries_); }
  /// Host.
  [[nodiscard]] engine::HostFlow& flow() const { return *flow_; }

 private:
  void share_out(const Context& context, std::vector<std::uint32_t> cut) {
    cut_ = std::make_unique<std::vector<std::uint32_t>>(std::move(cut));
    flow_ = std::make_unique<engine::HostFlow>(context, *cut_);
  }

  std::uint32_t count_ = 0;
  Rows rows_;
  std::int64_t entries_ = 0;
  int row_threads_ = 1;
  std::unique_ptr<std::vector<std::uint32_t>> cut_;  ///< where the flow finds it
  std::unique_ptr<engine::HostFlow> flow_;
};

/// A level, and the memory that a cycle needs there.
struct Level {
  SharedRows a;              ///< of the coarsest, where there is an inverse, that
  SharedRows interpolation;  ///< from the next coarser level
  SharedRows restriction;    ///< to it
  CycleSmoother before;
  CycleSmoother after;
  int visits = 1;
  engine::Array<double> b;  ///< not on the finest level
  engine::Array<double> x[2];
  engine::Array<double> residual;
  engine::Array<double> scaled;  ///< M⁻¹ r, where M is a call

  [[nodiscard]] std::uint32_t rows() const { return a.count(); }
  [[nodiscard]] bool is_small() const;
  [[nodiscard]] bool leads_to_small() const { return interpolation.is_small() && restriction.is_small(); }
};

inline bool calls(const CycleSmoother& smoother) {
  return smoother.preconditioner != nullptr && smoother.preconditioner->diagonal() == nullptr;
}

inline bool Level::is_small() const { return a.is_small() && !calls(before) && !calls(after); }

}  // namespace taskdag::cycles
