/// \file
/// The processors that a process may use, and how the processes of one machine share them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "taskdag/export.hpp"

namespace taskdag {

/// What one process may use. Plain memory, so that processes can send each other theirs as bytes.
struct ProcessorClaim {
  static constexpr std::size_t most_processors = 8192;
  static constexpr std::size_t most_quotas = 8;

  /// The processors' time that the processes of a control group have together.
  struct Quota {
    std::uint64_t group = 0;  ///< the same number for the same group of one machine
    double processors = 0.0;  ///< above 0
  };

  std::array<std::uint64_t, most_processors / 64> mask{};  ///< its affinity: a bit for each processor
  std::array<Quota, most_quotas> quotas{};  ///< of its control group and those above it that have one, then zeros
  /// Threads that OMP_NUM_THREADS (the first number) and SLURM_CPUS_PER_TASK allow a process, the lesser one; 0: both
  /// are absent, or no numbers.
  int threads = 0;
};

/// That of the calling thread. Reads the affinity mask, the quotas of control groups (versions 1 and 2) and the
/// environment; what cannot be read counts as absent.
TASKDAG_API ProcessorClaim claim_processors();

/// How many threads suit the process whose claim is node[mine], where `node` holds the claims of all processes of this
/// machine that compute at the same time, its own among them. Each processor is shared equally among those that may run
/// on it, each quota among those in the group; of these and the environment's number of threads the least counts,
/// rounded down. At least 1.
TASKDAG_API int share_of_processors(std::span<const ProcessorClaim> node, std::size_t mine);

}  // namespace taskdag
