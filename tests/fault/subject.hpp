/// \file
/// What solves, behind one interface: a triangular solver, a factorisation or SOR of one schedule, by rows or by point
/// blocks, Jacobi and block Jacobi.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taskdag/taskdag.hpp"

namespace taskdag::test {

/// What is done with a right-hand side.
enum class Work {
  triangle,
  factor,  ///< both sweeps of an ILU factor
  sor,     ///< two symmetric iterations from zero
  point_block_factor,
  point_block_sor,
  jacobi,  ///< three sweeps
  block_jacobi
};

/// A way to solve.
struct Subject {
  SolveSchedule schedule = SolveSchedule::automatic;  ///< of Jacobi and block Jacobi, which have none: automatic
  Work work = Work::triangle;
  [[nodiscard]] std::string name() const;
  /// The matrix to solve with, made from one by rows: by point blocks each of its entries becomes a block.
  [[nodiscard]] CsrMatrix matrix(const CsrMatrix& by_rows) const;
  /// Elements of a vector for such a matrix.
  [[nodiscard]] Index elements(const CsrMatrix& matrix) const;
  [[nodiscard]] bool by_point_blocks() const;
  /// Whether the right-hand side may be where the result goes.
  [[nodiscard]] bool may_be_in_place() const { return work == Work::triangle || work == Work::factor; }
};
/// Every schedule of a backend as a triangle, as a factor and as SOR, `blocks` not as a triangle; what has no schedule
/// of its own, and point blocks, once.
std::vector<Subject> subjects(Backend backend);

/// Solves with one matrix, again and again. Arrays may be in host or device memory.
class Solver {
 public:
  virtual ~Solver() = default;
  virtual void solve(const double* b, double* x, MemorySpace space, Stream stream) = 0;
  /// New values: update_values() or factor().
  virtual void load(const double* values, MemorySpace space, Stream stream) = 0;
  /// Jacobi and block Jacobi do not say whether numbers were finite.
  [[nodiscard]] virtual bool has_outcome() const { return true; }
  virtual SolveOutcome outcome() { return SolveOutcome::success; }
  virtual SolveOutcome outcome(Stream /*stream*/) { return SolveOutcome::success; }
  /// The schedule in use; of a factor and of SOR, that of the backward sweep.
  [[nodiscard]] virtual SolveSchedule schedule() const { return SolveSchedule::automatic; }
  /// The right result for values in host memory, from the serial reference.
  [[nodiscard]] virtual std::vector<double> reference(const std::vector<double>& values,
                                                      const std::vector<double>& b) const = 0;
};

/// Of a Subject::matrix() in host memory, with its values loaded. @throws what the library throws
std::unique_ptr<Solver> make_solver(const Context& context, const Subject& subject, const CsrMatrix& a, Stream stream);

/// The matrices of these tests: grids, and rows of a random pattern. Small: many cases take them.
CsrMatrix grid_matrix(Index n);
/// 27 points: CUDA factorises it by warps all of which must be there.
CsrMatrix solid_matrix();
CsrMatrix random_matrix();
/// Right-hand sides that differ from each other in every entry.
std::vector<double> numbered_side(Index rows, int number);

}  // namespace taskdag::test
