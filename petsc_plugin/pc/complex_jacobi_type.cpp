#include "pc/complex_jacobi_type.hpp"

#include <numeric>
#include <optional>
#include <vector>

#include "fresh_number.hpp"
#include "options.hpp"
#include "pc/jacobi_sweeps.hpp"
#include "pc/types.hpp"
#include "taskdag/block_jacobi.hpp"

namespace taskdag::petsc {
namespace {

/// Jacobi of complex numbers: to the library each of them is a block of two rows. A sweep alone needs the diagonal, or
/// what PETSc's PCJACOBI takes in its place, and zeros of it are replaced by 1, as there.
class ComplexJacobi final : public JacobiSweeps<BlockJacobi> {
 public:
  explicit ComplexJacobi(const Settings& settings) : JacobiSweeps(settings) {}

  PetscErrorCode analyse(Mat matrix, bool error_if_failure) override;
  PetscErrorCode update(Mat matrix, bool error_if_failure) override;
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return error_; }
  PetscErrorCode view(const RankViewer& viewer) const override;
  PetscErrorCode reset() override { return reset_sweeps(); }

 private:
  [[nodiscard]] PetscLogDouble flops() const override { return static_cast<PetscLogDouble>(rows()); }
  [[nodiscard]] PetscLogDouble flops_of_sweep() const override {
    return 2.0 * static_cast<PetscLogDouble>(entries_) + 3.0 * static_cast<PetscLogDouble>(rows());
  }
  [[nodiscard]] bool alone() const { return settings_.jacobi.sweeps == 1; }
  /// Calls work(matrix, space, stream), which may throw, with the diagonal, or with all of the matrix.
  template <class Work>
  PetscErrorCode with_rows(Mat matrix, const Work& work);
  PetscErrorCode read_diagonal(std::vector<PetscScalar>* numbers);

  Index zeros_ = 0;  ///< replaced by 1
  MatFactorError error_ = MAT_FACTOR_NOERROR;
};

/// As PCJACOBI takes it, which looks at whole rows.
PetscErrorCode ComplexJacobi::read_diagonal(std::vector<PetscScalar>* numbers) {
  PetscFunctionBegin;
  Held<Vec> diagonal;
  const PetscScalar* array = nullptr;
  PetscCall(MatCreateVecs(whole_, diagonal.out(), nullptr));
  switch (settings_.jacobi.diagonal) {
    case JacobiDiagonal::row_max:
      PetscCall(MatGetRowMaxAbs(whole_, diagonal, nullptr));
      break;
    case JacobiDiagonal::row_sum:
      PetscCall(MatGetRowSum(whole_, diagonal));
      break;
    default:
      PetscCall(MatGetDiagonal(whole_, diagonal));
  }
  if (settings_.jacobi.absolute) PetscCall(VecAbs(diagonal));
  PetscCall(VecGetArrayRead(diagonal, &array));
  const PetscErrorCode copied = guarded([&] { numbers->assign(array, array + rows()); });
  PetscCall(VecRestoreArrayRead(diagonal, &array));
  PetscCall(copied);
  zeros_ = 0;
  for (PetscScalar& number : *numbers) {
    if (number != 0.0) continue;
    number = 1.0;
    ++zeros_;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Work>
PetscErrorCode ComplexJacobi::with_rows(Mat matrix, const Work& work) {
  PetscFunctionBegin;
  std::vector<PetscScalar> numbers;
  Stream stream;
  if (!alone()) {
    PetscCall(with_matrix(matrix, work));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(read_diagonal(&numbers));
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (on_cuda()) PetscCall(current_stream(&stream));
  PetscCall(guarded([&] {
    std::vector<Offset> offsets(numbers.size() + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
    const auto size = static_cast<Index>(numbers.size());
    RealValues values;
    work(values.take({size, size, offsets.data(), offsets.data()}, numbers.data(), 1, ComplexAs::rows),
         MemorySpace::host, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComplexJacobi::analyse(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  EventScope event;
  MatInfo sizes;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  source_.lend_complex(ComplexAs::rows);
  PetscCall(prepare(matrix, false, settings_.backend));
  PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
  entries_ = static_cast<Offset>(sizes.nz_used);
  PetscCall(with_rows(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    const JacobiOptions& wanted = settings_.jacobi;
    const BlockJacobiOptions options{
        .sweeps = wanted.sweeps, .damping = wanted.damping, .weights = wanted.weights, .long_row = wanted.long_row};
    jacobi_.emplace(backend_->context, view.pattern, space, consecutive_blocks(view.pattern.rows, reals_per_scalar),
                    options, stream);
    launches_ = fresh_number();
  }));
  PetscCall(update(matrix, error_if_failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComplexJacobi::update(Mat matrix, bool error_if_failure) {
  PetscFunctionBegin;
  EventScope event;
  FactorStatus status;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(with_rows(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    status = jacobi_->update_values(view, space, stream);
  }));
  error_ = MAT_FACTOR_NOERROR;
  if (zeros_ > 0)
    PetscCall(PetscInfo(matrix, "Zero detected in %d diagonal entries, using 1 there\n", static_cast<int>(zeros_)));
  // A sweep alone divides by what it has as PETSc's does, and the next norm tells.
  if (status.ok() || alone()) PetscFunctionReturn(PETSC_SUCCESS);
  const bool zero = status.outcome == FactorOutcome::zero_pivot;
  PetscCheck(!error_if_failure, PETSC_COMM_SELF, zero ? PETSC_ERR_MAT_LU_ZRPVT : PETSC_ERR_FP,
             "several Jacobi sweeps cannot divide by the diagonal entry of row %d",
             static_cast<int>(in_scalars(status.first_row)));
  error_ = zero ? MAT_FACTOR_NUMERIC_ZEROPIVOT : MAT_FACTOR_OTHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ComplexJacobi::view(const RankViewer& viewer) const {
  PetscFunctionBegin;
  std::vector<RankNumber> numbers;
  PetscCall(view_sweeps(viewer, "Jacobi"));
  if (!backend_) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded(viewer.comm, [&] {
    numbers = {{"rows", static_cast<double>(rows()), true},
               {"zero diagonals replaced by 1", static_cast<double>(zeros_), true},
               {"MB", jacobi_ ? static_cast<double>(jacobi_->info().bytes) / 1.0e6 : 0.0, true}};
  }));
  PetscCall(view_numbers(viewer, "sizes: ", numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::unique_ptr<Preconditioner> make_complex_jacobi(const Settings& settings) {
  return std::make_unique<ComplexJacobi>(settings);
}

}  // namespace taskdag::petsc
