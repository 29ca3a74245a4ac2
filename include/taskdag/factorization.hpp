/// \file
/// Incomplete factorisations with PETSc's conventions, and their application.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/device_order.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/engine_run.hpp"
#include "taskdag/export.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/status.hpp"
#include "taskdag/triangular.hpp"

namespace taskdag {

/// ilu: A ≈ L U on the pattern of A, L with unit diagonal.
/// ic: A ≈ Uᵀ D U on the upper triangle's pattern, U with unit diagonal; the lower triangle of A is not looked at.
/// They are ILU(k) and IC(k) with k = FactorOptions::levels: for k > 0 the pattern grows; DILU and DIC with
/// FactorOptions::diagonal_only.
enum class FactorKind {
  ilu,
  ic,
  ilu0 = ilu,  ///< the name in version 0.1, whatever the level
  ic0 = ic,    ///< the same
};

/// What happens at a pivot p of row i with |p| <= zero_pivot · s (s: sum of the absolute values of the row's other
/// factor entries for nonzero and positive_definite, 1 otherwise), as PETSc's MatFactorShiftType:
/// none: reported as a zero pivot. nonzero: start again with shift_amount added to the whole diagonal, doubled each
/// time. positive_definite: (p <= ..., sign included) start again with a shift found by bisection of the amount that
/// makes the matrix diagonally dominant, at most 5 refinements. inblocks: shift_amount is added to this pivot only.
///
/// scaled is not PETSc's, and for ic alone. The amount is relative: row i gets amount · a_ii, as if the matrix had been
/// scaled to a unit diagonal, shifted and scaled back, so it does not matter how rows are scaled. A pivot is bad at
/// p <= max(zero_pivot, 1e-6) · d, where d is the row's diagonal entry with its shift. Then the factorisation starts
/// again with 0.001, ten times as much each time up to 1000, and takes two steps of bisection towards the smallest
/// amount that does: at most 11 attempts. shift_amount is not looked at. If all diagonal entries are negative, so are
/// the pivots: it is then -A that is definite. Diagonal entries of both signs, or of zero, are a failure
/// (FactorOutcome::not_definite).
enum class ShiftType { none, nonzero, positive_definite, inblocks, scaled };

/// Where fill (FactorOptions::levels > 0) may be.
/// everywhere: ILU(k) and IC(k) as they are known; fill couples blocks of one colour.
/// blocks: between rows and columns of one block alone. The rule for levels is the usual one, level(i, j) = min over k
/// of level(i, k) + level(k, j) + 1, and fill that couples two blocks is dropped at once: no other fill comes from it.
/// The matrix's own entries all stay. So blocks of one colour are as independent as without fill.
enum class FillScope { everywhere, blocks };

/// Who runs the rows of the numeric factorisation. The result is the same. Those from level_launch on are the schedules
/// of SolveSchedule that have these names, with a warp for each row: CUDA's alone, for comparison.
enum class FactorSchedule {
  automatic,  ///< CUDA: along lists, or by a recurrence where that is faster; host: threads by a plan
  lists,      ///< CUDA: warps along lists that the analysis prepares; host: as automatic
  engine,     ///< a program of the task engine: rows are tasks
  level_launch,
  level_graph,
  level_barrier,
  self_scheduled,
  ata_concurrency,
  ata_locality,
  ata_greedy,
};
/// "auto", "lists", "engine"; of the others the name of the SolveSchedule.
TASKDAG_API const char* to_string(FactorSchedule schedule);
/// Those that a backend has, in the order of the enumeration; all for Backend::automatic.
TASKDAG_API std::span<const FactorSchedule> factor_schedules(Backend backend);

struct FactorOptions {
  FactorKind kind = FactorKind::ilu;
  ShiftType shift = ShiftType::none;
  double shift_amount = 100 * 2.220446049250313e-16;
  double zero_pivot = 100 * 2.220446049250313e-16;
  /// Of both sweeps of an application: one of solve_schedules(backend).
  SolveSchedule schedule = SolveSchedule::automatic;
  FactorSchedule factor_schedule = FactorSchedule::automatic;
  engine::StaticOptions run{};            ///< of the schedules engine, of sweeps and of the factorisation
  AtaFlow ata_flow = AtaFlow::pull;       ///< as in TriangularOptions, for each sweep
  AtaSize ata_size = AtaSize::equations;  ///< of the schedules ata_…, of sweeps and of the factorisation
  bool ata_rows_share_warps = true;       ///< as in TriangularOptions, for each sweep; a factorisation never shares
  bool tune = false;                      ///< as in TriangularOptions, for each sweep
  std::string tune_file = {};             ///< as in TriangularOptions
  /// Fill level: 0 keeps A's pattern; an entry whose elimination path passes through at most `levels` pivots is kept.
  Index levels = 0;
  /// Elimination changes the diagonal alone, all other entries of the factors are the matrix' own: DILU (kind ilu), DIC
  /// (ic), as OpenFOAM calls them; d_i = a_ii − Σ_k a_ik a_ki / d_k over k < i. For level 0. On grids with five or
  /// seven points it is ILU(0), IC(0).
  bool diagonal_only = false;
  FillScope fill = FillScope::everywhere;  ///< counts for levels > 0 only; FillScope::blocks needs `blocks`
  /// Blocks of the factored matrix (after row_order and col_order), where the ordering has made some: what the schedule
  /// `blocks` runs. Not used for fill everywhere, which couples blocks of one colour.
  std::shared_ptr<const RowBlocks> blocks = {};
  /// CUDA: the order of rows and columns, instead of row_order and col_order, which are empty then. On the context's
  /// device, and not for point blocks.
  std::shared_ptr<const DeviceOrder> device_order = {};
  /// Above 1: a factorisation by point blocks. The matrix consists of dense blocks of so many rows and columns, at most
  /// largest_point_block, and each is one entry of the elimination: pattern, orders and levels are those of blocks,
  /// values are block after block, each column by column (as PETSc's MATBAIJ keeps them), vectors have block_size
  /// elements for a row of blocks. Diagonal blocks are inverted with exchanges of rows inside the block, so a pivot is
  /// bad only where it is exactly 0; zero_pivot is not looked at. ic: A ≈ Uᵀ D⁻ᵀ U with blocks D, which need not be
  /// definite; the diagonal blocks of A are taken as whole blocks, those below are not looked at.
  /// There are the shifts none and inblocks (a bad pivot becomes shift_amount times the mean size of the block's
  /// diagonal; the last one of a block does not, so a block of zeros fails), levels of fill everywhere, the automatic
  /// schedule alone, and double precision, which automatic is here. `blocks` are those of the rows of the matrix;
  /// CUDA's sweeps may run by them.
  Index block_size = 1;
  /// Point blocks are of complex numbers: two rows and columns are one, (re −im; im re), as real_blocks() writes them
  /// (taskdag/complex.hpp), and block_size is even. A transpose is not conjugated: Apply::transposed, and Uᵀ in ic,
  /// which is for complex symmetric matrices. Blocks of two rows are the numbers themselves, and pivots are checked as
  /// in a scalar factorisation, |p| against zero_pivot, of positive_definite the real part, with all shifts, real ones,
  /// but scaled. These have DILU and DIC, too.
  bool complex_blocks = false;
  /// Of the values that sweeps load. in_single: M = L D U with unit triangles L and U (ic: Uᵀ D U) whose entries are
  /// rounded to float, D as it is; all operations (Apply), also on several columns, are of this M. The
  /// halves of a factor (solve_lower() and so on) take double alone, and so does every schedule without a form for
  /// single (SolveScheduleInfo). Where a factor does not fit (PrecisionLoss) double replaces it, for good.
  Precision precision = Precision::in_double;
  /// CUDA: a matrix with at most so many rows, and 16 times as many entries, is analysed and factored on the host, by
  /// one thread, and applied by the schedule one_block: set-ups of small matrices are little else than launches, copies
  /// and loading kernels. For the automatic schedules without tuning and in double; 0: never. What else a factor can do
  /// (transposed and symmetric applications to a general one, its halves) is made as for larger matrices when it is
  /// first asked for, and so is all of a factor with 5000 rows or more from its third factor() on, unless applications
  /// have been captured by a caller who does not prepare_replays().
  Index one_block_rows = 0;
  /// So many applications are left to one_block; the next one that is not captured, or what else is asked for first,
  /// makes all of the factor as for larger matrices, for good. That call needs the host and synchronises, results
  /// change in their last bits. 0: all are. Nothing is changed once an application has been captured, or where the
  /// device's factorisation would end in another way than the host's has (a pivot at the edge of the tolerance).
  Index one_block_applications = 0;
};

/// Of FactorOptions::one_block_applications: as many as cost, beside those by other schedules, what making these costs.
/// By the pattern alone.
inline constexpr Index applications_that_pay = -1;

/// What Factorization::multiply_transformed() is scaled by. symmetric needs pivots E above 0.
enum class TransformScaling {
  none,
  symmetric,  ///< E^½ from both sides: E vanishes from the sweeps, M becomes (I + L̃)(I + Ũ) with L̃ = E^−½ L E^−½
};

/// Why a factor is not stored in single precision although that was asked for or chosen.
enum class PrecisionLoss {
  none,
  overflow,  ///< an entry of a unit triangle is larger than the largest float
  /// an entry is smaller than the smallest normal float, and not small beside its row and column: |l_ij| √|d_j / d_i|
  /// or |u_ij| √|d_i / d_j| is above 2⁻⁶⁰, d being the pivots
  underflow,
};

/// Of FactorOptions::block_size.
inline constexpr Index largest_point_block = 32;

/// Sizes and counts of an analysed factorisation.
struct FactorizationInfo {
  Index block_size = 1;  ///< of point blocks
  Index rows = 0;        ///< of the matrix, elements of a vector
  /// Entries of the factor, pivots included (ic0: of the upper triangle). Point blocks count with all elements, those
  /// of ic with both triangles.
  Offset entries = 0;
  /// Elimination has changed diagonal entries alone, so ILU(0) is DILU here, IC(0) DIC. On the host known after
  /// factor(), of the last values.
  bool diagonal_only = false;
  Index lower_levels = 0;  ///< levels of the forward solve
  Index upper_levels = 0;  ///< levels of the backward solve
  std::int64_t bytes = 0;  ///< memory held, on the device for CUDA
  /// Of these, what the next factor() needs and no application of the whole factor reads: patterns, lists, maps,
  /// entries beside those of the sweeps.
  std::int64_t numeric_bytes = 0;
  /// Host threads that the sweeps run on: fewer than the context's where the levels are too narrow to share. 1 on CUDA.
  int lower_threads = 1;
  int upper_threads = 1;
  SolveSchedule lower_schedule = SolveSchedule::automatic;  ///< of the forward solve
  SolveSchedule upper_schedule = SolveSchedule::automatic;  ///< of the backward solve
  /// Schedules that rewrite rows (catalogue: rewrites_rows) lose more than rounding where they divide by small pivots.
  /// Once a factor would let them lose more than 64 times as much in a row, others are taken, for good: this says how
  /// many times it was. 0: it has not come to that.
  double given_up_loss = 0.0;
  /// In use, never automatic; known after the constructor, and changed by a factor() that finds what does not fit.
  Precision precision = Precision::in_double;
  PrecisionLoss precision_loss = PrecisionLoss::none;  ///< why it is double and not single
  Index precision_loss_row = -1;                       ///< a row of the factor that does not fit
  /// Of the values that an application reads, those of both triangles in the precision in use, and the inverse pivots;
  /// without padding, columns and vectors.
  std::int64_t value_bytes = 0;
  std::int64_t value_bytes_in_double = 0;  ///< the same in double
  /// The applications that are left to one_block (FactorOptions::one_block_applications), and those of them that there
  /// have been. 0: it has none, or all.
  Index one_block_limit = 0;
  Index one_block_applied = 0;
};

/// What an application computes. With M = L U (ilu0) or M = Uᵀ D U (ic0) of the permuted matrix:
enum class Apply {
  full,        ///< x = M⁻¹ b
  transposed,  ///< x = M⁻ᵀ b
  /// ic0 only: x = (Uᵀ D^½)⁻¹ P b in the factor's numbering. Needs pivots >= 0.
  symmetric_left,
  /// ic0 only: x = Pᵀ (D^½ U)⁻¹ b, b in the factor's numbering.
  symmetric_right,
};

/// An incomplete factorisation: symbolic once, numeric whenever values change, applied many times.
///
/// Streams, captures and exceptions are as in TriangularSolver: applications may be captured, and a graph of them
/// applies the last factor. factor() needs the host; so does the first transposed or symmetric application and the
/// first one to several columns, which therefore come before a capture. After an exception of factor() other than
/// InvalidInput and Unsupported, applications throw InvalidInput until a factor() has ended.
class TASKDAG_API Factorization {
 public:
  /// Symbolic phase. The pattern (in `space`) is copied. row_order[new] = old row and col_order[new] = old column give
  /// the factored matrix B(i, j) = A(row_order[i], col_order[j]); empty: natural order. Both in host memory.
  /// For ic0 both must be equal. Synchronises `stream`.
  /// With FactorOptions::block_size above 1 pattern and orders are those of blocks.
  /// @throws InvalidInput "row R has no diagonal entry": of B, R being A's number of the row, row_order[r] of B's row
  ///         r; of point blocks "block row R has no diagonal entry"; for patterns that are not square or not valid, for
  ///         a schedule (of sweeps, of the factorisation) of the other backend, for a negative fill level, for blocks
  ///         that do not fit and where they are missing, for what point blocks do not have; Unsupported where the
  ///         schedule named cannot run these triangles, or not in single precision; DeviceError, OutOfMemory; what
  ///         TriangularSolver throws for a tune file.
  Factorization(const Context& context, const CsrPattern& pattern, MemorySpace space, const FactorOptions& options,
                std::span<const Index> row_order = {}, std::span<const Index> col_order = {}, Stream stream = {});
  ~Factorization();
  Factorization(Factorization&&) noexcept;
  Factorization& operator=(Factorization&&) noexcept;

