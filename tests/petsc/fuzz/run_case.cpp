#include "run_case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>

#include "matrices.hpp"
#include "setup.hpp"

namespace taskdag::test {
namespace {

using Numbers = std::vector<double>;

bool finite(const Numbers& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

/// Infinite where there is a NaN.
double largest(const Numbers& x) {
  double most = 0.0;
  for (const double v : x) most = std::max(most, std::isnan(v) ? HUGE_VAL : std::abs(v));
  return most;
}

double difference(const Numbers& x, const Numbers& y) {
  double most = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

/// Ways to apply a preconditioner.
enum class Way { full, transposed, left_half, right_half, left_side, right_side, both_sides, many };

const char* name_of(Way way) {
  constexpr std::array<const char*, 8> names = {"PCApply",
                                                "PCApplyTranspose",
                                                "PCApplySymmetricLeft",
                                                "PCApplySymmetricRight",
                                                "PCApplyBAorAB left",
                                                "PCApplyBAorAB right",
                                                "PCApplyBAorAB symmetric",
                                                "PCMatApply"};
  return names[static_cast<std::size_t>(way)];
}

/// The right-hand sides of a case, and what comes of them.
class Vectors {
 public:
  Vectors(Random& random, PetscInt n, PetscInt columns) : rows_(n), columns_(columns) {
    must(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, b_.out()));
    must(MatCreateSeqDense(PETSC_COMM_SELF, n, columns, nullptr, x_.out()));
    must(VecCreateSeq(PETSC_COMM_SELF, n, first_.out()));
    must(VecDuplicate(first_, result_.out()));
    must(VecDuplicate(first_, work_.out()));
    PetscScalar* array = nullptr;
    must(MatDenseGetArrayWrite(b_, &array));
    for (PetscInt k = 0; k < n * columns; ++k) array[k] = random.chance(0.1) ? 0.0 : random.symmetric();
    must(MatDenseRestoreArrayWrite(b_, &array));
    for (Mat dense : {static_cast<Mat>(b_), static_cast<Mat>(x_)}) {
      must(MatAssemblyBegin(dense, MAT_FINAL_ASSEMBLY));
      must(MatAssemblyEnd(dense, MAT_FINAL_ASSEMBLY));
    }
    const PetscScalar* from = nullptr;
    PetscScalar* to = nullptr;
    must(MatDenseGetArrayRead(b_, &from));
    must(VecGetArrayWrite(first_, &to));
    if (n > 0) std::copy(from, from + n, to);
    must(VecRestoreArrayWrite(first_, &to));
    must(MatDenseRestoreArrayRead(b_, &from));
  }

  PetscErrorCode apply(PC pc, Way way, Numbers* numbers) const {
    PetscErrorCode code{};
    switch (way) {
      case Way::full:
        code = PCApply(pc, first_, result_);
        break;
      case Way::transposed:
        code = PCApplyTranspose(pc, first_, result_);
        break;
      case Way::left_half:
        code = PCApplySymmetricLeft(pc, first_, result_);
        break;
      case Way::right_half:
        code = PCApplySymmetricRight(pc, first_, result_);
        break;
      case Way::left_side:
        code = PCApplyBAorAB(pc, PC_LEFT, first_, result_, work_);
        break;
      case Way::right_side:
        code = PCApplyBAorAB(pc, PC_RIGHT, first_, result_, work_);
        break;
      case Way::both_sides:
        code = PCApplyBAorAB(pc, PC_SYMMETRIC, first_, result_, work_);
        break;
      case Way::many:
        code = PCMatApply(pc, b_, x_);
        break;
    }
    if (static_cast<int>(code) != 0) return code;
    const PetscScalar* array = nullptr;
    if (way == Way::many) {
      must(MatDenseGetArrayRead(x_, &array));
      numbers->assign(array, array + static_cast<std::ptrdiff_t>(rows_) * columns_);
      must(MatDenseRestoreArrayRead(x_, &array));
    } else {
      must(VecGetArrayRead(result_, &array));
      numbers->assign(array, array + rows_);
      must(VecRestoreArrayRead(result_, &array));
    }
    return code;
  }

  /// Damped Jacobi sweeps with a PC of one sweep.
  void sweep(PC pc, Mat a, const Setup& setup, bool transposed, Numbers* numbers) const {
    OwnedVec step;
    must(VecDuplicate(first_, step.out()));
    must(VecSet(result_, 0.0));
    for (int k = 0; k < setup.sweeps; ++k) {
      if (k == 0)
        must(VecCopy(first_, work_));
      else if (transposed)
        must(MatMultTranspose(a, result_, work_));
      else
        must(MatMult(a, result_, work_));
      if (k > 0) must(VecAYPX(work_, -1.0, first_));
      must(PCApply(pc, work_, step));
      must(VecAXPY(result_, setup.damping, step));
    }
    const PetscScalar* array = nullptr;
    must(VecGetArrayRead(result_, &array));
    numbers->assign(array, array + rows_);
    must(VecRestoreArrayRead(result_, &array));
  }

 private:
  PetscInt rows_;
  PetscInt columns_;
  OwnedMat b_, x_;
  OwnedVec first_, result_, work_;
};

/// What a set-up came to.
struct Outcome {
  PetscErrorCode code{};
  PCFailedReason reason = PC_NOERROR;
  std::string message;
  bool operator==(const Outcome& other) const { return code == other.code && reason == other.reason; }
};

std::string text_of(const Outcome& outcome) {
  if (static_cast<int>(outcome.code) != 0)
    return "error " + std::to_string(static_cast<int>(outcome.code)) + " (" + outcome.message + ")";
  return "reason " + std::to_string(static_cast<int>(outcome.reason));
}

void make(OwnedPc& pc, Mat a) {
  must(PCCreate(PETSC_COMM_SELF, pc.out()));
  must(PCSetOperators(pc, a, a));
}

/// Whether it makes infinities of zeros: our word, at an application, for a factor that is not finite.
bool gives_infinities(PC pc) {
  Mat a = nullptr;
  OwnedVec b;
  OwnedVec x;
  PetscReal least = 0.0;
  PetscInt rows = 0;
  must(PCGetOperators(pc, &a, nullptr));
  must(MatCreateVecs(a, b.out(), x.out()));
  must(VecSet(b, 0.0));
  if (static_cast<int>(PCApply(pc, b, x)) != 0) return false;
  must(VecMin(x, nullptr, &least));
  must(VecGetSize(x, &rows));
  return rows > 0 && std::isinf(least) && least > 0.0;
}

Outcome set_up(PC pc, const std::string* options) {
  Outcome outcome;
  std::optional<ScopedOptions> scope;
  if (options) scope.emplace(*options);
  const ErrorCapture errors;
  if (options) outcome.code = PCSetFromOptions(pc);
  if (static_cast<int>(outcome.code) == 0) outcome.code = PCSetUp(pc);
  outcome.message = errors.message();
  if (static_cast<int>(outcome.code) == 0) must(PCGetFailedReason(pc, &outcome.reason));
  if (static_cast<int>(outcome.code) == 0 && outcome.reason == PC_NOERROR && gives_infinities(pc))
    outcome.reason = PC_FACTOR_OTHER;
  return outcome;
}

/// A case in progress.
class Case {
 public:
  Case(unsigned long seed, bool verbose)
      : random_(seed), verbose_(verbose), csr_(random_matrix(random_, random_rows(random_))) {
    setup_ = random_setup(random_, csr_, false);
    complete_matrix();
  }

  CaseResult run() {
    give_matrix(true);
    make(ours_, matrix());
    std::string options = setup_.ours();
    check(&options);
    const int rounds = random_.whole(0, 3);
    for (int round = 0; round < rounds && result_.faults.empty(); ++round) {
      const bool again = change();
      options = setup_.ours();
      check(again ? &options : nullptr);
    }
    return result_;
  }

 private:
  [[nodiscard]] Mat matrix() const { return given_.back(); }

  /// So that the type of the matrix can hold it.
  void complete_matrix() {
    if (csr_.rows == 0 || csr_.rows % setup_.block != 0) setup_.block = 1;
    if (setup_.block > 1) complete_blocks(csr_, setup_.block);
  }

  /// The matrix that the plugin gets: the same object with other values, or a new one.
  void give_matrix(bool anew) {
    OwnedMat aij = to_petsc(csr_);
    OwnedMat wanted;
    if (!anew) {
      must(MatCopy(aij, matrix(), SAME_NONZERO_PATTERN));
      return;
    }
    if (setup_.type != "aij" && csr_.rows > 0) {
      must(MatSetBlockSize(aij, setup_.block));
      must(MatConvert(aij, setup_.type.c_str(), MAT_INITIAL_MATRIX, wanted.out()));
      given_.push_back(std::move(wanted));
    } else {
      given_.push_back(std::move(aij));
    }
  }

  /// Something new for the same preconditioner. Returns whether it is to read its options again.
  bool change() {
    const int what = random_.whole(0, 2);
    // PETSc's own preconditioners hold on to a failed reason when only values change.
    if (what == 0 && setup_.type == "aij" && !setup_.moves_columns() && !(setup_.package && failed_)) {
      renew_values(random_, csr_);
      give_matrix(false);
      say("other values");
      return random_.chance(0.2);
    }
    if (what == 1 || setup_.package) {
      const PetscInt rows = csr_.rows;
      csr_ = random_matrix(random_, random_.chance(0.6) ? rows : random_rows(random_));
      // PETSc's preconditioners keep what an error left half done, and no PC takes another size.
      const bool fresh = setup_.package || csr_.rows != rows;
      if (!csr_.symmetric && setup_.type == "sbaij") setup_.type = "aij";
      if (setup_.type == "aij") setup_.block = 1;
      complete_matrix();
      if (csr_.rows == 0) setup_.ordering = setup_.schedule == "blocks" ? "taskdag_bmc" : "natural";
      give_matrix(true);
      if (fresh) must(PCReset(ours_));
      must(PCSetOperators(ours_, matrix(), matrix()));
      say("another matrix");
      return fresh;
    }
    const std::string type = setup_.type;
    const int block = setup_.block;
    do setup_ = random_setup(random_, csr_, true);
    while (setup_.moves_columns());  // an option that our own preconditioner refuses
    setup_.package = false;
    setup_.type = type;
    setup_.block = block;
    if (type == "sbaij") setup_.kind = Kind::icc;
    say("other options");
    return true;
  }

  void say(const std::string& what) const {
    if (verbose_)
      std::printf("%s, %d rows, %zu entries: %s\n", what.c_str(), static_cast<int>(csr_.rows), csr_.entries.size(),
                  setup_.ours().c_str());
  }

  void fault(const std::string& what) {
    result_.faults.push_back(what + "; " + setup_.ours() + "; " + setup_.type + " " + std::to_string(setup_.block));
  }

  /// Sets up, applies, and compares.
  void check(const std::string* options) {
    const ScopedOptions scope(setup_.ours());  // the package reads them whenever it is set up
    say(options ? "set-up with options" : "set-up");
    if (verbose_) {
      for (const auto& [i, j, v] : csr_.entries)
        std::printf("(%d, %d) %.17g\n", static_cast<int>(i), static_cast<int>(j), v);
    }
    ++result_.set_ups;
    const Outcome found = set_up(ours_, options);
    if (verbose_) std::printf("ours: %s\n", text_of(found).c_str());
    result_.refused += static_cast<int>(found.code) != 0 ? 1 : 0;
    failed_ = static_cast<int>(found.code) != 0 || found.reason != PC_NOERROR;
    result_.bad_numbers += found.reason != PC_NOERROR ? 1 : 0;
    const Vectors vectors(random_, csr_.rows, random_.whole(1, 11));
    const bool usable = static_cast<int>(found.code) == 0 && found.reason == PC_NOERROR;
    std::vector<Way> ways{Way::full};
    // SOR is applied transposed for matrices that are known to be symmetric alone.
    if (random_.chance(0.5) && setup_.kind != Kind::sor) ways.push_back(Way::transposed);
    if (random_.chance(0.3)) ways.push_back(Way::many);
    if (random_.chance(0.2)) ways.push_back(random_.one_of({Way::left_side, Way::right_side}));
    if ((setup_.kind == Kind::icc || setup_.kind == Kind::dic) && random_.chance(0.5)) {
      ways.push_back(Way::left_half);
      ways.push_back(Way::right_half);
      ways.push_back(Way::both_sides);
    }
    std::vector<Numbers> results;
    for (const Way way : ways) {
      Numbers numbers;
      Outcome applied;
      {
        const ErrorCapture errors;
        applied.code = vectors.apply(ours_, way, &numbers);
        applied.message = errors.message();
      }
      if (usable && static_cast<int>(applied.code) != 0 && !has_no_half(applied, way))
        fault(std::string(name_of(way)) + ": " + text_of(applied));
      if (!usable && static_cast<int>(found.code) != 0 && static_cast<int>(applied.code) == 0)
        fault(std::string(name_of(way)) + " works after a set-up with an error");
      if (static_cast<int>(found.code) == 0 && found.reason != PC_NOERROR && csr_.rows > 0 &&
          static_cast<int>(applied.code) == 0 && finite(numbers))
        fault(std::string(name_of(way)) + " is finite after a set-up with reason " + std::to_string(found.reason));
      if (static_cast<int>(applied.code) != 0) numbers.clear();
      results.push_back(std::move(numbers));
    }
    if (setup_.has_theirs(csr_)) compare_with_theirs(found, vectors, ways, results);
    // What has not fit into single precision once is in double from then on, in a new preconditioner only where it is
    // so.
    const bool has_history = setup_.precision == "single" && was_extreme_;
    if (random_.chance(0.3) && !has_history) compare_with_serial(found, vectors, ways, results);
    was_extreme_ = was_extreme_ || csr_.extreme;
  }

  /// Halves of a factor with negative pivots do not exist; PETSc's are not numbers. Nor do those of point blocks.
  bool has_no_half(const Outcome& applied, Way way) const {
    return (way == Way::left_half || way == Way::right_half || way == Way::both_sides) &&
           (applied.message.find("negative") != std::string::npos ||
            (setup_.by_blocks() && (applied.message.find("point blocks has no symmetric parts") != std::string::npos ||
                                    applied.message.find("No method ") != std::string::npos)));
  }

  void compare_with_serial(const Outcome& found, const Vectors& vectors, const std::vector<Way>& ways,
                           const std::vector<Numbers>& results) {
    OwnedPc serial;
    make(serial, matrix());
    const std::string options = setup_.serial();
    const Outcome outcome = set_up(serial, &options);
    if (!(outcome == found)) fault("with one thread: " + text_of(outcome) + ", not " + text_of(found));
    if (static_cast<int>(outcome.code) != 0) return;
    for (std::size_t k = 0; k < ways.size(); ++k) {
      Numbers numbers;
      const ErrorCapture errors;
      if (static_cast<int>(vectors.apply(serial, ways[k], &numbers)) != 0 || results[k].empty()) continue;
      const bool same = std::equal(numbers.begin(), numbers.end(), results[k].begin(), results[k].end(),
                                   [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
      if (!same) fault(std::string(name_of(ways[k])) + " has other bits with one thread");
      ++result_.same_bits;
    }
  }

  /// PETSc's own preconditioner, new, for the same entries.
  struct Theirs {
    OwnedMat a;
    OwnedPc pc;
    Outcome outcome;
  };
  [[nodiscard]] Theirs theirs(double wobble) const {
    Theirs it;
    OwnedMat a = to_petsc(csr_, wobble);
    must(PCCreate(PETSC_COMM_SELF, it.pc.out()));
    must(PCSetOperators(it.pc, a, a));
    const std::string options = setup_.theirs();
    it.outcome = set_up(it.pc, &options);
    return {std::move(a), std::move(it.pc), it.outcome};
  }

  [[nodiscard]] bool numbers_of(const Theirs& it, const Vectors& vectors, Way way, Numbers* numbers) const {
    if (static_cast<int>(it.outcome.code) != 0 || it.outcome.reason != PC_NOERROR) return false;
    const ErrorCapture errors;
    const bool sweeps = setup_.kind == Kind::jacobi && (setup_.sweeps > 1 || setup_.damping != 1.0);
    if (sweeps && way != Way::full && way != Way::transposed) return false;
    if (!sweeps) return static_cast<int>(vectors.apply(it.pc, way, numbers)) == 0;
    vectors.sweep(it.pc, it.a, setup_, way == Way::transposed, numbers);
    return true;
  }

  [[nodiscard]] bool varies(const Theirs& reference, const std::array<Theirs, 2>& wobbled,
                            const Vectors& vectors) const {
    Numbers expected;
    if (!numbers_of(reference, vectors, Way::full, &expected)) return false;
    return std::any_of(wobbled.begin(), wobbled.end(), [&](const Theirs& t) {
      Numbers near;
      return numbers_of(t, vectors, Way::full, &near) && !(difference(near, expected) <= 1e-6 * largest(expected));
    });
  }

  void compare_with_theirs(const Outcome& found, const Vectors& vectors, const std::vector<Way>& ways,
                           const std::vector<Numbers>& results) {
    constexpr double kWobble = 64.0;
    const Theirs reference = theirs(0.0);
    if (verbose_) std::printf("theirs: %s\n", text_of(reference.outcome).c_str());
    const std::array<Theirs, 2> wobbled = {theirs(kWobble), theirs(-2.0 * kWobble)};
    const bool borderline =
        std::any_of(wobbled.begin(), wobbled.end(), [&](const Theirs& t) { return !(t.outcome == reference.outcome); });
    // A pivot that is 0 in one order of subtractions is a rounding error in another: what PETSc makes of that changes
    // with the last bits of the matrix.
    const bool rounding = found.reason == PC_FACTOR_NUMERIC_ZEROPIVOT && reference.outcome.reason == PC_NOERROR &&
                          varies(reference, wobbled, vectors);
    if (!same_outcome(found, reference, vectors) && !borderline && !rounding)
      fault(text_of(found) + ", PETSc has " + text_of(reference.outcome));
    if (!(found == reference.outcome)) return;
    for (std::size_t k = 0; k < ways.size(); ++k) {
      Numbers expected;
      if (results[k].empty() || !numbers_of(reference, vectors, ways[k], &expected)) continue;
      double spread = 0.0;
      bool stable = !setup_.has_tiny_shift() && finite(expected) && !borderline && largest(expected) < 1e100;
      for (const Theirs& t : wobbled) {
        Numbers near;
        stable = stable && numbers_of(t, vectors, ways[k], &near) && finite(near);
        if (stable) spread = std::max(spread, difference(near, expected));
      }
      const double size = largest(expected);
      stable = stable && spread <= 1e-9 * size;
      if (!stable) {
        ++result_.unstable;
        continue;
      }
      ++result_.compared;
      const double error = difference(results[k], expected);
      if (!(error <= 32.0 * spread + 1e-9 * size) && !csr_.extreme) {
        std::ostringstream text;
        text << name_of(ways[k]) << " differs from PETSc's by " << error << " of " << size
             << ", which itself varies by " << spread;
        fault(text.str());
      }
    }
  }

  /// Whether ours is what PETSc says, or more than it says where numbers are not finite.
  [[nodiscard]] bool same_outcome(const Outcome& found, const Theirs& reference, const Vectors& vectors) const {
    if (found == reference.outcome) return true;
    if (csr_.extreme) return static_cast<int>(found.code) == static_cast<int>(reference.outcome.code);
    Numbers numbers;
    // Infinite pivots have inverses of 0: what PETSc makes of them may be finite, but is large on the way.
    return found.reason == PC_FACTOR_OTHER && reference.outcome.reason == PC_NOERROR &&
           (setup_.has_tiny_shift() ||
            (numbers_of(reference, vectors, Way::full, &numbers) && !(largest(numbers) < 1e100)));
  }

  Random random_;
  bool verbose_;
  RandomMatrix csr_;
  Setup setup_;
  std::vector<OwnedMat> given_;
  OwnedPc ours_;
  bool failed_ = false;
  bool was_extreme_ = false;  ///< values of a set-up before this one  ///< the last set-up
  CaseResult result_;
};

}  // namespace

CaseResult run_case(unsigned long seed, bool verbose) {
  try {
    return Case(seed, verbose).run();
  } catch (const std::exception& error) {
    CaseResult result;
    result.faults.emplace_back(error.what());
    return result;
  }
}

}  // namespace taskdag::test
