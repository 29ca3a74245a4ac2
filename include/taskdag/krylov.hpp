/// \file
/// Krylov methods with PETSc's conventions, as loops of the task engine: the whole solve is on the backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/error.hpp"
#include "taskdag/export.hpp"
#include "taskdag/rank_group.hpp"

namespace taskdag {

enum class KrylovMethod { cg, bicgstab, gmres, fgmres, minres, richardson, chebyshev };
/// "cg", "bcgs", "gmres", "fgmres", "minres", "richardson", "chebyshev": PETSc's names.
TASKDAG_API const char* to_string(KrylovMethod method);

/// Of the system that the method sees: left: M⁻¹ A x = M⁻¹ b; right: A M⁻¹ u = b with x = M⁻¹ u; symmetric (GMRES),
/// where M = L R: L⁻¹ A R⁻¹ u = L⁻¹ b with x = R⁻¹ u.
enum class KrylovSide { left, right, symmetric };

/// Of which vector the residual norm is, as PETSc's KSPNormType: preconditioned ‖M⁻¹ r‖₂ (‖L⁻¹ r‖₂ with the symmetric
/// side), unpreconditioned ‖r‖₂,
/// natural √(rᵀ M⁻¹ r). none: no norm is computed, and the loop makes all its iterations.
enum class KrylovNorm { none, preconditioned, unpreconditioned, natural };

/// Why a solve has ended. The numbers are those of KSPConvergedReason in PETSc 3.26.
enum class KrylovReason : std::int32_t {
  iterating = 0,  ///< it has not: KrylovOptions::pause
  relative_tolerance = 2,
  absolute_tolerance = 3,
  iterations = 4,        ///< KrylovNorm::none: all iterations are made
  step_length = 6,       ///< the solution has grown beyond a limit (MINRES: about 7e7)
  happy_breakdown = 7,   ///< the solution is in the space that has been built (GMRES)
  breakdown_gmres = -2,  ///< GMRES: the new column of its small matrix is zero
  iteration_limit = -3,
  divergence = -4,  ///< the norm has grown beyond `divergence` times the first
  breakdown = -5,
  breakdown_bicg = -6,
  indefinite_preconditioner = -8,
  not_a_number = -9,  ///< a NaN or an infinity in a norm or a dot product
  indefinite_matrix = -10,
};
TASKDAG_API const char* to_string(KrylovReason reason);

/// How the loop runs. The result has the same bits in each.
enum class KrylovForm {
  automatic,
  graph,        ///< CUDA: a graph with a WHILE node; the host launches it once
  one_block,    ///< CUDA: one kernel of one thread block, on devices of 9.0 or newer of a cluster of up to 16
                ///< blocks; CG, BiCGStab and MINRES; for few rows, with a diagonal or no preconditioner
  host_driven,  ///< CUDA: the host launches each iteration and looks whether there is another one
  threads,      ///< host threads
};
/// "auto", "graph", "one-block", "host-driven", "threads".
TASKDAG_API const char* to_string(KrylovForm form);

/// x ↦ y for vectors of so many elements as the matrix has rows (not of blocks), in memory of the context's backend: a
/// preconditioner.
class TASKDAG_API LinearMap {
 public:
  LinearMap() = default;
  LinearMap(const LinearMap&) = delete;
  LinearMap& operator=(const LinearMap&) = delete;
  virtual ~LinearMap();

