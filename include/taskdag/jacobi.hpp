/// \file
/// Damped Jacobi sweeps.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/engine_run.hpp"
#include "taskdag/export.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

/// What stands for the diagonal, PETSc's choices (PCJacobiType).
enum class JacobiDiagonal {
  diagonal,  ///< the diagonal entry
  row_max,   ///< the row's largest absolute value
  row_sum,   ///< the row's sum
  /// The diagonal entry, and l1_scale times the absolute values beside it with its sign: sweeps converge for every
  /// symmetric positive definite matrix (Baker, Falgout, Kolev & Yang 2011, Multigrid smoothers for ultraparallel
  /// computing).
  row_l1
};

/// What sweep s of k multiplies its correction by, beside the damping.
enum class JacobiWeights {
  constant,  ///< 1
  /// 1 / sin²(π (k − s) / (2 k + 1)), s = 0 … k − 1: the sweeps together are Chebyshev's polynomial of the fourth kind,
  /// which smooths best without knowing the smallest eigenvalues (Lottes 2022, Optimal polynomial smoothers for
  /// multigrid V-cycles). For a symmetric positive definite matrix with damping = 1/λ, λ the largest eigenvalue of
  /// D⁻¹ A or a bound of it: 1 with row_l1.
  chebyshev
};
/// "constant", "chebyshev".
TASKDAG_API const char* to_string(JacobiWeights weights);

/// How several sweeps are run. On a backend all give the same bits. A *part* is a run of rows with about as many
/// entries as others, or a piece of a long row (MHive, section 7.4).
enum class JacobiForm {
  automatic,      ///< on CUDA with several sweeps: resident where it can be, turning where the matrix and the vectors
                  ///< are larger than the cache; else kernels
  kernels,        ///< a kernel a sweep; on the host a parallel loop
  turning,        ///< as before; every other sweep takes the rows from the last on: it finds those in the caches
  stages_phases,  ///< a program of the task engine: parts are tasks, sweeps are phases (MHive, 7.4.1)
  stages,         ///< as before; a task between two sweeps waits for all parts, by individual dependencies (7.4.1)
  checkpoints,    ///< a part is a task that depends on the parts whose values it needs (7.4.2)
  autonomous,     ///< a part waits by itself for the parts whose values it needs (7.4.3)
  tiles,     ///< a kernel for every few sweeps: each block loads a compact tile of rows with what lies around it, and
             ///< sweeps several times, doing again what its neighbours do; on the host a thread with its caches
  resident,  ///< one kernel: tiles stay in the blocks, which hand values over to their neighbours every few sweeps;
             ///< on the host each thread keeps its rows and waits for its neighbours
};
TASKDAG_API const char* to_string(JacobiForm form);
/// "auto", "kernels", "turning", "stages-phases", "stages", "checkpoints", "autonomous", "tiles", "resident".
/// @throws InvalidInput for another name
TASKDAG_API JacobiForm jacobi_form_from(std::string_view name);
/// Whether it is a program of the task engine.
TASKDAG_API bool is_program(JacobiForm form);

struct JacobiOptions {
  int sweeps = 1;        ///< k >= 1: x₀ = 0, x_{s+1} = x_s + damping · weight_s · D⁻¹ (b − A x_s)
  double damping = 1.0;  ///< finite, not 0
  JacobiDiagonal diagonal = JacobiDiagonal::diagonal;
  double l1_scale = 1.0;  ///< of row_l1: 0 to 1
  /// Of a matrix that is a part of a larger one: what the rows hold outside of it; of each its largest absolute value
  /// (row_max), its sum (row_sum), the sum of its absolute values (row_l1). Empty: nothing.
  std::vector<double> outside = {};
  bool absolute = false;     ///< use |d| instead of d
  bool keep_matrix = false;  ///< with one sweep, too: for solve()
  JacobiForm form = JacobiForm::automatic;
  /// Of the forms that are programs of the task engine, which have dependencies of their own; the device controller's
  /// cannot be captured.
  engine::StaticOptions run = {};
  Index part_entries = 1024;  ///< >= 1: entries of a part; a row with more may make it larger
  /// Rows with more entries are cut into pieces of part_entries, by every form but tiles and, on CUDA, resident, which
  /// do not take such rows. 0: no row is.
  Index long_row = 4096;
  JacobiWeights weights = JacobiWeights::constant;  ///< chebyshev: with several sweeps in the forms kernels and turning
};

