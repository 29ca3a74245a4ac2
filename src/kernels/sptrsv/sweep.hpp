/// \file
/// One triangular sweep on CUDA, whatever its schedule: solvers call this interface, every schedule implements it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "csr/gather.hpp"
#include "kernels/sptrsv/analysis/levels.hpp"
#include "taskdag/engine/static/order.hpp"
#include "taskdag/precision.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::kernels {

/// What a sweep is made from. Arrays are in device memory, somebody else's, needed only while the sweep is made.
struct SweepInput {
  DevicePattern pattern;
  Triangle triangle = Triangle::lower;
  const TriangleRanges* ranges = nullptr;  ///< strictly triangular entries of each row
  const RowLevels* levels = nullptr;
  const Offset* source_entry = nullptr;   ///< entry of pattern → entry of what load_values() takes; null: same
  const Index* rhs_index = nullptr;       ///< row → entry of the right-hand side; null: same
  const Index* x_index = nullptr;         ///< row → entry of the result; null: same
  const RowBlocks* blocks = nullptr;      ///< host memory; of the rows, where an ordering has made some
  engine::StaticOptions run{};            ///< of the schedule engine
  AtaFlow ata_flow = AtaFlow::pull;       ///< of the schedules ata_…
  AtaSize ata_size = AtaSize::equations;  ///< likewise
  bool ata_rows_share_warps = true;       ///< of these and of the schedules level_…
  bool recurrence = false;                ///< solve_reciprocals() is wanted, more than a faster solve()
  /// in_single (schedules that the catalogue names alone): load_values() rounds entries to float, and pivots scale
  /// right-hand sides: x_i = rhs_i · pivot_i − Σ_j a_ij x_j. Never automatic.
  Precision precision = Precision::in_double;
  /// Called where it may help: levels of a sweep that may have the same dependencies the other way round (its other
  /// triangle, if entries lie symmetrically). Empty: nobody knows.
  std::function<const RowLevels&()> mirrored{};
};

/// Products of values: entry e has value(e) · value(partner[e]), 0 where partner[e] < 0; partner null: squares. Device
/// memory. *lost (or null) becomes 1 where two finite numbers other than 0 have a product that is not finite, or so
/// small that it may have lost digits.
struct ValueProducts {
  const double* values = nullptr;
  const Offset* source = nullptr;  ///< value(e) is values[source[e]], 0 where that is −1; null: values[e]
  const Offset* partner = nullptr;
  int* lost = nullptr;
};

/// What goes between the two sweeps of a product with (E + L)⁻¹ A (E + U)⁻¹: Sweep::finish_product(). By row, device
/// memory.
struct ProductRows {
  const double* middle = nullptr;
  const double* scale = nullptr;  ///< null: 1; always so for one sweep, or never
  double share = 1.0;
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

