/// \file
/// What solves: a triangular solver or a factorisation of one schedule, behind one interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taskdag/taskdag.hpp"

namespace taskdag::test {

/// A way to solve with a schedule.
struct Subject {
  SolveSchedule schedule = SolveSchedule::automatic;
  bool factor = false;  ///< both sweeps of an ILU factor, not one triangle
  [[nodiscard]] std::string name() const;
};
/// Every schedule of a backend as a triangle, and as a factor; `blocks` as a factor alone.
std::vector<Subject> subjects(Backend backend);

/// Solves with one matrix, again and again. Arrays may be in host or device memory.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual void solve(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  /// New values: update_values() or factor().
  virtual void load(const double* values, MemorySpace space, Stream stream) = 0;
  virtual SolveOutcome outcome() = 0;
  virtual SolveOutcome outcome(Stream stream) = 0;
  /// The schedule in use; of a factor, that of the backward sweep.
  [[nodiscard]] virtual SolveSchedule schedule() const = 0;
  /// The right result for values in host memory, from the serial reference.
  [[nodiscard]] virtual std::vector<double> reference(const std::vector<double>& values,
                                                      const std::vector<double>& b) const = 0;
};

/// Of a matrix in host memory, with its values loaded. @throws what the library throws
std::unique_ptr<Solver> make_solver(const Context& context, const Subject& subject, const CsrMatrix& a, Stream stream);

/// The matrices of these tests: grids, and rows of a random pattern. Small: many cases take them.
CsrMatrix grid_matrix(Index n);
/// 27 points: CUDA factorises it by warps all of which must be there.
CsrMatrix solid_matrix();
CsrMatrix random_matrix();
/// Right-hand sides that differ from each other in every entry.
std::vector<double> numbered_side(Index rows, int number);

}  // namespace taskdag::test