  /// y = M⁻¹ x; x and y are two arrays. On CUDA asynchronous on `stream`; launches alone where captured() says so.
  virtual void apply(const double* x, double* y, Stream stream) = 0;
  /// The parts of it that KrylovSide::symmetric needs: y = L⁻¹ x, and y = R⁻¹ x; otherwise as apply(). @throws
  /// Unsupported where it has none
  virtual void apply_left(const double* x, double* y, Stream stream);
  virtual void apply_right(const double* x, double* y, Stream stream);
  /// apply() to each of `count` columns, of which number k stands at x + k·ldx and y + k·ldy. A map that has the factor
  /// of all in hand overrides it (Factorization::apply_many()).
  virtual void apply_columns(Index count, const double* x, std::int64_t ldx, double* y, std::int64_t ldy,
                             Stream stream);
  /// Whether apply() may be captured into a graph and replayed from it. False: the loop is driven by the host.
  [[nodiscard]] virtual bool may_be_captured() const { return true; }
  /// Where the map is a multiplication by a diagonal: its elements, in memory of the backend; else null. The loop
  /// multiplies by itself then, and apply() is not called. With KrylovSide::symmetric the diagonal is that of L⁻¹ and
  /// of R⁻¹.
  [[nodiscard]] virtual const double* diagonal() const { return nullptr; }
  /// For a map over all ranks: whether it has waited for another rank in vain. Waits for the device.
  [[nodiscard]] virtual bool has_lost_rank() const { return false; }
  /// Called where this rank leaves a solve by an error, so that the others need not wait for it.
  virtual void lose() noexcept {}
};

/// A function as such a map: function(x, y, stream), launches alone on CUDA; for example one that calls
/// Factorization::apply().
template <class Function>
class FunctionMap final : public LinearMap {
 public:
  explicit FunctionMap(Function function) : function_(std::move(function)) {}
  void apply(const double* x, double* y, Stream stream) override { function_(x, y, stream); }

 private:
  Function function_;
};

/// Multiplication by a diagonal, whose elements are in memory of the backend and stay the caller's.
class TASKDAG_API DiagonalMap final : public LinearMap {
 public:
  explicit DiagonalMap(const double* diagonal) : diagonal_(diagonal) {}
  /// @throws Unsupported: the loop multiplies by itself
  void apply(const double* x, double* y, Stream stream) override;
  [[nodiscard]] const double* diagonal() const override { return diagonal_; }

 private:
  const double* diagonal_;
};

/// Gram–Schmidt of GMRES against the basis, as PETSc's.
enum class KrylovOrthogonalisation { classical, modified };
/// A second pass of classical Gram–Schmidt: never; where the first has cancelled much (as PETSc decides it); always.
enum class KrylovRefinement { never, if_needed, always };

/// Polynomials of Chebyshev, of which the fourth kind needs the largest bound alone. Its optimised ones (Lottes 2022)
/// have a degree that is known beforehand.
enum class KrylovChebyshev { first, fourth, optimised_fourth };
/// Of such, as PETSc's.
inline constexpr int most_optimised_degree = 16;

inline constexpr Index most_krylov_columns = 32;

struct KrylovOptions {
  KrylovMethod method = KrylovMethod::cg;
  KrylovSide side = KrylovSide::left;
  KrylovNorm norm = KrylovNorm::preconditioned;
  KrylovForm form = KrylovForm::automatic;
  /// Above 1: the matrix consists of dense blocks of so many rows and columns (FactorOptions::block_size): its pattern
  /// is that of blocks, its values are block after block, each column by column, and vectors have block_size elements
  /// for a row of blocks.
  Index block_size = 1;
  /// The matrix and all vectors are of complex numbers, real part and imaginary part of each one after the other:
  /// values are two doubles for each entry of the pattern, vectors two for each row, for the preconditioner as well,
  /// whose diagonal(), if it has one, is of such numbers. Scalars are complex in CG (for Hermitian matrices), BiCGStab,
  /// GMRES and FGMRES, with dot products as PETSc's, and real in the others. On several ranks ghosts are numbers, too.
  /// One right-hand side at a time, without `coefficients`, dense blocks, null spaces and the symmetric side; the
  /// natural norm is CG's.
  bool complex_numbers = false;
  Index restart = 30;  ///< GMRES: vectors of a basis, >= 1; all are allocated with the object
  KrylovOrthogonalisation orthogonalisation = KrylovOrthogonalisation::classical;
  KrylovRefinement refinement = KrylovRefinement::never;
  double breakdown_tolerance = 0.1;  ///< GMRES: as -ksp_gmres_breakdown_tolerance
  double happy_tolerance = 1e-30;    ///< GMRES: as -ksp_gmres_happytol
  double damping = 1.0;              ///< Richardson: x += damping · M⁻¹ r
  double smallest = 0.0;             ///< Chebyshev: bounds of the eigenvalues of M⁻¹ A, 0 < smallest < largest
  double largest = 0.0;
  KrylovChebyshev kind = KrylovChebyshev::first;
  int degree = 0;  ///< Chebyshev, optimised_fourth: iterations that a polynomial is made of, 1 to 16; then the next one
  /// Right-hand sides that solve_columns() solves for at a time, 1 to most_krylov_columns. Work vectors of all are
  /// allocated with the object.
  Index columns = 1;
  bool coefficients = false;  ///< KrylovOutcome::alpha and beta of CG and MINRES, hessenberg of GMRES and FGMRES

