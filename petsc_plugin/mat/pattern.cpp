#include "mat/pattern.hpp"

#include <algorithm>

#include "boundary.hpp"
#include "mat/indices.hpp"

namespace taskdag::petsc {

PetscErrorCode PatternLoan::open(Mat matrix, PetscBool nodes) {
  PetscFunctionBegin;
  if (!offsets_.empty()) {
    const auto rows = static_cast<Index>(offsets_.size() - 1);
    pattern_ = {rows, rows, offsets_.data(), columns_.data()};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscBool done = PETSC_FALSE;
  PetscCall(MatGetRowIJ(matrix, 0, PETSC_FALSE, nodes, &rows_, &lent_offsets_, &lent_columns_, &done));
  PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "TaskDAG cannot read the pattern of a matrix of type %s",
             reinterpret_cast<PetscObject>(matrix)->type_name);
  PetscCall(lent_.share(matrix));
  nodes_ = nodes;
  if constexpr (narrows) {
    const PetscErrorCode narrowed = narrow(rows_, lent_offsets_, lent_columns_);
    PetscCall(close());
    PetscCall(narrowed);
    PetscCall(open(matrix, nodes));
  } else {
    const auto rows = static_cast<Index>(rows_);
    pattern_ = {rows, rows, reinterpret_cast<const Index*>(lent_offsets_),
                reinterpret_cast<const Index*>(lent_columns_)};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternLoan::narrow(PetscInt rows, const PetscInt* offsets, const PetscInt* columns) {
  PetscFunctionBegin;
  const PetscInt entries = rows > 0 ? offsets[rows] : 0;
  PetscCall(check_fits(rows, "rows"));
  PetscCall(check_fits(entries, "entries"));
  const auto to_index = [](PetscInt i) { return static_cast<Index>(i); };
  PetscCall(guarded([&] {
    std::vector<Index> narrow_columns(static_cast<std::size_t>(entries));
    std::transform(columns, columns + entries, narrow_columns.begin(), to_index);
    std::vector<Index> narrow_offsets(static_cast<std::size_t>(rows) + 1, 0);
    if (rows > 0) std::transform(offsets, offsets + rows + 1, narrow_offsets.begin(), to_index);
    columns_ = std::move(narrow_columns);
    offsets_ = std::move(narrow_offsets);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PatternLoan::close() {
  PetscFunctionBegin;
  pattern_ = {};
  if (!lent_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscBool done = PETSC_FALSE;
  PetscCall(MatRestoreRowIJ(lent_, 0, PETSC_FALSE, nodes_, &rows_, &lent_offsets_, &lent_columns_, &done));
  PetscCall(lent_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

void PatternLoan::forget() {
  offsets_ = {};
  columns_ = {};
}

}  // namespace taskdag::petsc