  /// Numeric phase: `values` are A's, in the order of the pattern given. Does no symbolic work and allocates nothing
  /// after the first call. Synchronises `stream` (the outcome is needed on the host).
  /// After a zero pivot or a non-finite value the factor holds infinities or NaNs and solves hand them on.
  FactorStatus factor(const double* values, MemorySpace space, Stream stream = {});

  /// Takes other values of FactorOptions::shift_amount and zero_pivot: for the next factor(), which needs no symbolic
  /// work for them. @throws InvalidInput where the constructor would
  void set_pivoting(double shift_amount, double zero_pivot);

  /// Applies the factor to one vector. b, x: `rows` doubles in `space`, may be the same array. Asynchronous on `stream`
  /// if `space` is device memory: no host copy, no synchronisation; otherwise synchronous.
  /// @throws InvalidInput before the first factor() and after one that has thrown, for symmetric operations with
  ///         ilu0, for one with a negative pivot, for device memory on the host backend; DeviceError, OutOfMemory;
  ///         Unsupported for what cannot be captured, for symmetric operations with point blocks
  void apply(Apply operation, const double* b, double* x, MemorySpace space, Stream stream = {});

  /// For a caller that asks this before each replay of a graph of its applications, and captures them anew where it
  /// returns true: the form may change then, which it does not for graphs of others. replays: applications by such
  /// graphs since the last call, by which FactorOptions::one_block_applications counts them. May synchronise `stream`.
  /// @throws DeviceError, OutOfMemory; Unsupported where `stream` is being captured
  bool prepare_replays(std::int64_t replays, Stream stream = {});

