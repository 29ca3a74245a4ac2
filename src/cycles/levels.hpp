/// \file
/// The levels of a cycle, and how their rows are shared out.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "cycles/stages.hpp"
#include "krylov/device.hpp"
#include "krylov/null_space.hpp"
#include "krylov/ranks.hpp"
#include "krylov/shape.hpp"
#include "krylov/system.hpp"
#include "taskdag/cycle.hpp"
#include "taskdag/engine/loop/host.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cycles {

/// A level of no more rows, whose matrices have no more entries, is small: what is done from there on is a dense matrix
/// on CUDA.
inline constexpr std::int64_t most_small_rows = 1000;
inline constexpr std::int64_t most_small_entries = 300000;

inline bool is_small(std::int64_t rows, std::int64_t entries) {
  return rows <= most_small_rows && entries <= most_small_entries;
}

/// How many threads of CUDA share a row: where there are few rows as many as have entries, while a device has all of
/// them at a time; what each of them waits for is what counts then.
inline int threads_of_row(std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t at_a_time = 131072;
  std::int64_t threads = krylov::threads_of_row(rows, entries);
  constexpr std::int64_t most = engine::most_threads_of_task;
  while (threads < most && threads * rows < entries && 2 * threads * rows <= at_a_time) threads *= 2;
  return static_cast<int>(threads);
}

/// Rows that a stage has a task for each of: those of a matrix, and how they are shared out.
class SharedRows {
 public:
  SharedRows() = default;
  SharedRows(const Context& context, const CsrView& matrix)
      : count_(static_cast<std::uint32_t>(matrix.pattern.rows)),
        rows_{matrix.pattern.row_offsets, {matrix.pattern.col_indices}, matrix.values, 1} {
    if (context.backend() == Backend::host) {
      validate(matrix.pattern);
      entries_ = matrix.pattern.entries();
      share_out(context, krylov::cut_rows(matrix.pattern, 1, krylov::threads_of_loop(context, count_, entries_)));
    } else {
      entries_ = krylov::count_entries(matrix.pattern, {});
      row_threads_ = threads_of_row(count_, entries_);
      distances_ = krylov::DiagonalDistances(context, matrix.pattern, entries_, {});
      rows_.columns.distance = distances_.data();
    }
  }
  /// Those of a matrix whose entries in columns of other ranks stand apart.
  SharedRows(const Context& context, const CsrView& own, const CsrView& outer) : SharedRows(context, own) {
    const bool host = context.backend() == Backend::host;
    if (outer.pattern.rows != own.pattern.rows)
      throw InvalidInput("entries in columns of other ranks have a row for each row of the matrix");
    if (host) validate(outer.pattern);
    any_outer_ = krylov::mark_outer_rows(context, outer.pattern, {});
    entries_ += host ? outer.pattern.entries() : krylov::count_entries(outer.pattern, {});  // waits for both
    outer_ = outer;
  }
  /// Where there is one rank: rows with the same columns are done together from now on.
  void group_rows(const Context& context, const CsrPattern& pattern) {
    const bool host = context.backend() == Backend::host;
    rows_.together = host ? krylov::rows_together(pattern) : krylov::rows_together(context, pattern, entries_, {});
  }
  /// So many tasks that are no rows of a matrix.
  static SharedRows of_tasks(const Context& context, std::uint32_t count) {
    SharedRows shared;
    shared.count_ = count;
    if (context.backend() == Backend::host) shared.share_out(context, {0U, count});
    return shared;
  }
  /// Those of a dense inverse, which are few.
  static SharedRows of_inverse(const Context& context, Index rows) {
    SharedRows shared;
    shared.count_ = static_cast<std::uint32_t>(rows);
    shared.entries_ = std::int64_t{rows} * rows;
    shared.row_threads_ = threads_of_row(rows, shared.entries_);
    if (context.backend() == Backend::host) shared.share_out(context, {0U, shared.count_});
    return shared;
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] const Rows& rows() const { return rows_; }
  [[nodiscard]] std::int64_t entries() const { return entries_; }
  /// Held beside the matrix.
  [[nodiscard]] std::int64_t bytes() const {
    return rows_.columns.distance != nullptr ? entries_ * static_cast<std::int64_t>(sizeof(std::int16_t)) : 0;
  }
  [[nodiscard]] int row_threads() const { return row_threads_; }
  [[nodiscard]] bool is_small() const { return cycles::is_small(count_, entries_); }

