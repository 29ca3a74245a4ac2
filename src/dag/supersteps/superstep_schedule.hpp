/// \file
/// Rows by supersteps and cores.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dag/supersteps/assignment.hpp"
#include "dag/supersteps/coarsening.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

/// A schedule of a triangular solve on a number of cores, which may be threads, thread blocks or warps: plain arrays.
///
/// A portion is what one core runs in one superstep, its rows one after the other. A row waits for rows of earlier
/// supersteps and for earlier rows of its own portion. Portions that are empty are listed, too.
/// Position p is index p of `order`: supersteps in order, in each the cores in order, in each portion the rows
/// in the direction of the sweep. Source of the order: Böhnlein et al. 2025, section 5.
struct SuperstepSchedule {
  int cores = 1;
  Index supersteps = 0;
  std::vector<Index> order;       ///< the row at each position
  std::vector<Index> offsets{0};  ///< positions of portion (s, c): [offsets[s · cores + c], offsets[s · cores + c + 1])

  [[nodiscard]] Index rows() const { return static_cast<Index>(order.size()); }
  [[nodiscard]] std::size_t portion(Index superstep, int core) const {
    return static_cast<std::size_t>(superstep) * static_cast<std::size_t>(cores) + static_cast<std::size_t>(core);
  }
  [[nodiscard]] Index first(Index superstep, int core) const { return offsets[portion(superstep, core)]; }
  [[nodiscard]] Index last(Index superstep, int core) const { return offsets[portion(superstep, core) + 1]; }
  /// Between supersteps.
  [[nodiscard]] Index barriers() const { return supersteps > 0 ? supersteps - 1 : 0; }
};

/// What is wrong with a schedule of that triangle, in words; nothing where it is valid. Cost: one pass over the
/// entries.
std::optional<std::string> find_fault(const SuperstepSchedule& schedule, const CsrPattern& pattern, Triangle triangle);

/// The schedule of the rows of `triangle` for an assignment of its steps (see task_graph.hpp).
SuperstepSchedule make_superstep_schedule(Triangle triangle, int cores, const Assignment& assignment);

/// The assignment of the tasks whose groups have the assignment `coarse`.
Assignment pull_back(const Assignment& coarse, const Partition& partition);

}  // namespace taskdag
