/// \file
/// Successive over-relaxation: Gauss–Seidel, SOR and SSOR with PETSc's meaning of their parameters.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/engine_run.hpp"
#include "taskdag/export.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/status.hpp"

namespace taskdag {

/// With A = L + D + U and E = (D + shift) / ω, what an iteration does (by point blocks D are diagonal blocks, L and U
/// the blocks beside them):
enum class SorSweep {
  forward,   ///< x ← (E + L)⁻¹ (b − (U + D + shift − E) x): rows first to last
  backward,  ///< x ← (E + U)⁻¹ (b − (L + D + shift − E) x): rows last to first
  symmetric  ///< the first, then the second
};
/// "forward", "backward", "symmetric".
TASKDAG_API const char* to_string(SorSweep sweep);

/// What the first iteration starts from.
enum class SorStart {
  zero,  ///< from x = 0, whatever is in x
  given  ///< from the x that is there
};

struct SorOptions {
  double omega = 1.0;  ///< 0 < ω < 2
  double shift = 0.0;  ///< added to the diagonal; with ω = 1 one below 0 is not, as in PETSc
  /// Of both triangles' sweeps: one of solve_schedules(backend).
  SolveSchedule schedule = SolveSchedule::automatic;
  engine::StaticOptions run{};            ///< of the schedule engine
  AtaFlow ata_flow = AtaFlow::pull;       ///< as in TriangularOptions, for each triangle
  AtaSize ata_size = AtaSize::equations;  ///< the same
  bool ata_rows_share_warps = true;       ///< the same
  bool tune = false;                      ///< as in TriangularOptions, for each triangle
  std::string tune_file = {};             ///< as in TriangularOptions
  /// Blocks of the renumbered matrix, where the ordering has made some: what the schedule `blocks` runs.
  std::shared_ptr<const RowBlocks> blocks = {};
  /// Above 1: by point blocks. The matrix consists of dense blocks of so many rows and columns, at most
  /// largest_point_block, and all unknowns of a block change at once: pattern and order are those of blocks, values are
  /// block after block, each column by column (as PETSc's MATBAIJ keeps them), vectors have block_size elements for a
  /// row of blocks; `blocks` are of these elements. There are no multiply_upper(), pivots(), set_diagonal() and
  /// multiply_transformed(): they throw Unsupported.
  Index block_size = 1;
};

struct SorInfo {
  Index block_size = 1;    ///< of point blocks
  Index rows = 0;          ///< of the matrix, elements of a vector
  Offset entries = 0;      ///< blocks count with all elements
  Index lower_levels = 0;  ///< of the forward sweep
  Index upper_levels = 0;  ///< of the backward sweep
  std::int64_t bytes = 0;
  int lower_threads = 1;  ///< as in FactorizationInfo
  int upper_threads = 1;
  SolveSchedule lower_schedule = SolveSchedule::automatic;
  SolveSchedule upper_schedule = SolveSchedule::automatic;
};

/// SOR iterations with one matrix. A sweep is one pass over the matrix; from the second sweep of a symmetric run on it
/// takes half a pass, because the sum over the other triangle is known from the sweep before (Conrad & Wallach 1979).
///
/// Results differ from those of a loop over the rows by rounding alone. On host threads they are the same for any
/// schedule and any number of threads; on CUDA with each call. Exceptions are as in Factorization, update_values() in
/// place of factor().
class TASKDAG_API Sor {
 public:
  /// Analyses a square pattern with a full diagonal; it is copied. order[new] = old: the order of the rows in a sweep;
  /// empty: the matrix' own; host memory. The pattern is in `space`. Synchronises `stream`.
  /// @throws InvalidInput "row R has no diagonal entry", whatever the order, of point blocks "block row R has no
  ///         diagonal entry"; also for ω outside (0, 2), a schedule of the other backend,
  ///         blocks that do not fit or are missing, another block_size; OutOfMemory; what TriangularSolver throws for a
  ///         tune file
  Sor(const Context& context, const CsrPattern& pattern, MemorySpace space, const SorOptions& options,
      std::span<const Index> order = {}, Stream stream = {});
  ~Sor();
  Sor(Sor&&) noexcept;
  Sor& operator=(Sor&&) noexcept;

  /// Takes values: one per entry of the pattern given. Rows with D + shift = 0 are reported as zero pivots, and so are
  /// those where it is not finite, in the renumbered matrix; iterations hand on what comes of them. By point blocks
  /// that is a column whose pivots are all 0, or the first row of a block that is not finite or whose inverse is not,
  /// in the matrix as it was given. Synchronises `stream`.
  FactorStatus update_values(const double* values, MemorySpace space, Stream stream = {});

  /// Runs `iterations` of `sweep`. b, x: `rows` doubles in `space`, two different arrays. Asynchronous if `space` is
  /// device memory: no host copy, no synchronisation; otherwise synchronous. So are the halves below.
  /// @throws InvalidInput before the first update_values() and after one that has thrown, for less than one iteration
  void iterate(SorSweep sweep, int iterations, SorStart start, const double* b, double* x, MemorySpace space,
               Stream stream = {});

  /// The halves of SSOR, M = (E + L) (2 E − D − shift)⁻¹ (E + U). Vectors: two different arrays.
  /// x = (E + L)⁻¹ b. @throws as iterate()
  void solve_lower(const double* b, double* x, MemorySpace space, Stream stream = {}) {
    iterate(SorSweep::forward, 1, SorStart::zero, b, x, space, stream);
  }
  /// x = (E + U)⁻¹ b
  void solve_upper(const double* b, double* x, MemorySpace space, Stream stream = {}) {
    iterate(SorSweep::backward, 1, SorStart::zero, b, x, space, stream);
  }
  /// y = (E + U) x
  void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream = {});
  /// e: E, by row
  void pivots(double* e, MemorySpace space, Stream stream = {}) const;

  /// Takes the matrix' diagonal D (without the shift), by row, for multiply_transformed(); needed after each
  /// update_values(). Synchronises `stream`. @throws as iterate(); Unsupported where `stream` is being captured
  void set_diagonal(const double* d, MemorySpace space, Stream stream = {});
  /// y = (E + L)⁻¹ A (E + U)⁻¹ v, by two sweeps and without a product with A (Eisenstat 1981). Vectors: two different
  /// arrays. Asynchronous as iterate(), and may be captured. @throws as iterate(), and before set_diagonal()
  void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream = {});

  /// Whether any value computed since the last call was not finite. Synchronises the device.
  [[nodiscard]] SolveOutcome outcome();

  [[nodiscard]] const SorInfo& info() const;
  /// Of the programs of the task engine that have run so far.
  [[nodiscard]] std::vector<EngineRun> engine_runs() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