  /// The same for `count` vectors: column k is b + k·ldb and x + k·ldx. Up to 32 columns (host threads: 8) go through
  /// the triangles together where that pays; on CUDA the memory for it is taken at the first such call and counted in
  /// info(), and a column's last bits may differ from those of apply().
  void apply_many(Apply operation, Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                  MemorySpace space, Stream stream = {});

  /// The halves of M with their pivots E, for level 0 and one order of rows and columns: ilu: M = (E + L) E⁻¹ (E + U),
  /// where E + U is the factor U, and L the other one times E; ic: E is D, L the transpose of U. Where elimination has
  /// changed the diagonal alone (info().diagonal_only), L and U are the matrix' own triangles. Vectors in the user's
  /// numbering, two different arrays; asynchronous as apply().
  /// x = (E + L)⁻¹ b. @throws as apply(); InvalidInput for two orders, and where FactorOptions::precision is not
  /// in_double; Unsupported for point blocks
  void solve_lower(const double* b, double* x, MemorySpace space, Stream stream = {});
  /// x = (E + U)⁻¹ b
  void solve_upper(const double* b, double* x, MemorySpace space, Stream stream = {});
  /// y = (E + U) x
  void multiply_upper(const double* x, double* y, MemorySpace space, Stream stream = {});
  /// e: E, by row
  void pivots(double* e, MemorySpace space, Stream stream = {}) const;

