/// \file
/// What has no schedule and works where its vectors are: cycles of multigrid, Krylov methods, sweeps over all ranks.
#pragma once

#include <cstring>
#include <memory>
#include <vector>

#include "backend/backends.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/cycle.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::test {

/// A group of one.
class OneRank final : public RankGroup {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int count() const override { return 1; }
  void gather(const void* mine, std::size_t bytes, void* all) const override { std::memcpy(all, mine, bytes); }
};

/// A 5-point grid of `side` times `side` rows, `side` even, a coarser level with a row for each two of it, and what the
/// objects need of both, in memory of the backend. It must outlive what it makes.
class Loops {
 public:
  /// `device`: null for the host backend.
  Loops(const Context& context, DeviceStream* device, Index side);
  [[nodiscard]] Index rows() const { return fine_.rows; }
  [[nodiscard]] CsrView matrix() { return fine_arrays_.view(); }
  [[nodiscard]] LinearMap& diagonal() { return fine_inverse_; }

  /// A V-cycle of both levels whose smoothers are sweeps of Jacobi.
  [[nodiscard]] std::unique_ptr<Cycle> make_cycle();
  /// `preconditioner`: null for none.
  [[nodiscard]] std::unique_ptr<Krylov> make_krylov(const KrylovOptions& options, LinearMap* preconditioner);
  /// With numbers that stand for a factor of the grid in two colours, whose rows are all on the only rank.
  [[nodiscard]] std::unique_ptr<RankSweeps> make_sweeps();
  void load(RankSweeps& sweeps) const { sweeps.load(factor_.data(), MemorySpace::host, stream_); }

 private:
  static constexpr Index kColours = 2;
  [[nodiscard]] Index colour_of(Index row) const { return (row / side_ + row % side_) % kColours; }
  void add_row(Index row);

  Context context_;
  Stream stream_;
  Index side_;
  CsrMatrix fine_;
  CsrMatrix coarse_;
  MatrixArrays fine_arrays_;
  MatrixArrays coarse_arrays_;
  MatrixArrays interpolation_;
  MatrixArrays restriction_;
  Array<double> fine_diagonal_;
  Array<double> coarse_diagonal_;
  DiagonalMap fine_inverse_;
  DiagonalMap coarse_inverse_;
  OneRank group_;
  RankRows by_colour_;
  std::vector<Index> colours_{0};
  std::vector<Index> row_at_;  ///< by_colour_'s rows, as vectors have them
  std::vector<Index> place_;   ///< the other way round
  std::vector<double> factor_;
};

}  // namespace taskdag::test
