#include "petsc_rival.hpp"

#include <petscmat.h>

#include <vector>

#include "taskdag/error.hpp"

namespace taskdag::benchmark {

namespace {

void check(PetscErrorCode code) {
  if (code != 0) throw Error("PETSc error " + std::to_string(static_cast<int>(code)));
}

/// PETSc is initialised with the first rival and finalised when the program ends.
class Session {
 public:
  Session() { check(PetscInitializeNoArguments()); }
  ~Session() { static_cast<void>(PetscFinalize()); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

}  // namespace

struct PetscRival::State {
  std::vector<PetscInt> offsets;
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  Mat matrix = nullptr;
  Mat factor = nullptr;
  IS order = nullptr;
  MatFactorInfo info{};
  Vec b = nullptr;
  Vec x = nullptr;
  ~State() {
    static_cast<void>(VecDestroy(&b));
    static_cast<void>(VecDestroy(&x));
    static_cast<void>(ISDestroy(&order));
    static_cast<void>(MatDestroy(&factor));
    static_cast<void>(MatDestroy(&matrix));
  }
};

bool PetscRival::available() { return true; }

std::string PetscRival::version() {
  return "PETSc " + std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR) + "." +
         std::to_string(PETSC_VERSION_SUBMINOR);
}

PetscRival::PetscRival(const CsrMatrix& a) {
  static const Session session;
  state_ = std::make_unique<State>();
  State& s = *state_;
  s.offsets.assign(a.row_offsets.begin(), a.row_offsets.end());
  s.columns.assign(a.col_indices.begin(), a.col_indices.end());
  s.values = a.values;
  check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, a.rows, a.cols, s.offsets.data(), s.columns.data(), s.values.data(),
                                  &s.matrix));
  check(ISCreateStride(PETSC_COMM_SELF, a.rows, 0, 1, &s.order));
  check(ISSetIdentity(s.order));
  check(MatFactorInfoInitialize(&s.info));
  s.info.levels = 0;
  s.info.fill = 1.0;
  check(MatGetFactor(s.matrix, MATSOLVERPETSC, MAT_FACTOR_ILU, &s.factor));
  check(MatILUFactorSymbolic(s.factor, s.matrix, s.order, s.order, &s.info));
  check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, a.rows, nullptr, &s.b));
  check(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, a.rows, nullptr, &s.x));
}

PetscRival::~PetscRival() = default;

void PetscRival::factor() { check(MatLUFactorNumeric(state_->factor, state_->matrix, &state_->info)); }

void PetscRival::solve(const double* b, double* x) {
  State& s = *state_;
  check(VecPlaceArray(s.b, b));
  check(VecPlaceArray(s.x, x));
  check(MatSolve(s.factor, s.b, s.x));
  check(VecResetArray(s.b));
  check(VecResetArray(s.x));
}

}  // namespace taskdag::benchmark
