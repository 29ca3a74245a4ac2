/// \file
/// What the preconditioners of Jacobi sweeps have in common, whatever they divide by.
#pragma once

#include <cstddef>
#include <optional>

#include "mat/bridge.hpp"
#include "mat/conjugated.hpp"
#include "mat/off_diagonal.hpp"
#include "pc/preconditioner.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {

/// Solver: Jacobi, BlockJacobi.
template <class Solver>
class JacobiSweeps : public Preconditioner, protected Bridge {
 public:
  PetscErrorCode attach(Mat whole) final {
    PetscFunctionBegin;
    PetscCall(whole_.share(whole));
    PetscCall(couplings_.attach(whole));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode apply(Apply part, Vec b, Vec x) final { return apply_to(part, b, x); }
  PetscErrorCode apply(Apply part, Mat b, Mat x) final { return apply_to(part, b, x); }
  PetscErrorCode prepare_for_arrays(std::int64_t /*replays*/, ArrayUse* use) final {
    PetscFunctionBegin;
    if (!jacobi_) PetscFunctionReturn(PETSC_SUCCESS);
    *use = {.backend = &*backend_,
            .diagonal = diagonal(),
            .may_be_captured = !applies_by_program_,
            .flops = flops(),
            .launches = launches_};
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  void apply_to_arrays(const double* b, double* x, Stream stream) final {
    jacobi_->apply(b, x, on_cuda() ? MemorySpace::device : MemorySpace::host, false, stream);
  }
  bool take_lost_application() final { return Bridge::take_lost_application(); }
  /// With the own block's sweeps S, x + S (b − A x) is what sweeps from x make of b − B x, B the rest of the rows.
  PetscErrorCode iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) final;

 protected:
  explicit JacobiSweeps(const Settings& settings) : settings_(settings) {}

  /// ArrayUse::diagonal
  [[nodiscard]] virtual const double* diagonal() const { return nullptr; }
  /// Of an application, whose first sweep starts from zero.
  [[nodiscard]] virtual PetscLogDouble flops() const = 0;
  /// Of a sweep from a vector.
  [[nodiscard]] virtual PetscLogDouble flops_of_sweep() const = 0;

  /// The first lines of a view; name: of the sweeps.
  PetscErrorCode view_sweeps(const RankViewer& viewer, const char* name) const;
  PetscErrorCode reset_sweeps();

  const Settings& settings_;
  OffDiagonal couplings_;
  Held<Mat> whole_;
  Offset entries_ = 0;
  std::optional<Solver> jacobi_;

 private:
  template <class Object>
  PetscErrorCode apply_to(Apply part, Object b, Object x) {
    const bool transposed = part == Apply::transposed;
    const auto sweep_of = [this, transposed](Object from, Object to) { return sweep(transposed, from, to); };
    return transposed && complex_scalars ? conjugated(b, x, sweep_of) : sweep_of(b, x);
  }
  PetscErrorCode sweep(bool transposed, Vec b, Vec x);
  PetscErrorCode sweep(bool transposed, Mat b, Mat x);
};

template <class Solver>
PetscErrorCode JacobiSweeps<Solver>::sweep(bool transposed, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(with_arrays(b, x, flops(), [&](const Arrays& arrays, Stream stream) {
    jacobi_->apply(arrays.b, arrays.x, arrays.space, transposed, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Solver>
PetscErrorCode JacobiSweeps<Solver>::sweep(bool transposed, Mat b, Mat x) {
  PetscFunctionBegin;
  PetscCall(with_arrays(b, x, flops(), [&](const Arrays& arrays, Stream stream) {
    for (PetscInt k = 0; k < arrays.columns; ++k)
      jacobi_->apply(arrays.b + static_cast<std::ptrdiff_t>(k) * arrays.ldb,
                     arrays.x + static_cast<std::ptrdiff_t>(k) * arrays.ldx, arrays.space, transposed, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Solver>
PetscErrorCode JacobiSweeps<Solver>::iterate(Vec b, Vec x, PetscInt iterations, bool from_zero) {
  PetscFunctionBegin;
  for (PetscInt k = 0; k < iterations; ++k) {
    if (k == 0 && from_zero) {
      PetscCall(apply(Apply::full, b, x));
      continue;
    }
    Vec rest = b;
    if (couplings_.has_ranks()) PetscCall(couplings_.residual(b, x, &rest));
    const auto work = [&](const Arrays& arrays, Stream stream) {
      jacobi_->iterate(arrays.b, arrays.x, arrays.space, stream);
    };
    PetscCall(with_arrays(rest, x, settings_.jacobi.sweeps * flops_of_sweep(), work, ResultUse::updated));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Solver>
PetscErrorCode JacobiSweeps<Solver>::view_sweeps(const RankViewer& viewer, const char* name) const {
  PetscFunctionBegin;
  std::string text;
  PetscCall(guarded(viewer.comm, [&] { text = backend_line(); }));
  PetscCall(view_texts(viewer, text));
  PetscCall(PetscViewerASCIIPrintf(
      viewer.viewer, "  %s: %d sweeps, damping %g%s\n", name, settings_.jacobi.sweeps, settings_.jacobi.damping,
      settings_.jacobi.weights == JacobiWeights::chebyshev ? ", Chebyshev's weights" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Solver>
PetscErrorCode JacobiSweeps<Solver>::reset_sweeps() {
  PetscFunctionBegin;
  PetscCall(guarded([&] { jacobi_.reset(); }));
  backend_.reset();
  PetscCall(source_.reset());
  PetscCall(couplings_.forget());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
