/// \file
/// One triangular sweep on CUDA, whatever its schedule: solvers call this interface, every schedule implements it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/sptrsv/analysis/levels.hpp"
#include "kernels/sptrsv/capabilities.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/solve_schedule.hpp"
#include "taskdag/study.hpp"

namespace taskdag::kernels {

/// Elements of the real block of a complex number, column by column: of the first column those are its parts.
inline constexpr int kDoublesOfRealBlock = 4;

/// What a sweep is made from. Arrays are in device memory, of the caller, needed only while the sweep is made.
struct SweepInput {
  DevicePattern pattern;
  Triangle triangle = Triangle::lower;
  const TriangleRanges* ranges = nullptr;  ///< strictly triangular entries of each row
  const RowLevels* levels = nullptr;
  const Offset* source_entry = nullptr;  ///< entry of pattern → entry of what load_values() takes; null: same
  const Index* rhs_index = nullptr;      ///< row → entry of the right-hand side; null: same
  const Index* x_index = nullptr;        ///< row → entry of the result; null: same
  const RowBlocks* blocks = nullptr;     ///< host memory; of the rows, where an ordering has made some
  engine::StaticOptions run{};           ///< of the schedule engine
  const Study* study = nullptr;          ///< of the papers' schedules; null: what it is by default
  bool recurrence = false;               ///< SolvesReciprocals is wanted, more than a faster solve()
  /// in_single (schedules that the catalogue names alone): load_values() rounds entries to float, and pivots scale
  /// right-hand sides: x_i = rhs_i · pivot_i − Σ_j a_ij x_j. Never automatic.
  Precision precision = Precision::in_double;
  /// Entries, right-hand sides, pivots and results are complex numbers, two doubles each; index maps count numbers, and
  /// load_values() finds an entry in the first two of kDoublesOfRealBlock elements. For schedules that say so
  /// (CudaSchedule::complex_numbers). Never in single precision.
  bool complex_numbers = false;
  /// Called where it may help: levels of a sweep that may have the same dependencies the other way round (its other
  /// triangle, if entries lie symmetrically). Empty where that is not known.
  std::function<const RowLevels&()> mirrored{};
};

/// x = T⁻¹ b for a triangle T: x_i = (rhs_i − Σ_j a_ij x_j) · pivot_i. Immutable pattern, values may be loaded again.
///
/// Every call is asynchronous on its stream. A sweep resets what the next solve needs by itself: a solve leaves it
/// ready. Solves end on any numbers (NaN, infinities); a result that is not finite sets *non_finite to 1.
class Sweep {
 public:
  Sweep() = default;
  virtual ~Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  /// Takes values: `source` is indexed by source_entry, `pivot` (inverse pivots) by row; null: all 1.
  virtual void load_values(const double* source, const double* pivot, cudaStream_t stream) = 0;

  /// One solve. rhs and x must not overlap, unless all their index maps are the identity and rhs == x.
  /// x null: the result stays in result().
  virtual void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) = 0;

  /// Where a solve with x null leaves its result: row i at result()[result_index()[i]] (result_index null: at i).
  /// Valid until the next solve. The index never changes, the array may with each solve.
  [[nodiscard]] virtual const double* result() const = 0;
  [[nodiscard]] virtual const Index* result_index() const = 0;

  [[nodiscard]] virtual std::int64_t bytes() const = 0;

  /// What this sweep can do besides, as it is now.
  virtual Capabilities capabilities() { return {}; }
};

/// Makes the sweep of what another sweep leaves to be solved.
using MakeSweep = std::function<std::unique_ptr<Sweep>(const SweepInput& remaining)>;

/// Makes the sweep of a CUDA schedule (not automatic); what supernodes and joined levels leave is run by what is
/// expected to take the least (schedules/cuda_catalogue.hpp). Synchronises `stream`. @throws InvalidInput for a host
/// schedule
std::unique_ptr<Sweep> make_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels
