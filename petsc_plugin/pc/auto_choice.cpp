#include "pc/auto_choice.hpp"

#include <cmath>

namespace taskdag::petsc {
namespace {

constexpr double kManyLevels = 250.0;

std::string count(double rows) { return std::to_string(std::llround(rows)); }

/// Iterations of Jacobi in a loop of ours are so cheap that fewer rows than this leave a factor, whose set-up takes as
/// long as a thousand of them, behind in the first solve, however deep the matrix is.
double rows_for_depth(const MatrixLook& look) {
  if (!look.in_loop) return 0.0;
  return look.symmetric ? 700000.0 : 100000.0;
}

}  // namespace

double deep_limit(bool symmetric, double rows, double entries) {
  constexpr double kShortRow = 6.0;
  constexpr double kOfPlane = 1.5;  // a square of five points has twice the root of its rows, a cube far fewer
  if (!symmetric) return kManyLevels;
  return entries <= kShortRow * rows ? std::ceil(kOfPlane * std::sqrt(rows)) : 0.0;
}

FirstChoice first_choice(const MatrixLook& look) {
  constexpr double kManyStrict = 0.5;
  const std::string of_rows = " of " + count(look.rows) + " rows";
  if (look.absent > 0)
    return {Candidate::jacobi, count(look.absent) + of_rows + " have no diagonal entry, which a factor needs", true,
            true};
  if (look.zero > 0) return {Candidate::factor, count(look.zero) + of_rows + " have no diagonal to divide by", false};
  if (look.symmetric && look.negative > 0 && look.negative < look.rows)
    return {Candidate::factor, count(look.negative) + of_rows + " have a negative diagonal, others a positive one",
            false};
  if (!look.symmetric && too_many_poor(look.poor, look.rows) && !look.settles)
    return {Candidate::factor, count(look.poor) + of_rows + " have a small diagonal", false};
  if (!look.cuda) return {Candidate::factor, "on host threads a factor costs no more than some iterations", true};
  if (!look.in_loop && look.local_rows <= kSmallRows)
    return {Candidate::factor, "few rows: a factor is soon made", true};
  if (look.deep && look.strict < kManyStrict * look.rows && look.local_rows >= rows_for_depth(look))
    return {Candidate::factor,
            look.symmetric ? "as many levels as a grid in the plane has: Jacobi takes many iterations"
                           : count(kManyLevels) + " or more levels: Jacobi may take as many iterations",
            true};
  return {Candidate::jacobi, "setting up a factor takes longer than many iterations", true};
}

double jacobi_iteration_in_loop(const MatrixLook& look) {
  // Of krylov.sh on an H200: launches, and bytes at the speed of memory.
  constexpr double kAnyway = 10e-6;
  constexpr double kPerEntry = 4e-12;
  constexpr double kPerRow = 35e-12;
  return look.rates.launch * kAnyway + look.rates.byte * kPerEntry * look.local_entries +
         look.rates.byte * kPerRow * look.local_rows;
}

double expected_set_up(double local_rows, double local_entries, const DeviceRates& rates) {
  // Of choice.sh on H100 and H200, 600 rows to 28 million entries: docs/choosing.md. Most of kAnyway is the host's.
  constexpr double kByHost = 3e-3;
  constexpr double kAnyway = 10e-3;
  constexpr double kPerEntry = 1.2e-9;
  return local_rows <= kSmallRows ? kByHost : kAnyway + rates.byte * kPerEntry * local_entries;
}

MultigridPromise promise_of_multigrid(const MatrixLook& look) {
  constexpr double kFewRows = 20000.0;  // a solve takes a millisecond with anything
  constexpr double kShortRow = 32.0;
  constexpr double kManyStrict = 0.5;  // so that few iterations do
  constexpr double kIterations = 12.0;
  // Of krylov.sh (h200-multigrid.csv, host-multigrid.csv): an iteration, and the set-up, by PETSc on the host.
  constexpr double kAnyway = 75e-6;
  constexpr double kPerEntry = 50e-12;
  constexpr double kSetUpPerEntry = 0.2e-6;
  constexpr double kHostPerEntry = 14e-9;
  constexpr double kHostSetUpPerEntry = 0.5e-6;
  MultigridPromise promise;
  promise.may = look.in_any_loop && look.symmetric && look.rows >= kFewRows && look.absent == 0 && look.zero == 0 &&
                look.negative == 0 && !too_many_poor(look.poor, look.rows) && look.strict < kManyStrict * look.rows &&
                look.local_entries <= kShortRow * look.local_rows;
  promise.set_up = (look.on_device ? kSetUpPerEntry : kHostSetUpPerEntry) * look.local_entries;
  promise.solve =
      kIterations * (look.cuda ? look.rates.launch * kAnyway + look.rates.byte * kPerEntry * look.local_entries
                               : kHostPerEntry * look.local_entries);
  return promise;
}

void SolveHistory::note_solve(double seconds, long iterations, bool converged) {
  if (iterations == 0 && converged) return;
  Record& now = record(current_);
  if (!converged) now.failed = true;
  if (now.solves == 0 || seconds < now.best) {
    now.best = seconds;
    now.best_iterations = iterations;
  }
  ++now.solves;
  now.seconds += seconds;
  if (current_ != Candidate::multigrid && seconds > multigrid_.solve) spent_ += seconds - multigrid_.solve;
}

void SolveHistory::note_failed_set_up(Candidate candidate) {
  const Candidate next = rival();
  record(candidate).failed = true;
  take(next);
}

/// Of one that has not been tried.
bool SolveHistory::rival_promises(double set_up) const {
  // A factor saves a third of the time where it saves any: after twice its set-up it would have paid, nearly.
  constexpr double kPatience = 2.0;
  // So many iterations of Jacobi stand for one with a factor. The first solve has to load what it runs, which may be
  // most of it where a loop of ours does the rest.
  constexpr double kIterations = 4.0;
  constexpr int kSolvesToSee = 2;
  constexpr double kLoading = 10e-3;
  const Record& now = of(current_);
  const double loading = jacobi_iteration_ > 0.0 ? kLoading : 0.0;
  if (current_ == Candidate::jacobi) return now.seconds - loading > kPatience * set_up;
  if (jacobi_iteration_ == 0.0 || now.solves < kSolvesToSee) return false;
  return now.best > kIterations * jacobi_iteration_ * static_cast<double>(now.best_iterations);
}

bool SolveHistory::multigrid_is_slower() const {
  constexpr int kSolvesToJudge = 2;  // a first one has to load what it runs
  const Record& multigrid = of(Candidate::multigrid);
  return multigrid.failed || (multigrid.solves >= kSolvesToJudge && of(plain_).best <= multigrid.best);
}

Candidate SolveHistory::decide(double set_up) {
  if (current_ == Candidate::multigrid) return multigrid_is_slower() ? plain_ : current_;
  if (multigrid_.may && !multigrid_is_slower() && spent_ > multigrid_.set_up) return Candidate::multigrid;
  return decide_between_plain_ones(set_up);
}

Candidate SolveHistory::decide_between_plain_ones(double set_up) {
  // A first solve has to load what it runs.
  constexpr int kSolvesToJudge = 2;
  const Record& now = of(current_);
  const Record& rival = of(other(current_));
  if (rival.failed) return current_;
  if (now.failed) return other(current_);
  if (settled_) return current_;
  if (rival.solves == 0) {
    if (tries_all_) return now.solves >= kSolvesToJudge ? other(current_) : current_;
    return rival_promises(set_up) ? other(current_) : current_;
  }
  if (now.solves < kSolvesToJudge) return current_;
  settled_ = true;
  return rival.best < now.best ? other(current_) : current_;
}

}  // namespace taskdag::petsc
