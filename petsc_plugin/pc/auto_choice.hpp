/// \file
/// Which preconditioner -pc_taskdag_type auto takes: from the rows' diagonals for a first solve, from the solves that
/// were timed for later ones. Knows nothing of PETSc's objects.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "taskdag/calibration.hpp"

namespace taskdag::petsc {

/// What `auto` takes: a factor and Jacobi in turn, and multigrid where so many solves come with one matrix that the
/// set-up is repaid.
enum class Candidate { factor, jacobi, multigrid };
inline constexpr std::size_t kCandidates = 3;
/// Of the first two.
inline Candidate other(Candidate candidate) {
  return candidate == Candidate::factor ? Candidate::jacobi : Candidate::factor;
}

/// Of the matrix on all ranks that share a preconditioner.
struct MatrixLook {
  double rows = 0.0;  ///< of all ranks; the next five are counts of rows, as in DiagonalDominance
  double absent = 0.0;
  double zero = 0.0;
  double negative = 0.0;
  double strict = 0.0;
  double poor = 0.0;
  double local_rows = 0.0;     ///< the most of a rank
  double local_entries = 0.0;  ///< the most of a rank
  bool settles = false;    ///< Jacobi sweeps come to rest soon on all ranks with more than few rows that are `poor`; on
                           ///< host threads it is not looked at where there are such ranks
  bool deep = false;       ///< the lower triangle of a rank with more than kSmallRows has deep_limit() levels
  bool symmetric = false;  ///< PETSc knows, or the ranks' own blocks were found to be
  bool cuda = false;       ///< all ranks with rows work there
  bool on_device = false;  ///< and have their rows there
  bool in_loop = false;    ///< a Krylov loop of TaskDAG on a GPU, where the matrix lies, of one rank, is to apply it
  bool in_any_loop = false;  ///< one of TaskDAG, wherever the matrix lies, also on several ranks
  DeviceRates rates{};       ///< the highest of the ranks' GPUs
};

/// From so many of its rows' sums on a diagonal entry is `poor`.
inline constexpr double kPoor = 1.5;

/// Whether these are more than a few of the rows, where Jacobi need not come to an end with a matrix that is not
/// symmetric; conjugate gradients do, with Jacobi as with a factor.
inline bool too_many_poor(double poor, double rows) { return poor > 0.01 * rows; }

/// Largest number of rows whose factor is made on the host and applied by one thread block, for a short set-up.
inline constexpr int kSmallRows = 3000;

/// A step of Jacobi takes what is known one row further: from so many levels on a factor is made at once, unless the
/// diagonal dominates. 0: whatever their number, it is not. A matrix that is not symmetric: BiCGStab pays for each step
/// with two products. A symmetric one: with short rows and the levels of a grid in the plane.
double deep_limit(bool symmetric, double rows, double entries);

struct FirstChoice {
  Candidate candidate = Candidate::factor;
  std::string reason;        ///< for people
  bool may_jacobi = true;    ///< whether Jacobi may be tried beside a factor that works
  bool only_jacobi = false;  ///< a factor cannot be set up
};

/// What a first solve in a process takes.
FirstChoice first_choice(const MatrixLook& look);

/// Seconds of an iteration of CG with Jacobi in such a loop, about.
double jacobi_iteration_in_loop(const MatrixLook& look);

/// What multigrid promises.
struct MultigridPromise {
  bool may = false;     ///< it may be taken: the matrix is of the kind that PETSc's GAMG is made for
  double set_up = 0.0;  ///< seconds, about, by PETSc
  double solve = 0.0;   ///< seconds, about, inside a loop of ours
};
/// It may be taken for symmetric matrices with a positive diagonal that most rows neither fall far short of nor exceed
/// by much, in a loop of ours. On several ranks each is taken to be done with what it has.
MultigridPromise promise_of_multigrid(const MatrixLook& look);

/// Seconds that the first set-up of a factor takes on CUDA, about.
double expected_set_up(double local_rows, double local_entries, const DeviceRates& rates);

/// What solves took, and what is to be taken for the next one. Of solves that end on all ranks alike.
class SolveHistory {
 public:
  /// What one candidate has shown.
  struct Record {
    int solves = 0;
    double seconds = 0.0;  ///< of all solves, new values that they needed included
    double best = 0.0;     ///< of the fastest solve
    long best_iterations = 0;
    bool failed = false;  ///< a set-up or a solve has
  };

  /// tries_all: each candidate that may be tried is, whether it promises to pay or not.
  explicit SolveHistory(bool tries_all = false) : tries_all_(tries_all) {}

  /// jacobi_iteration: seconds, where a loop of ours is to apply it: then Jacobi is tried beside a factor whose
  /// iterations cost many of it. 0: there is no such loop.
  void start(const FirstChoice& choice, double jacobi_iteration = 0.0, const MultigridPromise& multigrid = {}) {
    take(choice.candidate);
    jacobi_iteration_ = choice.may_jacobi ? jacobi_iteration : 0.0;
    multigrid_ = multigrid;
    tries_all_ = tries_all_ && choice.may_jacobi;
    if (choice.only_jacobi) record(Candidate::factor).failed = true;
  }
  /// The matrix has become another one, and multigrid, whose set-up takes long, is left until it is repaid again.
  void note_new_values() {
    spent_ = 0.0;
    current_ = plain_;
  }
  /// A solve without iterations says nothing.
  void note_solve(double seconds, long iterations, bool converged);
  /// It could not be set up: it is out for good, and the other one is current.
  void note_failed_set_up(Candidate candidate);
  void take(Candidate candidate) {
    current_ = candidate;
    if (candidate != Candidate::multigrid) plain_ = candidate;
  }

  [[nodiscard]] bool is_empty() const { return records_[0].solves + records_[1].solves == 0; }
  [[nodiscard]] Candidate current() const { return current_; }
  /// What takes the place of the current one.
  [[nodiscard]] Candidate rival() const { return current_ == Candidate::multigrid ? plain_ : other(current_); }
  /// Whether it may do what the current one could not: it has not failed yet.
  [[nodiscard]] bool has_rival() const { return !of(rival()).failed; }
  /// What to take for the next solve. set_up: seconds that setting up the factor takes. Once a factor and Jacobi have
  /// been seen the faster one stays, unless it fails. Multigrid is taken when the solves with one matrix have taken its
  /// set-up longer than it promises for them, and left where it does not keep that.
  Candidate decide(double set_up);
  [[nodiscard]] const MultigridPromise& multigrid() const { return multigrid_; }
  [[nodiscard]] const Record& of(Candidate candidate) const { return records_[static_cast<std::size_t>(candidate)]; }

 private:
  [[nodiscard]] bool rival_promises(double set_up) const;
  [[nodiscard]] Candidate decide_between_plain_ones(double set_up);
  [[nodiscard]] bool multigrid_is_slower() const;
  [[nodiscard]] Record& record(Candidate candidate) { return records_[static_cast<std::size_t>(candidate)]; }

  bool tries_all_;
  double jacobi_iteration_ = 0.0;
  bool settled_ = false;
  MultigridPromise multigrid_;
  double spent_ = 0.0;  ///< seconds of solves with the matrix as it is, beyond what multigrid promises for them
  Candidate current_ = Candidate::factor;
  Candidate plain_ = Candidate::factor;  ///< current, or what was so before multigrid
  std::array<Record, kCandidates> records_;
};

}  // namespace taskdag::petsc