  bool operator==(const KrylovOptions&) const = default;
};

/// What one solve goes by; PETSc's default test (KSPConvergedDefault).
struct KrylovTolerances {
  double relative = 1e-5;  ///< of the norm that the solve starts from, or of the right-hand side's
  double absolute = 1e-50;
  double divergence = 1e5;
  std::int64_t iterations = 10000;     ///< at most
  std::int64_t least_iterations = 0;   ///< before convergence is looked at
  bool from_initial_residual = false;  ///< relative to the first residual also with a guess
  bool from_smaller = false;           ///< relative to the smaller one of right-hand side and first residual
};

/// How a solve went.
struct KrylovOutcome {
  KrylovReason reason = KrylovReason::iterating;
  std::int64_t iterations = 0;
  double norm = 0.0;          ///< the last one computed
  std::vector<double> norms;  ///< of iteration 0, 1, …, iterations
  /// Beside each norm, where KrylovOptions::coefficients asks for them; 0 beside that of iteration 0. CG: the step α
  /// and the direction's β that led to it, 0 in iteration 1. MINRES: diagonal element and the one above it of Lanczos'
  /// tridiagonal matrix.
  std::vector<double> alpha;
  std::vector<double> beta;
  /// GMRES, FGMRES, where KrylovOptions::coefficients asks for it: Hessenberg matrix of the last cycle so far, whose
  /// columns stand one after the other, `restart + 1` elements each. Empty where that cycle has no iteration yet.
  std::vector<double> hessenberg;
  [[nodiscard]] bool converged() const { return static_cast<std::int32_t>(reason) > 0; }
};

/// What a loop is made of.
struct KrylovInfo {
  KrylovForm form = KrylovForm::automatic;  ///< never automatic
  std::string why;                          ///< the form was chosen, one clause
  int stages = 0;                           ///< of an iteration, without the preconditioner's launches
  int applications = 1;                     ///< of the preconditioner in an iteration, where it is a call
  int rows_together = 1;                    ///< that a product takes at a time, since their columns are the same
  std::int64_t vectors = 0;                 ///< work vectors
  std::int64_t bytes = 0;                   ///< memory held
  double bytes_of_iteration = 0.0;  ///< read and written by an iteration, each array once, without the preconditioner
};

/// A system whose rows are dealt out to ranks: consecutive rows to each, in the ranks' order. What a rank knows beside
/// the entries of its rows in columns of its own, which are numbered from 0 on.
struct KrylovRanks {
  const RankGroup* group = nullptr;  ///< must outlive the object
  /// The other entries of its rows, in memory of the backend: a column for each row of another rank that is needed. As
  /// the matrix it stays the caller's and may get other values.
  CsrView outer;
  /// Global number of the row that each column of `outer` stands for, ascending.
  std::vector<std::int64_t> ghosts;
  /// How long a rank that is computing waits for a number from another one, which is computing, too.
  double patience_s = 60.0;
  /// CUDA: whether processes may share a device. They take turns on it, so that each number that passes from one to the
  /// other costs milliseconds: for tests.
  bool shared_devices = false;
};

/// Another rank of a solve has ended or has not answered in time. The object is of no more use.
class TASKDAG_API RankLost : public Error {
 public:
  using Error::Error;
  ~RankLost() override;
};

/// Solves A x = b with a matrix that stays the caller's.
///
/// On several ranks each calls every function in the same order, with options and tolerances that are equal; vectors
/// are those of its own rows. In a solve no message passes: ranks write into each other's memory, so they have to be on
/// one node, on CUDA processes with a device each that can reach those of the others. Sums are added up in the ranks'
/// order: all get the same bits, and so decide alike. What one rank cannot do is an error on all.
///
/// Streams are as in Factorization: device memory, asynchronous launches; solve() itself waits for `stream`, since the
/// outcome is needed on the host. A solve cannot be captured. No input makes it endless: the limit of iterations holds
/// on the device. Sums are in a fixed order: results repeat bitwise from run to run, on host threads for one number of
/// threads.
class TASKDAG_API Krylov {
 public:
  /// a: square, in memory of the context's backend; it and `preconditioner` (null: none) must outlive the object, and
  /// may get other values between solves. The matrix' pattern may not change. Synchronises `stream`.
  /// @throws InvalidInput, also for settings that the method does not have; Unsupported where `form` cannot run it;
  /// DeviceError, OutOfMemory
  Krylov(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options,
         Stream stream = {});
  /// The same on several ranks. `a`: entries of the rank's rows in its own columns; a rank may have no rows.
  /// @throws also Unsupported where the ranks cannot reach each other's memory
  Krylov(const Context& context, const CsrView& a, LinearMap* preconditioner, const KrylovOptions& options,
         const KrylovRanks& ranks, Stream stream = {});
  ~Krylov();
  Krylov(Krylov&&) noexcept;
  Krylov& operator=(Krylov&&) noexcept;

