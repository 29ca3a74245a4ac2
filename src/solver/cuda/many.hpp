/// \file
/// One triangular sweep, and two in a row, over several right-hand sides on CUDA.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "kernels/sptrsv/many/many.hpp"
#include "solver/cuda/columns.hpp"
#include "solver/cuda/sweep.hpp"

namespace taskdag::cuda {

/// Two vectors by rows that sweeps over several columns work on. Graphs of captured solves keep what they were given:
/// larger vectors are taken beside those, then.
class ManyVectors {
 public:
  /// Makes both hold `size` doubles, what they held is lost. @returns whether they are new. @throws OutOfMemory, and
  /// they are as they were
  bool reserve(std::size_t size, bool keep_old, cudaStream_t stream);
  [[nodiscard]] double* first() const { return first_.data(); }
  [[nodiscard]] double* second() const { return second_.data(); }
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(first_.size()); }
  void swap() { std::swap(first_, second_); }
  [[nodiscard]] std::int64_t bytes() const;

 private:
  DeviceArray<double> first_;
  DeviceArray<double> second_;
  std::vector<DeviceArray<double>> old_;
};

/// The pair of sweeps of an application, and the vectors by rows that they work on: two, which are swapped. Each is
/// not_yet where the next sweep publishes, and a sweep resets the right-hand sides that it reads; so nothing is cleared
/// between applications with equally many columns.
class ManyPair {
 public:
  /// `in`: row → entry of the right-hand side, `out`: row → entry of the solution (device; null: the same).
  /// Synchronises `stream`.
  ManyPair(const AnalysedTriangle& forward, const Offset* forward_source, const Index* in,
           const AnalysedTriangle& backward, const Offset* backward_source, const Index* out, cudaStream_t stream);

  kernels::ManySweep& first() { return first_; }
  kernels::ManySweep& second() { return second_; }

  // All asynchronous. Vectors are made on first use.
  void solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream);
  /// x_i = √scale_i · (first sweep b)_i, rows in the sweep's numbering.
  void solve_first(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream);
  /// x = second sweep of b_i / √scale_i, rows of b in the sweep's numbering.
  void solve_second(const CudaColumns& columns, const double* scale, int* non_finite, cudaStream_t stream);

  [[nodiscard]] std::int64_t bytes() const {
    return first_.bytes() + second_.bytes() + inverse_out_.bytes() + vectors_.bytes();
  }

 private:
  void prepare(Index count, cudaStream_t stream);
  /// Right-hand sides of the first sweep; the second one publishes here.
  [[nodiscard]] double* work() const { return vectors_.first(); }
  /// The first sweep publishes here.
  [[nodiscard]] double* slots() const { return vectors_.second(); }

  Index rows_;
  kernels::ManySweep first_;
  kernels::ManySweep second_;
  DeviceArray<Index> inverse_out_;  ///< entry of the solution → row; empty: the same
  ManyVectors vectors_;             ///< work() and slots()
  StartState start_;                ///< of vectors_ and the sweeps' counters
  int stride_ = 0;                  ///< that work() was last used with
};

/// The pair of a factor, made by the first application to so many columns that it pays.
struct ManySweeps {
  std::optional<ManyPair> pair;
  bool loaded = false;    ///< with the values of the last factorisation
  bool captured = false;  ///< a graph has applications that load none: a factorisation does then
  /// Of single precision: what the two sweeps load, in double; of ilu the first is that of both.
  DeviceArray<double> rounded;
  DeviceArray<double> rounded_second;
  [[nodiscard]] std::int64_t bytes() const {
    return (pair ? pair->bytes() : 0) + rounded.bytes() + rounded_second.bytes();
  }
};

/// One sweep, and the vectors by rows that it works on: two, which are swapped with each solve. A sweep resets the
/// right-hand sides that it reads, so the next one publishes there, as long as it has equally many columns.
class ManySingle {
 public:
  /// Synchronises `stream`.
  ManySingle(const AnalysedTriangle& triangle, const Offset* source, cudaStream_t stream);

  // Both asynchronous. Vectors are made on first use.
  void load_values(const double* source, const double* pivot, cudaStream_t stream);
  void solve(const CudaColumns& columns, int* non_finite, cudaStream_t stream);

  [[nodiscard]] std::int64_t bytes() const { return sweep_.bytes() + vectors_.bytes(); }

 private:
  void prepare(Index count, cudaStream_t stream);

  Index rows_;
  kernels::ManySweep sweep_;
  /// Right-hand sides of the next solve, and where it publishes: not_yet, if it has as many columns as the last one.
  ManyVectors vectors_;
  StartState start_;  ///< of vectors_ and the sweep's counters
  Index count_ = 0;   ///< columns of the last one
};

/// Whether `count` columns (at most many::kMostColumns) are faster in one pass than one after the other: an estimate, a
/// function of the patterns and schedules alone.
bool many_pays(const ChosenSweep& first, const ChosenSweep& second, Index count);
bool many_pays(const ChosenSweep& sweep, Index count);

}  // namespace taskdag::cuda
