/// \file
/// The state of a loop in memory of its backend, and the test for convergence.
#pragma once

#include <cstdint>

#include "krylov/column.hpp"
#include "krylov/number.hpp"
#include "taskdag/engine/loop/stage.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::krylov {

/// What a solve goes by and how far it is. The host writes the first part before a solve, and pause_at before each call
/// of go_on(); all the rest is written by stages' finish() alone, one worker at a time.
struct Control {
  const double* b;
  double* x;
  double relative;
  double absolute;
  double divergence;
  std::int64_t limit;     ///< of iterations
  std::int64_t least;     ///< iterations before convergence is looked at
  std::int64_t pause_at;  ///< iterations after which the host has its turn
  std::uint32_t guess;
  std::uint32_t from_initial_residual;
  std::uint32_t from_smaller;
  std::uint32_t norm;  ///< a KrylovNorm

  std::int64_t iterations;  ///< that have been tested, or begun where one has ended the loop
  std::int64_t kept;        ///< norms of this piece of the loop that are in the array of norms
  double last_norm;
  double reference;  ///< norm of the right-hand side, where there is a guess; then what `target` is relative to
  double target;
  std::int32_t reason;
};

TASKDAG_TASK inline void end_with(Control& control, KrylovReason reason) {
  control.reason = static_cast<std::int32_t>(reason);
}

/// Whether there is another iteration before the host has its turn.
TASKDAG_TASK inline bool goes_on(const Control& control) {
  return control.reason == 0 && control.iterations < control.pause_at;
}

/// Norms that are kept until the host fetches them.
inline constexpr std::int64_t most_norms = 16384;

/// The state of a column and the first norms after it: what one copy fetches.
struct Page {
  static constexpr std::int64_t norms_at_once = 512;
  Control control;
  double norms[static_cast<std::size_t>(most_norms)];
};

/// What all stages of a method see of it.
///
/// finish() is one worker's, and each value that it reads from memory takes it as long as the sums of a stage do. So it
/// reads all that it needs at once, decides, and writes all of it back: read(), take_norm(), end_with(), write() or
/// write_within().
/// test() and end() are these in one.
struct LoopState {
  Control* control = nullptr;
  double* norms = nullptr;         ///< since the host has had its turn
  double* coefficients = nullptr;  ///< a pair beside each norm; null: not asked for
  engine::LoopCondition again{};   ///< whether there is another iteration now

  /// That of a column: pages, pairs and words of several stand one after the other.
  [[nodiscard]] TASKDAG_TASK LoopState at(const Column& column) const {
    Page* const page = column.of(reinterpret_cast<Page*>(control), 1);
    return {&page->control,
            page->norms,
            column.of(coefficients, 2 * static_cast<std::size_t>(most_norms)),
            {column.of(again.word, 1), again.node}};
  }
  [[nodiscard]] TASKDAG_TASK bool ended() const { return control->reason != 0; }
  [[nodiscard]] TASKDAG_TASK Control read() const { return *control; }
  /// By the stage that has tested the iteration.
  TASKDAG_TASK void write(const Control& changed) const {
    *control = changed;
    again.set(goes_on(changed));
  }
  /// By a stage before that: the iteration goes on unless there is a reason.
  TASKDAG_TASK void write_within(const Control& changed) const {
    *control = changed;
    if (changed.reason != 0) again.set(false);
  }
  /// Of iteration c.iterations: keeps it, and tests it. A norm that is not finite ends the loop. After PETSc's
  /// KSPConvergedDefault(), KSPConvergedSkip() for KrylovNorm::none.
  TASKDAG_TASK void take_norm(Control& c, double norm) const;

  TASKDAG_TASK void end(KrylovReason reason) const {
    control->reason = static_cast<std::int32_t>(reason);
    again.set(false);
  }
  TASKDAG_TASK void test(double norm) const {
    Control c = read();
    take_norm(c, norm);
    write(c);
  }
  /// Before the norm that they belong to.
  TASKDAG_TASK void keep(const Control& c, double alpha, double beta) const {
    if (coefficients == nullptr) return;
    coefficients[2 * c.kept] = alpha;
    coefficients[2 * c.kept + 1] = beta;
  }
};

/// What a norm says in the test of iteration control.iterations.
TASKDAG_TASK inline KrylovReason reason_of(const Control& control, double norm) {
  if (!is_finite(norm)) return KrylovReason::not_a_number;
  if (static_cast<KrylovNorm>(control.norm) == KrylovNorm::none) {
    return control.iterations >= control.limit ? KrylovReason::iterations : KrylovReason::iterating;
  }
  if (control.iterations >= control.least) {
    if (norm <= control.target) {
      return norm < control.absolute ? KrylovReason::absolute_tolerance : KrylovReason::relative_tolerance;
    }
    if (norm >= control.divergence * control.reference) return KrylovReason::divergence;
  }
  return control.iterations >= control.limit ? KrylovReason::iteration_limit : KrylovReason::iterating;
}

/// What later norms are held against, from the norm of iteration 0.
TASKDAG_TASK inline void take_reference(Control& control, double norm) {
  double reference = norm;
  if (control.guess != 0 && control.from_initial_residual == 0 && control.reference != 0.0) {
    reference = control.reference;
    if (control.from_smaller != 0 && norm < reference) reference = norm;
  }
  control.reference = reference;
  const double relative = control.relative * reference;
  control.target = relative > control.absolute ? relative : control.absolute;
}

TASKDAG_TASK inline void LoopState::take_norm(Control& c, double norm) const {
  norms[c.kept++] = norm;
  c.last_norm = norm;
  if (c.iterations == 0) take_reference(c, norm);
  c.reason = static_cast<std::int32_t>(reason_of(c, norm));
}

}  // namespace taskdag::krylov
