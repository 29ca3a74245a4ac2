#include "fault/loops.hpp"

#include <cstddef>

#include "backend/problems.hpp"

namespace taskdag::test {
namespace {

constexpr double kFineDiagonal = 4.0;
constexpr double kCoarseDiagonal = 3.0;

/// Adds up two rows of the finer level for each of `rows`.
CsrMatrix sums_of_pairs(Index rows) {
  CsrMatrix a{rows, 2 * rows, {0}, {}, {}};
  for (Index i = 0; i < rows; ++i) {
    a.col_indices.insert(a.col_indices.end(), {2 * i, 2 * i + 1});
    a.values.insert(a.values.end(), {1.0, 1.0});
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}
/// The transpose.
CsrMatrix copies_to_pairs(Index rows) {
  CsrMatrix a{2 * rows, rows, {0}, {}, {}};
  for (Index i = 0; i < 2 * rows; ++i) {
    a.col_indices.push_back(i / 2);
    a.values.push_back(1.0);
    a.row_offsets.push_back(static_cast<Offset>(a.values.size()));
  }
  return a;
}

std::vector<double> constant(Index size, double value) {
  return std::vector<double>(static_cast<std::size_t>(size), value);
}

}  // namespace

Loops::Loops(const Context& context, DeviceStream* device, Index side)
    : context_(context),
      stream_(device == nullptr ? Stream{} : device->stream()),
      side_(side),
      fine_(make_stencil({.stencil = Stencil::five_point, .nx = side, .ny = side})),
      coarse_(tridiagonal(fine_.rows / 2, -1.0, kCoarseDiagonal, -1.0)),
      fine_arrays_(device, fine_),
      coarse_arrays_(device, coarse_),
      interpolation_(device, copies_to_pairs(coarse_.rows)),
      restriction_(device, sums_of_pairs(coarse_.rows)),
      fine_diagonal_(device, constant(fine_.rows, 1.0 / kFineDiagonal)),
      coarse_diagonal_(device, constant(coarse_.rows, 1.0 / kCoarseDiagonal)),
      fine_inverse_(fine_diagonal_.data()),
      coarse_inverse_(coarse_diagonal_.data()),
      place_(static_cast<std::size_t>(fine_.rows)) {
  by_colour_.rows = fine_.rows;
  by_colour_.offsets.push_back(0);
  for (Index colour = 0; colour < kColours; ++colour) {
    for (Index i = 0; i < fine_.rows; ++i) {
      if (colour_of(i) != colour) continue;
      place_[static_cast<std::size_t>(i)] = static_cast<Index>(row_at_.size());
      row_at_.push_back(i);
    }
    colours_.push_back(static_cast<Index>(row_at_.size()));
  }
  for (const Index row : row_at_) add_row(row);
}

void Loops::add_row(Index row) {
  for (const int part : {-1, 0, 1}) {  // columns of earlier rows, the diagonal, columns of later ones
    if (part == 0) by_colour_.diagonals.push_back(static_cast<Offset>(factor_.size()));
    for (auto e = static_cast<std::size_t>(fine_.row_offsets[static_cast<std::size_t>(row)]);
         e < static_cast<std::size_t>(fine_.row_offsets[static_cast<std::size_t>(row) + 1]); ++e) {
      const Index column = fine_.col_indices[e];
      const int where = column == row ? 0 : colour_of(column) < colour_of(row) ? -1 : 1;
      if (where != part) continue;
      by_colour_.columns.push_back(place_[static_cast<std::size_t>(column)]);
      factor_.push_back(part == 0 ? 0.25 : 0.1 * fine_.values[e]);
    }
  }
  by_colour_.offsets.push_back(static_cast<Offset>(factor_.size()));
}

std::unique_ptr<Cycle> Loops::make_cycle() {
  const std::vector<SmootherStep> steps = richardson_steps(2, 0.7);
  CycleLevel fine;
  fine.a = fine_arrays_.view();
  fine.interpolation = interpolation_.view();
  fine.restriction = restriction_.view();
  fine.before = fine.after = {steps, &fine_inverse_};
  CycleLevel coarse;
  coarse.a = coarse_arrays_.view();
  coarse.before = {steps, &coarse_inverse_};
  return std::make_unique<Cycle>(context_, std::vector<CycleLevel>{fine, coarse}, nullptr);
}

std::unique_ptr<Krylov> Loops::make_krylov(const KrylovOptions& options, LinearMap* preconditioner) {
  return std::make_unique<Krylov>(context_, fine_arrays_.view(), preconditioner, options, stream_);
}

std::unique_ptr<RankSweeps> Loops::make_sweeps() {
  KrylovRanks ranks;
  ranks.group = &group_;
  auto sweeps = std::make_unique<RankSweeps>(context_, by_colour_, RankOrder{colours_, row_at_}, ranks);
  load(*sweeps);
  return sweeps;
}

}  // namespace taskdag::test