  /// Ranks: slots of a product, on all ranks, 0 where none is needed; and the halo of the first product of an
  /// application.
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] const krylov::Halo& halo() const { return halo_; }
  void set_slots(std::size_t slots) { slots_ = slots; }
  /// Of its memory and lists; entries are those that it was made of. What its stages add up is added up over the ranks
  /// from now on.
  void set_halo(const Context& context, const krylov::Halo& halo) {
    halo_ = halo;
    halo_.begin = outer_.pattern.row_offsets;
    halo_.any = any_outer_.data();
    halo_.column = outer_.pattern.col_indices;
    halo_.value = outer_.values;
    if (context.backend() == Backend::host) flow_ = std::make_unique<engine::HostFlow>(context, *cut_, halo_.links);
  }
  /// Host.
  [[nodiscard]] engine::HostFlow& flow() const { return *flow_; }

 private:
  void share_out(const Context& context, std::vector<std::uint32_t> cut) {
    cut_ = std::make_unique<std::vector<std::uint32_t>>(std::move(cut));
    flow_ = std::make_unique<engine::HostFlow>(context, *cut_);
  }

  std::uint32_t count_ = 0;
  Rows rows_;
  krylov::DiagonalDistances distances_;  ///< CUDA
  std::int64_t entries_ = 0;
  int row_threads_ = 1;
  CsrView outer_{};  ///< entries in columns of other ranks
  engine::Array<std::uint32_t> any_outer_;
  std::size_t slots_ = 0;
  krylov::Halo halo_{};
  std::unique_ptr<std::vector<std::uint32_t>> cut_;  ///< where the flow finds it
  std::unique_ptr<engine::HostFlow> flow_;
};

/// A level, and vectors of it, which lie one after the other in memory that the cycle has.
struct Level {
  SharedRows a;              ///< of the coarsest, where there is an inverse, that
  SharedRows interpolation;  ///< from the next coarser level
  SharedRows restriction;    ///< to it
  CycleSmoother before;
  CycleSmoother after;
  int visits = 1;
  bool dealt_out = false;  ///< to ranks; else each has the level as a whole
  bool gathers = false;    ///< it is the last one that is dealt out
  /// Of the next one then: its elements, and those that this rank makes.
  SharedRows gathered;
  double* restricted = nullptr;
  std::uint32_t first_restricted = 0;  ///< of all
  double* b = nullptr;                 ///< not of the finest level, whose right-hand side is the caller's
  double* x[2] = {};                   ///< of the finest level the first one alone; the other one is the caller's
  double* residual = nullptr;
  double* scaled = nullptr;                  ///< M⁻¹ r, where M is applied apart; else null
  double* rest = nullptr;                    ///< of b without the left null space, where there is one
  krylov::NullSpaceVectors null_space;       ///< from M⁻¹ r
  krylov::NullSpaceVectors left_null_space;  ///< from right-hand sides

  [[nodiscard]] std::uint32_t rows() const { return a.count(); }
  [[nodiscard]] bool is_small() const;
  [[nodiscard]] bool removes() const { return null_space.any() || left_null_space.any(); }
  /// Whether M of the smoother is no part of a step's stage.
  [[nodiscard]] bool applies_apart(const CycleSmoother& smoother) const;
  [[nodiscard]] bool leads_to_small() const { return interpolation.is_small() && restriction.is_small(); }
  /// Elements of `restricted`.
  [[nodiscard]] std::size_t own_of_next() const { return gathers ? restriction.count() : 0U; }
  /// How many numbers the vectors have.
  [[nodiscard]] std::size_t room(bool finest) const;
  void put_vectors_to(double* memory, bool finest);
};

inline bool calls(const CycleSmoother& smoother) {
  return smoother.preconditioner != nullptr && smoother.preconditioner->diagonal() == nullptr;
}

inline bool Level::applies_apart(const CycleSmoother& smoother) const { return calls(smoother) || removes(); }
inline bool Level::is_small() const {
  return !dealt_out && a.is_small() && !applies_apart(before) && !applies_apart(after);
}
inline std::size_t Level::room(bool finest) const {
  std::size_t vectors = finest ? 2 : 4;
  if (applies_apart(before) || applies_apart(after)) ++vectors;
  if (left_null_space.any()) ++vectors;
  return vectors * rows() + own_of_next();
}
inline void Level::put_vectors_to(double* memory, bool finest) {
  const auto take = [&](double** vector) { *vector = std::exchange(memory, memory + rows()); };
  take(&x[0]);
  take(&residual);
  if (!finest) take(&b);
  if (!finest) take(&x[1]);
  if (applies_apart(before) || applies_apart(after)) take(&scaled);
  if (left_null_space.any()) take(&rest);
  if (own_of_next() > 0) restricted = memory;
}

}  // namespace taskdag::cycles
