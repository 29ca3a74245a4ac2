/// \file
/// The schedule "supernodes": diagonal blocks of supernodes are inverted when values are loaded, so that rows of one
/// supernode no longer wait for each other; what remains is run by another schedule.
///
/// A node with k unknowns is then one level instead of k, and its rows have fewer entries. Each solve begins with a
/// pass that multiplies the right-hand side by the inverted blocks. Sums are taken in another order than by other
/// schedules, and a block's inverse is as accurate as its condition allows. A supernode of one row is that row.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/supernodes/find.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// A triangle without what its supernodes have inside: the input of the schedule that runs it.
struct CondensedTriangle {
  /// `supernodes` are those of the input. Synchronises `stream`.
  CondensedTriangle(const SweepInput& input, supernodes::Supernodes supernodes, cudaStream_t stream);
  /// Entries of the pattern, right-hand sides by row; results go where those of `full` go. Keeps a pointer to this.
  [[nodiscard]] SweepInput input(const SweepInput& full) const;

  supernodes::Supernodes found;
  RowLevels levels;
};

/// Makes the sweep. `make` is called with the condensed triangle and has to take the entries in its ranges for all
/// there are, as flat and cells do; `condensed` is of the same input. Synchronises `stream`.
std::unique_ptr<Sweep> make_supernodes_sweep(const SweepInput& input, const CondensedTriangle& condensed,
                                             const MakeSweep& make, cudaStream_t stream);

}  // namespace taskdag::kernels
