/// \file
/// -pc_taskdag_across: preconditioners of the whole matrix on several ranks, in an order by colours over all of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "across/rank_part.hpp"
#include "backend_choice.hpp"
#include "events.hpp"
#include "mat/held.hpp"
#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Types and options that do not go together with it are an error.
PetscErrorCode check_across(const Settings& settings);

/// The preconditioner of the settings' type. The settings outlive what is made. May throw.
std::unique_ptr<Preconditioner> make_across(const Settings& settings);
std::unique_ptr<Preconditioner> make_factor_across(const Settings& settings);
std::unique_ptr<Preconditioner> make_sor_across(const Settings& settings);

/// What these have in common: the rank's part of the matrix, and vectors in the order by colours.
class AcrossRanks : public Preconditioner {
 public:
  PetscErrorCode attach(Mat whole) override { return whole_.share(whole); }
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return error_; }
  PetscErrorCode apply(Apply part, Mat b, Mat x) override;
  using Preconditioner::apply;
  bool take_lost_application() override { return false; }  // an application takes no memory

 protected:
  explicit AcrossRanks(const Settings& settings) : settings_(settings) {}

  /// Chooses host threads, and takes the pattern. `block`: the rank's own rows and columns. Collective.
  PetscErrorCode take_pattern(Mat block, GhostRows wanted);
  /// Takes the values. Collective.
  PetscErrorCode take_values();
  /// Lends the vectors as arrays of the host to work(b, x), which returns a PetscErrorCode. `flops`: of the work.
  template <class Work>
  PetscErrorCode with_host_arrays(Vec b, Vec x, PetscLogDouble flops, const Work& work);
  PetscErrorCode view_part(const RankViewer& viewer, std::size_t entries) const;
  PetscErrorCode forget();
  [[nodiscard]] bool on_device() const { return on_device_; }

  /// Of x, in the order of places, ghosts behind own rows.
  [[nodiscard]] double* ghosts_of(double* x) const { return x + part_->rows(); }

  const Settings& settings_;
  Held<Mat> whole_;
  std::optional<BackendChoice> backend_;
  std::optional<RankPart> part_;
  std::vector<double> work_;  ///< a vector in the order of places, with ghosts
  MatFactorError error_ = MAT_FACTOR_NOERROR;
  bool vectors_stay_ = false;  ///< on the device

 private:
  bool on_device_ = false;  ///< the matrix' entries are, on ranks with rows
};

template <class Work>
PetscErrorCode AcrossRanks::with_host_arrays(Vec b, Vec x, PetscLogDouble flops, const Work& work) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().apply, reinterpret_cast<PetscObject>(b), reinterpret_cast<PetscObject>(x)));
  const PetscScalar* from = nullptr;
  PetscScalar* to = nullptr;
  PetscCall(VecGetArrayRead(b, &from));
  PetscCall(VecGetArray(x, &to));
  const PetscErrorCode worked = work(from, to);
  PetscCall(VecRestoreArray(x, &to));
  PetscCall(VecRestoreArrayRead(b, &from));
  PetscCall(worked);
  PetscCall(log_flops(false, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
