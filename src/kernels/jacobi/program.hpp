/// \file
/// Jacobi sweeps as a static program of the task engine, as the solver sees one: the papers' library makes them.
#pragma once

#include <cstdint>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/jacobi.hpp"

namespace taskdag::kernels {

/// Arrays of a run of several sweeps, in memory of the backend.
struct JacobiArrays {
  CsrView a;
  const double* scale;
  const double* b;
  /// Iterate t is in ring[t % ring_size].
  double* ring[4];
  std::uint32_t ring_size;
  std::uint32_t first;  ///< number of the iterate that the first sweep reads
  bool from_zero;       ///< it is zero, and is not read
  double tolerance;     ///< of a program that checks: change of a sweep at which it ends
};

/// How far a program that checks has come.
struct JacobiCheck {
  std::uint32_t sweeps;  ///< whose results count: fewer than asked for where one met the tolerance or was not finite
  double change;         ///< of the last of them, ‖xᵏ⁺¹ − xᵏ‖₁
};

/// Of a program.
struct JacobiShape {
  JacobiForm form;  ///< stages_phases, stages, checkpoints or autonomous
  int sweeps;       ///< of a run
  /// Whether runs end by tolerance: stages and autonomous look at every sweep, checkpoints at the last one.
  bool checks;
  std::uint32_t ring_size;  ///< 2 to 4; autonomous with checks: 3 or 4, else 2
  int lanes;                ///< that share a row, on CUDA
  Index part_entries;       ///< and the next one: see cut_into_parts()
  Index long_row;
};

/// A program, and the memory that it needs. Not to be copied.
class JacobiProgram {
 public:
  JacobiProgram() = default;
  virtual ~JacobiProgram() = default;
  JacobiProgram(const JacobiProgram&) = delete;
  JacobiProgram& operator=(const JacobiProgram&) = delete;

  /// One run. Asynchronous on `stream`; may be captured, but for the device controller.
  virtual void enqueue(const JacobiArrays& arrays, Stream stream) = 0;
  /// Of the last run. Synchronises `stream`. @pre the program checks
  [[nodiscard]] virtual JacobiCheck check(Stream stream) = 0;
  [[nodiscard]] virtual engine::Report report(Stream stream) = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

/// Iterates that a program needs for a solve to a tolerance.
inline std::uint32_t ring_of_solve(JacobiForm form) { return form == JacobiForm::autonomous ? 4 : 2; }

/// Runs a program that checks until the change is small enough, not finite, or max_sweeps are done. arrays.first: the
/// iterate to begin with; afterwards the last one that counts. Synchronises `stream`.
JacobiOutcome run_to_tolerance(JacobiProgram& program, JacobiArrays& arrays, const JacobiStop& stop, Stream stream);

}  // namespace taskdag::kernels
