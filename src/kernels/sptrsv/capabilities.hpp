/// \file
/// What a sweep on CUDA may be able to do besides solving: an interface each, and the set of those that one has.
///
/// All calls are asynchronous on their stream unless they say otherwise, arrays are in device memory, and an interface
/// lives as long as the sweep that has handed it out.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <vector>

#include "csr/gather.hpp"
#include "csr/pattern.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::kernels {

class Sweep;

/// What all of them have in common: they belong to a sweep, and are neither copied nor destroyed without it.
class Capability {
 public:
  Capability() = default;
  Capability(const Capability&) = delete;
  Capability& operator=(const Capability&) = delete;

 protected:
  virtual ~Capability() = default;
};

/// Loading ends with gathers, which can be run together with those of another sweep.
class GathersValues : public Capability {
 public:
  /// As Sweep::load_values(), with its gathers added to `batch`, for the caller to run on `stream`, where what they
  /// read is made.
  virtual void gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t stream) = 0;
};

/// The sweep can say what it has been loaded with, so that a solver need not keep it a second time.
class ReturnsValues : public Capability {
 public:
  /// The reverse of Sweep::load_values(): writes the values of the last one to the entries that they came from. `pivot`
  /// as it was then. Exact where values are stored as they are; where rows are stored times their pivots, a unit in the
  /// last place may be lost, and in single precision what rounding has cut off.
  virtual void return_values(const double* pivot, double* entries, cudaStream_t stream) const = 0;

  /// Says that the pattern that the sweep was made from stays, entries numbered as those that load_values() takes: then
  /// a sweep that can find them by it forgets where each value comes from. Waits for the device where it does.
  virtual void rely_on(const DevicePattern& /*pattern*/) {}
};

/// The schedule rewrites rows, which loses digits with some values.
class RewritesRows : public Capability {
 public:
  /// Raises *most to how many times what rounding leaves in a row this sweep may lose with the values that
  /// load_values() has just taken from the same arrays.
  virtual void measure_loss(const double* source, const double* pivot, double* most, cudaStream_t stream) = 0;
};

/// Products of values: entry e has value(e) · value(partner[e]), 0 where partner[e] < 0; partner null: squares. *lost
/// (or null) becomes 1 where two finite numbers other than 0 have a product that is not finite, or so small that it may
/// have lost digits.
struct ValueProducts {
  const double* values = nullptr;
  const Offset* source = nullptr;  ///< value(e) is values[source[e]], 0 where that is −1; null: values[e]
  const Offset* partner = nullptr;
  int* lost = nullptr;
  /// In place of `partner`, for a sweep that finds partners: that of entry (i, j) is (j, i) of this pattern, in which
  /// entries have the same numbers. Without rows: not so.
  DevicePattern mirrored{};
  double* room = nullptr;  ///< SolvesReciprocals::product_places() numbers, until the sequence has been solved
};

/// The recurrence x_i = 1 / (rhs_i − Σ_j a_ij x_j), with pivots 1. Where only diagonal entries change in a
/// factorisation, its inverse pivots are such a sequence.
class SolvesReciprocals : public Capability {
 public:
  /// What the recurrence takes for its values, in place of Sweep::load_values().
  virtual void load_products(const ValueProducts& products, cudaStream_t stream) = 0;
  /// Numbers that products take where the sweep's own values are in single precision: a recurrence is one in double.
  [[nodiscard]] virtual std::size_t product_places() const { return 0; }
  /// Whether ValueProducts::mirrored may be given.
  [[nodiscard]] virtual bool finds_partners() const { return false; }
  /// With the values of the last load. Reciprocals are right to a unit in the last place. `x` and *non_finite as those
  /// of Sweep::solve().
  virtual void solve_reciprocals(const double* rhs, double* x, int* non_finite, cudaStream_t stream) = 0;
};

/// What goes between the two sweeps of a product with (E + L)⁻¹ A (E + U)⁻¹: JoinsProducts::finish_product(). By row.
struct ProductRows {
  const double* middle = nullptr;
  const double* scale = nullptr;  ///< null: 1; always so for one sweep, or never
  double share = 1.0;
};

/// The passes over vectors that Eisenstat's trick needs can ride in this sweep.
class JoinsProducts : public Capability {
 public:
  /// A solve whose row i has the right-hand side v[x_index of i], and whose result stays in Sweep::result().
  virtual void begin_product(const double* v, int* non_finite, cudaStream_t stream) = 0;
  /// Says what finish_product() is to take, and that `first` lives as long. To be called with each change of values,
  /// whose arrays may go when `stream` has done it. The first call for a `first` synchronises `stream`.
  virtual void prepare_product(const Sweep& first, const ProductRows& rows, cudaStream_t stream) = 0;
  /// The call after a solve of `first` on the same stream, which has left x_i. With u_i = share · x_i and e = rhs_index
  /// of i, a solve whose right-hand side is v[e] − middle_i · u_i; y[e] = u_i + scale_i · (what it makes of row i).
  /// What is not finite of y is noted. v and y must not overlap.
  virtual void finish_product(const double* v, double* y, int* non_finite, cudaStream_t stream) = 0;
};

/// The sweep can begin while the one before it is still at work.
class FollowsSweep : public Capability {
 public:
  /// Says that right-hand sides will be the results of `before`, rhs_index being its result_index(), and that it lives
  /// as long as this sweep solves. Rows may then begin whose right-hand side is there while `before` is still at work
  /// on others. Synchronises `stream`.
  virtual void follow(const Sweep& before, cudaStream_t stream) = 0;
};

/// The sweep is a program of the task engine.
class RunsProgram : public Capability {
 public:
  /// A solve of `before`, which this sweep follows, and one of this sweep, as one program. @returns false, and does
  /// nothing, where they are two
  virtual bool solve_both(const Sweep& before, const double* rhs, double* x, int* non_finite, cudaStream_t stream) = 0;

  /// A program and what it has done.
  struct ProgramRun {
    const char* what;
    engine::Report report;
  };
  /// Those that have run. The device is idle.
  [[nodiscard]] virtual std::vector<ProgramRun> program_runs() const = 0;
};

/// Those that a sweep has; null: it cannot.
struct Capabilities {
  GathersValues* gathers_values = nullptr;
  ReturnsValues* returns_values = nullptr;
  RewritesRows* rewrites_rows = nullptr;
  SolvesReciprocals* solves_reciprocals = nullptr;
  JoinsProducts* joins_products = nullptr;
  FollowsSweep* follows_sweep = nullptr;
  RunsProgram* runs_program = nullptr;
};

}  // namespace taskdag::kernels
