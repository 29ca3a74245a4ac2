/// \file
/// The schedule "joined-levels": levels joined in pairs by replacing operands (join.hpp), what remains by another
/// schedule.
///
/// Half the levels for more entries, so it pays where a level costs more than what is in it, and costs elsewhere; a
/// load of values takes longer, too. Each solve begins with a pass over the right-hand side. Products of entries take
/// the place of entries: rounding differs from that of other schedules.
#pragma once

#include <memory>

#include "kernels/sptrsv/schedules/joined_levels/join.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels {

/// A triangle with joined levels, analysed for the sweep that runs it.
struct JoinedLevels {
  /// Synchronises `stream`. @throws what joined::join_levels() throws
  JoinedLevels(const SweepInput& full, std::int64_t most_terms, cudaStream_t stream);

  /// For the sweep that runs it. `full` as above.
  [[nodiscard]] SweepInput input(const SweepInput& full) const;

  std::shared_ptr<const joined::JoinedTriangle> triangle;  ///< sweeps keep it
  TriangleRanges ranges;
  RowLevels levels;
};

/// Makes the sweep. `levels` is of `input`, needed only while the sweep is made. Synchronises `stream`. @throws what
/// `make` throws
std::unique_ptr<Sweep> make_joined_sweep(const SweepInput& input, const JoinedLevels& levels, const MakeSweep& make,
                                         cudaStream_t stream);

}  // namespace taskdag::kernels
