/// \file
/// Cycles of multigrid on a hierarchy that the caller has made: smoothing, restriction and interpolation of all
/// levels as stages of the task engine, one preconditioner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"
#include "taskdag/krylov.hpp"
#include "taskdag/rank_group.hpp"

namespace taskdag {

/// In which order the levels are visited, as PETSc's PCMG has it. `cycle` is multiplicative: V where each level visits
/// the one below it once, W where twice (CycleLevel::visits). full begins on the coarsest level and makes a cycle from
/// each on the way up; kaskade smooths once on each on that way; additive corrects on all levels from the same
/// residual.
enum class CycleForm { cycle, additive, full, kaskade };
/// "multiplicative", "additive", "full", "kaskade": PETSc's names.
TASKDAG_API const char* to_string(CycleForm form);

/// A step of a smoother: d = step · M⁻¹ (b − A x) + momentum · d, then x += d.
struct SmootherStep {
  double step = 1.0;
  double momentum = 0.0;
  bool operator==(const SmootherStep&) const = default;
};
/// So many of Richardson's.
TASKDAG_API std::vector<SmootherStep> richardson_steps(int count, double damping);
/// So many of Chebyshev's iteration, as KrylovMethod::chebyshev makes them; of optimised_fourth one polynomial.
/// @throws InvalidInput for bounds that KrylovOptions would not take, and for more steps than such a polynomial has
TASKDAG_API std::vector<SmootherStep> chebyshev_steps(int count, KrylovChebyshev kind, double smallest, double largest);

/// A smoother: its steps, and the M of them; null: the identity. Two smoothers may have one M.
struct CycleSmoother {
  std::vector<SmootherStep> steps;
  LinearMap* preconditioner = nullptr;
};

/// Vectors that are orthonormal, to the constant one as well where that belongs to them; so many elements each as the
/// level has rows (on this rank, where it is dealt out), in memory of the backend, which stay the caller's and as they
/// are.
struct CycleNullSpace {
  bool constant = false;
  std::vector<const double*> vectors;
  [[nodiscard]] bool is_empty() const { return !constant && vectors.empty(); }
  bool operator==(const CycleNullSpace&) const = default;
};

/// A level, in memory of the context's backend, which stays the caller's.
struct CycleLevel {
  CsrView a;  ///< square; not read on the coarsest level where the Cycle has an inverse of it
  /// From the next coarser level to this one: x += P x_coarse. Nothing on the coarsest.
  CsrView interpolation;
  /// To the next coarser level: b_coarse = R (b − A x). Nothing on the coarsest.
  CsrView restriction;
  CycleSmoother before;  ///< of the coarser levels' correction; on the coarsest level, where it has no inverse, all
  CycleSmoother after;
  int visits = 1;  ///< of the next coarser level in a cycle; the coarsest is visited once
  /// Of A, as far as it is known: smoothers remove it from all that their M⁻¹ gives, as PETSc's do.
  CycleNullSpace null_space;
  /// Of Aᵀ: smoothers remove it from their right-hand side.
  CycleNullSpace left_null_space;
};

/// What a rank's rows of a matrix have in columns of other ranks.
struct CycleOuter {
  CsrView entries;                   ///< a row for each row of the rank, a column for each element that is needed
  std::vector<std::int64_t> ghosts;  ///< global number of the element that each column stands for, ascending
};
struct CycleRankLevel {
  CycleOuter a;
  CycleOuter interpolation;  ///< not read on the last level that is dealt out
  CycleOuter restriction;
};

/// A hierarchy whose finest levels are dealt out to ranks, consecutive rows to each in the ranks' order. Of these
/// levels, CycleLevel has a rank's rows and their entries in columns of its own, which are numbered from 0 on; a rank
/// may have no rows. All other levels are on each rank as a whole, and each does the same with them. So of the last
/// level that is dealt out the interpolation has a column for each row of the next one, and the restriction the rows
/// of it that this rank makes.
struct CycleRanks {
  const RankGroup* group = nullptr;    ///< must outlive the object
  std::vector<CycleRankLevel> levels;  ///< those that are dealt out: the finest at least, and not the coarsest
  double patience_s = 60.0;            ///< as in KrylovRanks, and the next, too
  bool shared_devices = false;
};

struct CycleOptions {
  CycleForm form = CycleForm::cycle;
  int cycles = 1;  ///< of an application, from the solution so far; CycleForm::cycle alone
  /// CUDA: what a cycle does on its smallest levels is one product with a dense matrix, which is made of the values of
  /// these levels once (Cycle::take_values()); where there are several of up to 1,000 rows whose smoothers are no
  /// calls.
  bool together = true;
};

/// What a cycle is made of, on this rank.
struct CycleInfo {
  int stages = 0;               ///< of an application: launches on CUDA, but for those of smoothers that are calls
  int calls = 0;                ///< of smoothers' preconditioners that are not diagonals
  int dealt_out = 0;            ///< levels that are dealt out to ranks; 0 on one rank
  std::int64_t bytes = 0;       ///< memory held: vectors of all levels
  double bytes_of_cycle = 0.0;  ///< read and written by an application, each array once a stage
  bool may_be_captured = true;
};

/// One application of multigrid: y = M⁻¹ x, from a zero solution.
///
/// Device memory and asynchronous launches alone on CUDA. Applications share the object's vectors: those on different
/// streams have to be put into an order by the caller. Matrices and preconditioners may get other values between
/// applications, which take_values() is told; patterns may not change. Sums are in a fixed order: same input, same
/// bits.
///
/// After PETSc's PCMG; a step of a smoother is one stage with the residual inside, and where the solution is still zero
/// no product.
class TASKDAG_API Cycle final : public LinearMap {
 public:
  /// levels: finest first, at least one. inverse: of the coarsest operator, dense, row by row, in memory of the
  /// backend, the caller's; null: the coarsest level's smoother `before` is what is done there. All that it points to
  /// must outlive the object.
  /// @throws InvalidInput for sizes that do not fit each other; OutOfMemory, DeviceError
  Cycle(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
        const CycleOptions& options = {});
  /// The same on several ranks, which call every function in the same order, with steps, forms and numbers that are
  /// equal. In an application ranks write into each other's memory, as in a Krylov loop on several: no message passes.
  /// What one rank cannot do is an error on all; so has a rank that has ended, which the others wait for in vain, led
  /// to results that are not finite, and to has_lost_rank(). The object is of no more use then.
  /// @throws also Unsupported where the ranks cannot reach each other's memory
  Cycle(const Context& context, const std::vector<CycleLevel>& levels, const double* inverse,
        const CycleOptions& options, const CycleRanks& ranks);
  ~Cycle() override;
  void apply(const double* x, double* y, Stream stream) override;
  /// To be called when matrices, preconditioners or the inverse have got other values, before the next application; the
  /// constructor takes those that are there. Asynchronous on CUDA. @throws DeviceError
  void take_values(Stream stream = {});
  [[nodiscard]] bool may_be_captured() const override;
  [[nodiscard]] bool has_lost_rank() const override;
  void lose() noexcept override;
  [[nodiscard]] CycleInfo info() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
