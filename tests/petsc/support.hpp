/// \file
/// What the tests of the PETSc plugin share. All functions are collective on PETSC_COMM_WORLD.
#pragma once

#include <gtest/gtest.h>
#include <petscksp.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "taskdag/taskdag.hpp"
#include "taskdagpetsc.h"

namespace taskdag::test {

int ranks();
int rank();

/// A PETSc object that is destroyed at the end of its scope.
template <class Object, PetscErrorCode (*destroy)(Object*)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Owned& operator=(Owned&&) = delete;
  ~Owned() { (void)destroy(&object_); }
  operator Object() const { return object_; }
  Object* out() { return &object_; }

 private:
  Object object_ = nullptr;
};
using OwnedMat = Owned<Mat, MatDestroy>;
using OwnedVec = Owned<Vec, VecDestroy>;
using OwnedKsp = Owned<KSP, KSPDestroy>;
using OwnedPc = Owned<PC, PCDestroy>;
using OwnedIs = Owned<IS, ISDestroy>;

/// The words with a space after each.
std::string words(std::initializer_list<std::string> list);

/// Options that are set inside a scope, and alone there.
class ScopedOptions {
 public:
  explicit ScopedOptions(const std::string& text);
  ScopedOptions(const ScopedOptions&) = delete;
  ScopedOptions& operator=(const ScopedOptions&) = delete;
  ~ScopedOptions();

 private:
  PetscOptions options_ = nullptr;
};

/// Inside its scope PETSc's errors are returned instead of ending the program; the first message is kept.
class ErrorCapture {
 public:
  ErrorCapture();
  ErrorCapture(const ErrorCapture&) = delete;
  ErrorCapture& operator=(const ErrorCapture&) = delete;
  ~ErrorCapture();
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  static PetscErrorCode keep(MPI_Comm, int, const char*, const char*, PetscErrorCode, PetscErrorType, const char*,
                             void*);
  std::string message_;
};

/// Inside its scope PETSc's errors are returned and not reported, as in petsc4py.
class QuietErrors {
 public:
  QuietErrors() { EXPECT_EQ(static_cast<int>(PetscPushErrorHandler(PetscReturnErrorHandler, nullptr)), 0); }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;
  ~QuietErrors() { (void)PetscPopErrorHandler(); }
};

/// Indices as PETSc takes them, whatever their number of bits.
std::vector<PetscInt> to_petsc_indices(const std::vector<Index>& indices);

/// The matrix on all ranks, rows split evenly, or `local_rows` of them on this rank if that is not negative.
OwnedMat make_matrix(const CsrMatrix& a, MatType type = MATAIJ, PetscInt local_rows = PETSC_DECIDE);
/// The matrix on this rank alone.
OwnedMat make_local_matrix(const CsrMatrix& a, MatType type = MATSEQAIJ);

/// What a test with matrices of this type lacks here, in PETSc or in the machine; empty where there is all.
std::string what_is_missing_for(const std::string& type);

/// A vector that fits the matrix, its entries a fixed function of the global index and `seed`.
OwnedVec make_vector(Mat a, double seed = 1.0);

/// max |a − b| / max |b|
double relative_difference(Vec a, Vec b);

/// relative_difference() of what `a` and `b` make of the same vector, one that fits the matrix. A failure to apply them
/// is a failure of the test.
double difference_of_applications(PC a, PC b, Mat matrix);
/// The same of three columns at once, relative to the largest row sum.
double difference_of_columns(PC a, PC b, Mat matrix);

bool is_symmetric(const CsrMatrix& matrix);
/// Each value changed by at most one part in 2^52, in a way that `seed` chooses.
CsrMatrix nudged(CsrMatrix a, unsigned seed);

/// Files of the folder that TASKDAG_MATRIX_DIR names, ascending; none where it is not set.
std::vector<std::string> listed_matrices();

/// A matrix of tests/data.
CsrMatrix load(const std::string& name);

/// What a solve gave.
struct Solve {
  PetscErrorCode code{};
  std::string message;  ///< of the error, if code is not zero
  PetscInt iterations = -1;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;
  PCFailedReason failed = PC_NOERROR;
  double residual = -1.0;  ///< last residual norm of the iteration
  std::string view;        ///< KSPView
};

/// Solves with a fixed right-hand side and the given options, -ksp_rtol 1e-8 unless they say otherwise.
Solve solve(Mat a, const std::string& options);

/// The text that KSPView prints.
std::string view_text(KSP ksp, PetscViewerFormat format = PETSC_VIEWER_DEFAULT);

/// A preconditioner for `a`, set from `options` and set up.
OwnedPc make_pc(Mat a, const std::string& options);

/// Executions of a logged event so far on this rank.
int event_count(const char* name);
/// What PETSc's log has counted of the event.
PetscEventPerfInfo event_info(const char* name);

}  // namespace taskdag::test

/// For calls that must succeed.
#define PETSC_OK(call) ASSERT_EQ(static_cast<int>(call), 0)

namespace taskdag::test {
/// A suite whose tests run on both backends, the CUDA ones with data in host memory; without a GPU those are skipped.
class OnBackend : public testing::TestWithParam<std::string> {
 public:
  /// From now on. @returns whether it can be used
  static bool use(const std::string& name);
  static Backend backend();
  /// "-pc_taskdag_backend host "
  static std::string option();

 protected:
  void SetUp() override {
    if (!use(GetParam())) GTEST_SKIP() << probe_devices().message;
  }
};
/// Its parameters, and their names.
std::vector<std::string> backends();
std::string name_of_backend(const testing::TestParamInfo<std::string>& test);
}  // namespace taskdag::test

/// The same for suites with other parameters beside.
#define SKIP_WITHOUT_BACKEND(name) \
  if (!::taskdag::test::OnBackend::use(name)) GTEST_SKIP() << ::taskdag::probe_devices().message

#define SKIP_UNLESS_RANKS(condition, what) \
  if (!(condition)) GTEST_SKIP() << "runs on " << what << " only, this is " << ::taskdag::test::ranks()
