/// \file
/// What the schedules of the papers can be told; no other schedule looks at it.
#pragma once

#include "taskdag/export.hpp"

namespace taskdag {

/// How values reach the rows that wait for them under the schedules ata_concurrency, ata_locality and ata_greedy, which
/// are CUDA's.
enum class AtaFlow {
  pull,  ///< a row reads its operands
  push,  ///< a row adds to the sums of the rows that wait for it, in an order that is another one in each run
};
/// "pull", "push".
TASKDAG_API const char* to_string(AtaFlow flow);

/// How many rows a task of the schedules ata_… is to have, of sweeps and of factorisations.
enum class AtaSize {
  equations,         ///< the paper's: the larger of Eq. (1) and Eq. (2); ata_greedy: Eq. (1)
  warps_and_levels,  ///< a few rows for each warp that fits, a few levels for each task; nothing is timed
};
/// "equations", "warps_and_levels".
TASKDAG_API const char* to_string(AtaSize size);

/// All of it, as the fields of one struct.
struct Study {
  AtaFlow flow = AtaFlow::pull;       ///< of the schedules ata_…
  AtaSize size = AtaSize::equations;  ///< of the schedules ata_…, of sweeps and of factorisations
  bool rows_share_warps = true;       ///< of the schedules ata_… and level_…, of sweeps alone
  bool operator==(const Study&) const = default;
};

/// That of TriangularOptions, FactorOptions or SorOptions.
template <class Options>
Study study_of(const Options& options) {
  return {options.ata_flow, options.ata_size, options.ata_rows_share_warps};
}

/// Makes it that of TriangularOptions, FactorOptions or SorOptions.
template <class Options>
void set_study(Options& options, const Study& study) {
  options.ata_flow = study.flow;
  options.ata_size = study.size;
  options.ata_rows_share_warps = study.rows_share_warps;
}

}  // namespace taskdag
