/// \file
/// Jacobi sweeps as a static program of the task engine, on both backends (MHive, section 7.4). A task is a part of the
/// matrix in one sweep.
#pragma once

#include <memory>

#include "kernels/jacobi/part_task.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/jacobi.hpp"
#include "taskdag/status.hpp"

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

class JacobiProgram {
 public:
  struct Shape {
    JacobiForm form;  ///< stages_phases, stages, checkpoints or autonomous
    int sweeps;       ///< of a run
    /// Whether runs end by tolerance: stages and autonomous look at every sweep, checkpoints at the last one.
    bool checks;
    std::uint32_t ring_size;  ///< 2 to 4; autonomous with checks: 3 or 4, else 2
    int lanes;                ///< that share a row, on CUDA
  };
  /// options: dependencies are the form's. Synchronises the device. @throws Unsupported where the program would have
  /// too many tasks, OutOfMemory, DeviceError
  JacobiProgram(const Context& context, const JacobiParts& parts, const Shape& shape, engine::StaticOptions options);
  ~JacobiProgram();

  /// One run. Asynchronous on `stream`; may be captured, but for the device controller.
  void enqueue(const JacobiArrays& arrays, Stream stream);
  /// Of the last run. Synchronises `stream`. @pre the program checks
  [[nodiscard]] JacobiCheck check(Stream stream);
  [[nodiscard]] engine::Report report(Stream stream);
  [[nodiscard]] std::int64_t bytes() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

/// Iterates that a program needs for a solve to a tolerance.
std::uint32_t ring_of_solve(JacobiForm form);

/// Runs a program that checks until the change is small enough, not finite, or max_sweeps are done. arrays.first: the
/// iterate to begin with; afterwards the last one that counts. Synchronises `stream`.
JacobiOutcome run_to_tolerance(JacobiProgram& program, JacobiArrays& arrays, const JacobiStop& stop, Stream stream);

}  // namespace taskdag::kernels