  /// The null space of A, as far as it is known: the constant vector, and others that are orthonormal, to it as well;
  /// `rows` elements each, in memory of the backend, which stay the caller's and as they are. With the left side what
  /// the preconditioner gives is made orthogonal to it in each iteration, as PETSc does; with the right side it is not
  /// looked at. Right-hand side and guess are the caller's: the first should be orthogonal to the null space of Aᵀ. Not
  /// between begin() and end(). Waits for the device. @throws DeviceError, OutOfMemory
  void set_null_space(bool constant, const std::vector<const double*>& vectors);

  /// b, x: `rows` elements in memory of the backend, two arrays. x: the guess where `guess` says so, else not read.
  /// Other arrays than the last time cost nothing. @throws InvalidInput where `stream` is being captured; DeviceError,
  /// OutOfMemory, RankLost
  KrylovOutcome solve(const double* b, double* x, bool guess, const KrylovTolerances& tolerances, Stream stream = {});

  /// The same for `count` right-hand sides: column k is b + k·ldb and x + k·ldx. KrylovOptions::columns of them are
  /// iterated together: each entry of the matrix is read for all, and the preconditioner is applied to all at once
  /// (LinearMap::apply_columns()). Each has its own sums, test and end: bits, norms and reason are those of solve() for
  /// it alone where apply_columns() gives the bits of apply(), whatever is in the others. A column that has ended stays
  /// as it is. @returns how each went. @throws as solve(); Unsupported (by the constructor) where `columns` is above 1
  /// and the method is none of CG and BiCGStab, on several ranks, and with `coefficients`
  std::vector<KrylovOutcome> solve_columns(Index count, const double* b, std::int64_t ldb, double* x, std::int64_t ldx,
                                           bool guess, const KrylovTolerances& tolerances, Stream stream = {});

  /// solve() by pieces, where KrylovOptions::columns is 1: begin() makes everything up to the first test, go_on() at
  /// most so many iterations more, and end() what remains to be done for x. Outcomes have reason iterating until there
  /// is one. go_on() is called again while that is so; with 1 iteration at a time it is how a caller's own monitor or
  /// test is served. A caller who wants no more calls end() at once.
  KrylovOutcome begin(const double* b, double* x, bool guess, const KrylovTolerances& tolerances, Stream stream = {});
  KrylovOutcome go_on(std::int64_t iterations, Stream stream = {});
  void end(Stream stream = {});

  /// The preconditioner launches something else from now on: what has been captured of it is captured anew where it is
  /// next applied. Also between begin() and end(). What was captured must not be running. Does nothing on host threads.
  void capture_anew();

  /// go_on(1), recorded: `trace` gets a span for each stage and for each call of the preconditioner, which has the name
  /// "preconditioner", for engine::write_chrome_trace(). None where the solve has ended. All bits are those of an
  /// iteration that is not recorded, and no other iteration takes longer for it.
  ///
  /// On host threads each thread has a span for its tasks of a stage, and thread 0 one for what it does with the sums
  /// ("NAME: finish", on several ranks with the wait for the others) and for the preconditioner. On CUDA a span is of
  /// the whole device, and the time that launches take is in it; the iteration runs as a graph of its own, or driven by
  /// the host where the loop is. Waits for `stream`. Other ranks of a solve may call go_on(1).
  KrylovOutcome trace_iteration(engine::Report& trace, Stream stream = {});

  [[nodiscard]] KrylovInfo info() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