  /// Takes the diagonal D of a matrix A = L + D + U, by row, for multiply_transformed(); needed after each factor().
  /// Synchronises `stream`. @throws as the halves; Unsupported where `stream` is being captured; InvalidInput where
  /// `scaling` is symmetric and a pivot is not above 0
  void set_diagonal(const double* d, MemorySpace space, Stream stream = {},
                    TransformScaling scaling = TransformScaling::none);
  /// y = (E + L)⁻¹ A (E + U)⁻¹ v, by the two halves and without a product with A (Eisenstat 1981): with
  /// u = (E + U)⁻¹ v it is u + (E + L)⁻¹ (v − (2 E − D) u). Asynchronous as apply(), and may be captured.
  /// Of TransformScaling::symmetric it is E^½ (E + L)⁻¹ A (E + U)⁻¹ E^½ v; the halves stay as they are. On CUDA that
  /// has sweeps of its own, made at the first such set_diagonal().
  /// @throws as the halves; InvalidInput before set_diagonal()
  void multiply_transformed(const double* v, double* y, MemorySpace space, Stream stream = {});

  /// How much an application can enlarge a vector: ‖D^½ M⁻¹ D^½ e‖∞ with elements of e between ½ and 1 that follow no
  /// pattern, D the absolute values of the diagonal of the factored matrix B, and 1 where that is 0. It is that of B
  /// scaled to a unit diagonal, so scaling B from both sides changes nothing. Far above what ‖B⁻¹‖ may be, the factor
  /// is unstable, whatever its pivots are. After Chow & Saad 1997, Experimental study of ILU preconditioners for
  /// indefinite matrices. `values`, `space`: those of the last factor(); null: D = I, so ‖M⁻¹ e‖∞. Infinite where a NaN
  /// or an infinity comes out; outcome() tells of it, too. Costs one application. Synchronises `stream`.
  /// @throws InvalidInput before the first factor() and after one that has thrown; Unsupported where `stream` is being
  ///         captured; DeviceError, OutOfMemory
  [[nodiscard]] double growth(const double* values, MemorySpace space, Stream stream = {});
  /// What growth() of the last factor()'s values is at most, as far as factor() has seen it by the way; costs nothing.
  /// Infinite where that is not known: on CUDA, by point blocks, in single precision, with shifts, and where a row of L
  /// has Σ|l_ij| > 1 or one of U Σ|u_ij| > |u_ii|. @throws InvalidInput as growth()
  [[nodiscard]] double growth_bound() const;

