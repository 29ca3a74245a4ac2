#include <petscmat.h>

#include "rcm_rivals.hpp"
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

class PetscRcm final : public RcmRival {
 public:
  explicit PetscRcm(const CsrMatrix& a)
      : offsets_(a.row_offsets.begin(), a.row_offsets.end()),
        columns_(a.col_indices.begin(), a.col_indices.end()),
        values_(a.values) {
    check(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, a.rows, a.cols, offsets_.data(), columns_.data(), values_.data(),
                                    &matrix_));
    // Rows of equal pattern would be ordered as one: that is another graph.
    check(MatSetOption(matrix_, MAT_USE_INODES, PETSC_FALSE));
  }
  ~PetscRcm() override { static_cast<void>(MatDestroy(&matrix_)); }
  PetscRcm(const PetscRcm&) = delete;
  PetscRcm& operator=(const PetscRcm&) = delete;

  std::vector<Index> order() override {
    IS row = nullptr;
    IS column = nullptr;
    check(MatGetOrdering(matrix_, MATORDERINGRCM, &row, &column));
    const PetscInt* indices = nullptr;
    check(ISGetIndices(row, &indices));
    std::vector<Index> result(indices, indices + offsets_.size() - 1);
    check(ISRestoreIndices(row, &indices));
    check(ISDestroy(&row));
    check(ISDestroy(&column));
    return result;
  }

 private:
  std::vector<PetscInt> offsets_;
  std::vector<PetscInt> columns_;
  std::vector<PetscScalar> values_;
  Mat matrix_ = nullptr;
};

}  // namespace

std::unique_ptr<RcmRival> make_petsc_rcm(const CsrMatrix& a, std::string& version) {
  static const Session session;
  version = "PETSc " + std::to_string(PETSC_VERSION_MAJOR) + "." + std::to_string(PETSC_VERSION_MINOR) + "." +
            std::to_string(PETSC_VERSION_SUBMINOR);
  return std::make_unique<PetscRcm>(a);
}

}  // namespace taskdag::benchmark
