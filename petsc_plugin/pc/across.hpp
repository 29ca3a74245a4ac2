/// \file
/// -pc_taskdag_across: preconditioners of the whole matrix on several ranks, in an order by colours over all of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "across/rank_part.hpp"
#include "across/ranks.hpp"
#include "across/reason.hpp"
#include "backend_choice.hpp"
#include "events.hpp"
#include "mat/arrays.hpp"
#include "mat/held.hpp"
#include "pc/preconditioner.hpp"
#include "settings.hpp"

namespace taskdag::petsc {

/// Types and options that do not go together with it are an error.
PetscErrorCode check_across(const Settings& settings);

/// What -pc_taskdag_across auto leads to, and why.
struct AcrossChoice {
  bool whole = false;  ///< a preconditioner of the whole matrix
  Reason reason;
};
/// Before each set-up. Collective.
PetscErrorCode choose_across(Mat matrix, const Settings& settings, AcrossChoice* choice);

/// The preconditioner of the settings' type. The settings outlive what is made. May throw.
std::unique_ptr<Preconditioner> make_across(const Settings& settings);
std::unique_ptr<Preconditioner> make_factor_across(const Settings& settings);
std::unique_ptr<Preconditioner> make_sor_across(const Settings& settings);

/// What these have in common: the rank's part of the matrix, vectors in the order by colours, and sweeps on the GPU
/// through the ranks' memory, where each rank has one and reaches the others.
class AcrossRanks : public Preconditioner {
 public:
  PetscErrorCode attach(Mat whole) override { return whole_.share(whole); }
  [[nodiscard]] std::optional<MatFactorError> failure() const override { return error_; }
  PetscErrorCode apply(Apply part, Mat b, Mat x) override;
  using Preconditioner::apply;
  bool take_lost_application() override { return false; }  // an application takes no memory
  PetscErrorCode prepare_for_arrays(std::int64_t replays, ArrayUse* use) override;
  void apply_to_arrays(const double* b, double* x, Stream stream) override { sweeps_->apply(b, x, stream); }
  [[nodiscard]] LinearMap* map_over_ranks() override { return sweeps_ ? &*sweeps_ : nullptr; }

 protected:
  explicit AcrossRanks(const Settings& settings) : settings_(settings) {}

  /// Chooses host threads for what messages do, and takes the pattern. `block`: the rank's own rows and columns.
  /// Collective.
  PetscErrorCode take_pattern(Mat block, GhostRows wanted);
  /// The pattern, after take_pattern(), of the object that has taken it.
  [[nodiscard]] virtual const RankRows& pattern() const = 0;
  /// Makes the sweeps, or says why there are none, and it is an error where the GPU is asked for. Then it calls
  /// make_more(), which may gather of ranks_. Collective.
  PetscErrorCode make_sweeps();
  virtual void make_more() {}
  /// Gives them the numbers of now. Collective.
  virtual PetscErrorCode load_sweeps() = 0;
  /// The same where they have others.
  PetscErrorCode bring_sweeps();
  PetscErrorCode apply_by_sweeps(Vec b, Vec x);
  /// Whether a full application of these vectors is by sweeps, which have the numbers then. Collective.
  PetscErrorCode choose_sweeps(Vec b, Vec x, bool* chosen);
  PetscErrorCode view_sweeps(PetscViewer viewer, const char* made) const;
  [[nodiscard]] PetscLogDouble flops() const { return 2.0 * static_cast<PetscLogDouble>(pattern().own_entries()); }
  /// Takes the values. Collective.
  PetscErrorCode take_values();
  /// Lends the vectors as arrays of the host to work(b, x), which returns a PetscErrorCode. `flops`: of the work.
  template <class Work>
  PetscErrorCode with_host_arrays(Vec b, Vec x, PetscLogDouble flops, const Work& work);
  PetscErrorCode view_part(const RankViewer& viewer, std::size_t entries) const;
  PetscErrorCode forget();

  /// Of x, in the order of places, ghosts behind own rows.
  [[nodiscard]] double* ghosts_of(double* x) const { return x + part_->rows(); }

  const Settings& settings_;
  Held<Mat> whole_;
  std::optional<BackendChoice> backend_;
  std::optional<RankPart> part_;
  WideArrays wide_;
  std::vector<double> work_;  ///< a vector in the order of places, with ghosts
  MatFactorError error_ = MAT_FACTOR_NOERROR;
  CommRanks ranks_;
  std::optional<BackendChoice> place_;  ///< of the sweeps
  std::optional<RankSweeps> sweeps_;
  bool loaded_ = false;          ///< whether they have the numbers of now
  bool entries_copied_ = false;  ///< from the device to host memory, at each set-up

 private:
  PetscErrorCode choose_place();

  bool on_device_ = false;  ///< the matrix' entries are, on ranks with rows
  Reason refused_;          ///< why there are no sweeps, which would be of use
  std::uint64_t launches_ = 0;
};

template <class Work>
PetscErrorCode AcrossRanks::with_host_arrays(Vec b, Vec x, PetscLogDouble flops, const Work& work) {
  PetscFunctionBegin;
  EventScope event;
  PetscCall(event.begin(events().apply, reinterpret_cast<PetscObject>(b), reinterpret_cast<PetscObject>(x)));
  Arrays arrays;
  PetscCall(open_arrays(b, x, false, &arrays, ResultUse::updated));
  const PetscErrorCode worked = in_doubles(&arrays, &wide_, {}, [&] { return work(arrays.b, arrays.x); });
  PetscCall(close_arrays(b, x, &arrays, ResultUse::updated));
  PetscCall(worked);
  PetscCall(log_flops(false, flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
