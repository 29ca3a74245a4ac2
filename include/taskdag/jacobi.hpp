/// \file
/// Damped Jacobi sweeps.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/context.hpp"
#include "taskdag/export.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

/// PETSc's choices for the diagonal (PCJacobiType): the diagonal, the row's largest absolute value, the row's sum of
/// absolute values.
enum class JacobiDiagonal { diagonal, row_max, row_sum };

struct JacobiOptions {
  int sweeps = 1;        ///< k >= 1: x₀ = 0, x_{s+1} = x_s + damping · D⁻¹ (b − A x_s)
  double damping = 1.0;  ///< finite, not 0
  JacobiDiagonal diagonal = JacobiDiagonal::diagonal;
  bool absolute = false;  ///< use |d| in place of d
};

/// Applies k damped Jacobi sweeps. With one sweep and damping 1 it is PETSc's PCJACOBI: a zero diagonal entry is
/// replaced by 1, as there; zero_diagonals() tells how many. Streams, captures and exceptions are as in
/// TriangularSolver; update_values() needs the host, and so does the first transposed application of several sweeps.
class TASKDAG_API Jacobi {
 public:
  /// a: square, in `space`. The pattern and values are copied only if sweeps > 1. Synchronises `stream`.
  /// @throws InvalidInput, DeviceError, OutOfMemory
  Jacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options, Stream stream = {});
  ~Jacobi();
  Jacobi(Jacobi&&) noexcept;
  Jacobi& operator=(Jacobi&&) noexcept;

  /// New values for the same pattern: `pattern` again in `space` (it is read, not compared). Synchronises.
  void update_values(const CsrView& a, MemorySpace space, Stream stream = {});

  /// x = result of the sweeps on b. b, x: `rows` doubles in `space`; not aliased unless sweeps == 1.
  /// Asynchronous on `stream` for device memory. transposed: use Aᵀ in the sweeps (same diagonal).
  void apply(const double* b, double* x, MemorySpace space, bool transposed = false, Stream stream = {});

  [[nodiscard]] Index zero_diagonals() const;
  [[nodiscard]] std::int64_t bytes() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
