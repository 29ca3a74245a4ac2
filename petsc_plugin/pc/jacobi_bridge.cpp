#include "pc/jacobi_bridge.hpp"

namespace taskdag::petsc {

PetscErrorCode JacobiBridge::analyse(Mat matrix, const JacobiOptions& options, const BackendSettings& settings) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().symbolic, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(reset());
  options_ = options;
  PetscCall(prepare(matrix, false, settings));
  if (rows() > 0) {
    MatInfo sizes;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &sizes));
    entries_ = static_cast<Offset>(sizes.nz_used);
    PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
      jacobi_.emplace(backend_->context, view, space, options_, stream);
    }));
    PetscCall(report_zeros(matrix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiBridge::update(Mat matrix) {
  PetscFunctionBegin;
  if (rows() == 0) PetscFunctionReturn(PETSC_SUCCESS);
  EventScope event;
  PetscCall(event.begin(events().numeric, reinterpret_cast<PetscObject>(matrix)));
  PetscCall(with_matrix(matrix, [&](const CsrView& view, MemorySpace space, Stream stream) {
    jacobi_->update_values(view, space, stream);
  }));
  PetscCall(report_zeros(matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiBridge::report_zeros(Mat matrix) const {
  PetscFunctionBegin;
  if (jacobi_->zero_diagonals() > 0)
    PetscCall(PetscInfo(matrix, "Zero detected in %d diagonal entries, using 1 there\n",
                        static_cast<int>(jacobi_->zero_diagonals())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiBridge::apply(bool transposed, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(with_arrays(b, x, flops(), [&](const Arrays& arrays, Stream stream) {
    jacobi_->apply(arrays.b, arrays.x, arrays.space, transposed, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiBridge::apply(bool transposed, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(with_arrays(b, x, flops(), [&](const Arrays& arrays, Stream stream) {
    for (PetscInt k = 0; k < arrays.columns; ++k)
      jacobi_->apply(arrays.b + static_cast<std::ptrdiff_t>(k) * arrays.ldb,
                     arrays.x + static_cast<std::ptrdiff_t>(k) * arrays.ldx, arrays.space, transposed, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscLogDouble JacobiBridge::flops() const {
  // The first sweep starts from zero and needs no product; each further one is a product and an update.
  const auto n = static_cast<PetscLogDouble>(rows());
  const auto product = 2.0 * static_cast<PetscLogDouble>(entries_);
  return n + static_cast<PetscLogDouble>(options_.sweeps - 1) * (product + 3.0 * n);
}

PetscErrorCode JacobiBridge::view(PetscViewer viewer) const {
  PetscFunctionBegin;
  PetscCall(view_backend(viewer));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  Jacobi: %d sweeps, damping %g\n", options_.sweeps, options_.damping));
  if (jacobi_)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " rows, %d zero diagonals replaced by 1, %g MB\n",
                                     rows(), jacobi_->zero_diagonals(), static_cast<double>(jacobi_->bytes()) / 1.0e6));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JacobiBridge::reset() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { jacobi_.reset(); }));
  backend_.reset();
  PetscCall(source_.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