  /// Whether any value computed since the last call was not finite. Synchronises the device.
  [[nodiscard]] SolveOutcome outcome();
  /// The same for all calls before, and for what `stream` was given before. Synchronises `stream` alone.
  [[nodiscard]] SolveOutcome outcome(Stream stream);

  /// Copies the factor to the host in the factor's numbering. ilu0: L strictly lower (unit diagonal not stored), the
  /// pivots (not inverted) on the diagonal, U above. ic0: pivots D on the diagonal and the unit U above. Point blocks:
  /// L without its diagonal blocks, which are unit matrices, the inverse of D, and U above, ic too. On CUDA the sweeps
  /// may be all that holds the values: a unit in the last place may be lost then, in single precision what rounding has
  /// cut off. For tests, views and debugging; synchronises.
  [[nodiscard]] CsrMatrix copy_factor() const;

  /// On the host the first call counts the levels. @throws OutOfMemory
  [[nodiscard]] const FactorizationInfo& info() const;
  /// The same without counting: the levels may be 0. What info() returned is what this returns, too.
  [[nodiscard]] const FactorizationInfo& info_without_levels() const;

  /// Of the programs of the task engine that have run so far; with FactorOptions::run.trace their events, too.
  /// Synchronises the device. @throws DeviceError, OutOfMemory
  [[nodiscard]] std::vector<EngineRun> engine_runs() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