  /// Where load_values() ends with gathers: adds them to `batch`, for the caller to run on `stream`, where what they
  /// read is made. @returns false, and does nothing, where it does not
  virtual bool gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t stream);

  /// Raises *most (device memory) to how many times what rounding leaves in a row this sweep may lose with the values
  /// that load_values() has just taken: nothing where rows are solved as they are, more than 1 where the schedule
  /// rewrites them. Asynchronous.
  virtual void measure_loss(const double* source, const double* pivot, double* most, cudaStream_t stream);

  /// One solve. rhs and x must not overlap, unless all their index maps are the identity and rhs == x.
  /// x null: the result stays in result().
  virtual void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) = 0;

  /// The recurrence x_i = 1 / (rhs_i − Σ_j a_ij x_j), with the values of load_values and pivots 1. Where only diagonal
  /// entries change in a factorisation, its inverse pivots are such a sequence. Reciprocals are right to a unit in the
  /// last place. @returns false, and does nothing, where this sweep has no such thing
  virtual bool solve_reciprocals(const double* rhs, double* x, int* non_finite, cudaStream_t stream);
  [[nodiscard]] virtual bool has_reciprocals() const { return false; }
  /// What it takes in place of load_values(), where it is there. Pivots are 1.
  /// @returns false, and does nothing, where this sweep has no such thing
  virtual bool load_products(const ValueProducts& products, cudaStream_t stream);

  /// Where a solve with x null leaves its result: row i at result()[result_index()[i]] (result_index null: at i).
  /// Valid until the next solve. The index never changes, the array may with each solve.
  [[nodiscard]] virtual const double* result() const = 0;
  [[nodiscard]] virtual const Index* result_index() const = 0;

  [[nodiscard]] virtual std::int64_t bytes() const = 0;

  /// Says that right-hand sides will be the results of `before`, rhs_index being its result_index(), and that it lives
  /// as long as this sweep solves. A sweep may then begin with rows whose right-hand side is there while `before` is
  /// still at work on others. Synchronises `stream`.
  virtual void follow(const Sweep& before, cudaStream_t stream);

  /// A program of the task engine, where this sweep is one, and what it has done. The device is idle.
  struct ProgramRun {
    const char* what;
    engine::Report report;
  };
  /// Those that have run.
  [[nodiscard]] virtual std::vector<ProgramRun> program_runs() const { return {}; }

  /// A solve of `before`, which this sweep follows, and one of this sweep, as one. @returns false, and does nothing,
  /// where they are two
  virtual bool solve_both(const Sweep& before, const double* rhs, double* x, int* non_finite, cudaStream_t stream);

  /// Whether passes over vectors that Eisenstat's trick needs can ride in this sweep. The next three return false, and
  /// do nothing, where they cannot.
  [[nodiscard]] virtual bool has_products() const { return false; }
  /// A solve whose row i has the right-hand side v[x_index of i], with x null.
  virtual bool begin_product(const double* v, int* non_finite, cudaStream_t stream);
  /// Says what finish_product() is to take, and that `first` lives as long. To be called with each change of values,
  /// whose arrays may go when `stream` has done it. The first call for a `first` synchronises `stream`.
  virtual bool prepare_product(const Sweep& first, const ProductRows& rows, cudaStream_t stream);
  /// The call after a solve of `first` on the same stream, which has left x_i. With u_i = share · x_i and e = rhs_index
  /// of i, a solve whose right-hand side is v[e] − middle_i · u_i; y[e] = u_i + scale_i · (what it makes of row i).
  /// What is not finite of y is noted. v and y must not overlap.
  virtual bool finish_product(const double* v, double* y, int* non_finite, cudaStream_t stream);
};

inline bool Sweep::solve_both(const Sweep& /*before*/, const double* /*rhs*/, double* /*x*/, int* /*non_finite*/,
                              cudaStream_t /*stream*/) {
  return false;
}

inline void Sweep::follow(const Sweep& /*before*/, cudaStream_t /*stream*/) {}

inline bool Sweep::gather_values(GatherBatch& /*batch*/, const double* /*source*/, const double* /*pivot*/,
                                 cudaStream_t /*stream*/) {
  return false;
}

inline void Sweep::measure_loss(const double* /*source*/, const double* /*pivot*/, double* /*most*/,
                                cudaStream_t /*stream*/) {}

inline bool Sweep::solve_reciprocals(const double* /*rhs*/, double* /*x*/, int* /*non_finite*/,
                                     cudaStream_t /*stream*/) {
  return false;
}

inline bool Sweep::load_products(const ValueProducts& /*products*/, cudaStream_t /*stream*/) { return false; }

inline bool Sweep::begin_product(const double* /*v*/, int* /*non_finite*/, cudaStream_t /*stream*/) { return false; }

inline bool Sweep::prepare_product(const Sweep& /*first*/, const ProductRows& /*rows*/, cudaStream_t /*stream*/) {
  return false;
}

inline bool Sweep::finish_product(const double* /*v*/, double* /*y*/, int* /*non_finite*/, cudaStream_t /*stream*/) {
  return false;
}

/// Makes the sweep of what another sweep leaves to be solved.
using MakeSweep = std::function<std::unique_ptr<Sweep>(const SweepInput& left)>;

/// Makes the sweep of a CUDA schedule (not automatic); what supernodes and joined levels leave is run by what is
/// expected to take the least (schedules/cuda_catalogue.hpp). Synchronises `stream`. @throws InvalidInput for a host
/// schedule
std::unique_ptr<Sweep> make_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream);

}  // namespace taskdag::kernels