/// Options that no matrix could have. @throws InvalidInput
TASKDAG_API void require_valid(const JacobiOptions& options);

/// When Jacobi::solve() ends.
struct JacobiStop {
  double tolerance = 1e-10;  ///< >= 0, absolute: for ‖xᵏ⁺¹ − xᵏ‖₁
  int max_sweeps = 10000;    ///< >= 1; rounded up to a multiple of check_every
  /// >= 1: sweeps between two looks of the host. stages and autonomous look at every sweep on the device and end there,
  /// others at every check_every-th.
  int check_every = 10;
};

struct JacobiOutcome {
  int sweeps;      ///< done, counted up to the iterate that was returned
  double change;   ///< ‖xᵏ⁺¹ − xᵏ‖₁ of the last one; its additions are in no fixed order
  bool converged;  ///< change <= tolerance
};

/// Applies k damped Jacobi sweeps. With one sweep and damping 1 it is PETSc's PCJACOBI: a zero diagonal entry is
/// replaced by 1, as there; zero_diagonals() tells how many. Streams, captures and exceptions are as in
/// TriangularSolver; update_values() needs the host, and so does the first transposed application of several sweeps.
class TASKDAG_API Jacobi {
 public:
  /// a: square, in `space`. The pattern and values are copied only if sweeps > 1 or keep_matrix. Synchronises `stream`.
  /// @throws InvalidInput, DeviceError, OutOfMemory
  Jacobi(const Context& context, const CsrView& a, MemorySpace space, const JacobiOptions& options, Stream stream = {});
  ~Jacobi();
  Jacobi(Jacobi&&) noexcept;
  Jacobi& operator=(Jacobi&&) noexcept;

  /// Another JacobiOptions::outside, for the next update_values(). @throws InvalidInput where it is not for all rows
  void set_outside(std::vector<double> outside);

  /// New values for the same pattern: `pattern` again in `space` (it is read, not compared). Synchronises.
  void update_values(const CsrView& a, MemorySpace space, Stream stream = {});

  /// x = result of the sweeps on b. b, x: `rows` doubles in `space`; not aliased unless sweeps == 1.
  /// Asynchronous on `stream` for device memory. transposed: use Aᵀ in the sweeps (same diagonal).
  void apply(const double* b, double* x, MemorySpace space, bool transposed = false, Stream stream = {});

  /// The k sweeps from the x that is there: kernels, whatever the form. b, x: as in apply(), not aliased. Asynchronous
  /// on `stream` for device memory.
  /// @throws InvalidInput, also with one sweep and without keep_matrix
  void iterate(const double* b, double* x, MemorySpace space, Stream stream = {});

  /// Sweeps from the x that is there until the change of one is small enough, or not finite, or there have been
  /// max_sweeps of them. b, x: as in apply(), not aliased. Returns when it has ended; x then holds the last iterate.
  /// Makes what it needs on the first call and with another check_every. Of JacobiOptions, `sweeps` plays no part, and
  /// automatic is kernels.
  /// @throws InvalidInput, also without keep_matrix, for tiles and resident, whose number of sweeps is fixed, and for
  /// weights that belong to a number of sweeps;
  /// Unsupported, DeviceError, OutOfMemory
  JacobiOutcome solve(const double* b, double* x, MemorySpace space, const JacobiStop& stop, Stream stream = {});

  /// Where an application multiplies by a diagonal, which is so with one sweep: its `rows` elements, in memory of the
  /// backend, the same array for as long as the object lives; else null.
  [[nodiscard]] const double* diagonal() const;

  /// What automatic has chosen.
  [[nodiscard]] JacobiForm form() const;
  /// Of the programs of the task engine that have run so far. Synchronises the device. @throws DeviceError, OutOfMemory
  [[nodiscard]] std::vector<EngineRun> engine_runs() const;

  [[nodiscard]] Index zero_diagonals() const;
  [[nodiscard]] std::int64_t bytes() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
