#include "mg/rank_matrix.hpp"

#include <algorithm>
#include <span>

#include "boundary.hpp"
#include "mg/gather.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

PetscErrorCode open_one(Operand* operand, Mat part, Mat changed, bool any_shape, const Context& context,
                        OpenMatrices* opened) {
  PetscFunctionBegin;
  PetscCall(operand->look_at(part, any_shape, 1));
  PetscCall(guarded([&] { opened->push_back(std::make_unique<OpenMatrix>(operand->source)); }));
  PetscCall(opened->back()->open(part, context.backend() == Backend::cuda));
  PetscCall(operand->bring(changed, context));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Offsets of all rows, from the entries of each.
PetscErrorCode gather_offsets(MPI_Comm comm, const CsrPattern& own, std::vector<PetscInt>* offsets) {
  PetscFunctionBegin;
  std::vector<PetscInt> mine;
  PetscCall(guarded(comm, [&] {
    for (Index row = 0; row < own.rows; ++row) mine.push_back(own.row_offsets[row + 1] - own.row_offsets[row]);
  }));
  PetscCall(gather_all<PetscInt>(comm, MPIU_INT, mine, offsets));
  PetscCall(guarded(comm, [&] { offsets->insert(offsets->begin(), 0); }));
  for (std::size_t row = 1; row < offsets->size(); ++row) (*offsets)[row] += (*offsets)[row - 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

bool is_on_ranks(Mat matrix) {
  PetscMPIInt ranks = 1;
  (void)MPI_Comm_size(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), &ranks);
  return ranks > 1;
}

MatType type_by_rows(Mat matrix) { return is_on_ranks(matrix) ? MATMPIAIJ : MATSEQAIJ; }

PetscErrorCode RankMatrix::take(Mat matrix, Reach reach) {
  PetscFunctionBegin;
  MatState now;
  PetscCall(read_state(matrix, &now));
  if (!is_on_ranks(matrix)) {
    PetscCall(inner_matrix_.share(matrix));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const bool again = now.has_pattern_of(of_) && reach == reach_;
  const bool same = again && now == of_ && reach != Reach::dealt_out;
  if (!again) PetscCall(reset());
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  of_ = {};
  PetscCall(given_.share(matrix));
  if (reach == Reach::dealt_out)
    PetscCall(split());
  else
    PetscCall(take_rows(again));
  if (reach == Reach::whole) PetscCall(gather(again));
  if (reach == Reach::all_columns) PetscCall(inner_matrix_.share(rows_));
  of_ = now;
  reach_ = reach;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankMatrix::split() {
  PetscFunctionBegin;
  Mat own = nullptr;
  Mat others = nullptr;
  const PetscInt* ghosts = nullptr;
  PetscInt columns = 0;
  PetscCall(MatMPIAIJGetSeqAIJ(given_, &own, &others, &ghosts));
  PetscCall(MatGetSize(others, nullptr, &columns));
  PetscCall(inner_matrix_.share(own));
  PetscCall(outer_matrix_.share(others));
  PetscCall(guarded(given_.comm(), [&] { ghosts_.assign(ghosts, ghosts + columns); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// again: values on the pattern that was taken.
PetscErrorCode RankMatrix::take_rows(bool again) {
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetLocalMat(given_, again ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, rows_.out()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankMatrix::gather(bool again) {
  PetscFunctionBegin;
  MatrixSource source;
  OpenMatrix open(source);
  std::vector<double> values;
  const auto read = [&] {
    PetscFunctionBegin;
    PetscCall(source.inspect_any(rows_));
    PetscCall(open.open(rows_, false));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(share_error(given_.comm(), read()));
  const CsrView& rows = source.view();
  const auto entries = static_cast<std::size_t>(rows.pattern.entries());
  PetscCall(gather_all(given_.comm(), MPI_DOUBLE, std::span<const double>(rows.values, entries), &values));
  if (again) {
    PetscScalar* elements = nullptr;
    PetscCall(MatSeqAIJGetArray(inner_matrix_, &elements));
    std::copy(values.begin(), values.end(), elements);
    PetscCall(MatSeqAIJRestoreArray(inner_matrix_, &elements));
  } else {
    PetscCall(gather_pattern(rows, values));
  }
  PetscCall(open.close());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankMatrix::gather_pattern(const CsrView& rows, const std::vector<double>& values) {
  PetscFunctionBegin;
  const MPI_Comm comm = given_.comm();
  PetscInt all_rows = 0;
  PetscInt all_columns = 0;
  std::vector<PetscInt> mine;
  std::vector<PetscInt> columns;
  std::vector<PetscInt> offsets;
  std::vector<PetscScalar> elements;
  const Index* const first = rows.pattern.col_indices;
  PetscCall(MatGetSize(given_, &all_rows, &all_columns));
  PetscCall(guarded(comm, [&] {
    mine.assign(first, first + rows.pattern.entries());
    elements.assign(values.begin(), values.end());
  }));
  PetscCall(gather_all<PetscInt>(comm, MPIU_INT, mine, &columns));
  PetscCall(gather_offsets(comm, rows.pattern, &offsets));
  PetscCall(MatCreate(PETSC_COMM_SELF, inner_matrix_.out()));
  PetscCall(MatSetSizes(inner_matrix_, all_rows, all_columns, all_rows, all_columns));
  PetscCall(MatSetType(inner_matrix_, MATSEQAIJ));
  PetscCall(MatSeqAIJSetPreallocationCSR(inner_matrix_, offsets.data(), columns.data(), elements.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc counts changes of a matrix on several ranks, and not always those of its parts.
PetscErrorCode RankMatrix::open(bool any_shape, const Context& context, OpenMatrices* opened) {
  PetscFunctionBegin;
  Mat const changed = outer_matrix_ ? given_.get() : inner_matrix_.get();
  PetscCall(open_one(&inner_, inner_matrix_, changed, any_shape, context, opened));
  if (outer_matrix_) PetscCall(open_one(&outer_, outer_matrix_, changed, true, context, opened));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankMatrix::reset() {
  PetscFunctionBegin;
  of_ = {};
  ghosts_.clear();
  PetscCall(inner_.reset());
  PetscCall(outer_.reset());
  PetscCall(inner_matrix_.reset());
  PetscCall(outer_matrix_.reset());
  PetscCall(rows_.reset());
  PetscCall(given_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
