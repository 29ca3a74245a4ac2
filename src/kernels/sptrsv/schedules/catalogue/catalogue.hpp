/// \file
/// The catalogue of schedules: names, backends, roles. Built without CUDA too; how a schedule of CUDA is made and what
/// it expects of itself is in cuda_catalogue.hpp.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "taskdag/solve_schedule.hpp"

namespace taskdag::kernels {

/// Row k is that of enumerator k.
inline constexpr auto kCatalogue = [] {
  using enum SolveSchedule;
  constexpr auto no = ScheduleRole::absent;
  constexpr auto chosen = ScheduleRole::automatic;
  constexpr auto tuned = ScheduleRole::tuned;
  constexpr auto study = ScheduleRole::study;
  // schedule, name, on CUDA, on the host, needs blocks, rewrites rows, sentence, single on CUDA, on the host
  return std::array{
      SolveScheduleInfo{automatic, "auto", chosen, chosen, false, false,
                        "chosen from the pattern, by trials or from a file of trials", true, true},
      SolveScheduleInfo{flat, "flat", chosen, no, false, false,
                        "warp tasks in level order, each row waits for its operands' values", true, false},
      SolveScheduleInfo{
          cells, "cells", chosen, no, false, false,
          "runs of consecutive rows, or tiles, bands, pencils of a grid, a thread block each, by static steps; "
          "in single precision bands and pencils alone",
          true, false},
      SolveScheduleInfo{supernodes, "supernodes", chosen, no, false, true,
                        "diagonal blocks of supernodes inverted beforehand, what remains by cells or flat"},
      SolveScheduleInfo{
          joined_levels, "joined-levels", chosen, no, false, true,
          "operands of every second level replaced so that two run at once, what remains by cells or flat"},
      SolveScheduleInfo{one_block, "one-block", tuned, no, false, false,
                        "levels by one thread block, the vector in its shared memory: small matrices"},
      SolveScheduleInfo{level_launch, "level-launch", study, no, false, false,
                        "a kernel launch a level (baseline of ATA)"},
      SolveScheduleInfo{level_graph, "level-graph", study, no, false, false,
                        "the launches of level-launch as a CUDA graph"},
      SolveScheduleInfo{level_barrier, "level-barrier", study, no, false, false,
                        "one kernel with a grid-wide barrier a level"},
      SolveScheduleInfo{self_scheduled, "self", study, no, false, false,
                        "a warp a row in natural order, each waits for its operands (baseline of ATA)"},
      SolveScheduleInfo{ata_concurrency, "ata-concurrency", study, no, false, false,
                        "adaptive task aggregation, aware of concurrency (Helal et al. 2019)"},
      SolveScheduleInfo{ata_locality, "ata-locality", study, no, false, false,
                        "adaptive task aggregation, aware of locality (Helal et al. 2019)"},
      SolveScheduleInfo{ata_greedy, "ata-greedy", study, no, false, false,
                        "adaptive task aggregation, greedy (Helal et al. 2019)"},
      SolveScheduleInfo{cusparse, "cusparse", tuned, no, false, false,
                        "NVIDIA's SpSV; libcusparse is opened when it is first asked for"},
      SolveScheduleInfo{blocks, "blocks", chosen, chosen, true, false,
                        "blocks of one colour at once, for orderings that make blocks", true, true},
      SolveScheduleInfo{engine, "engine", study, study, false, false,
                        "a program of the task engine: both sweeps of an application as one", false, true},
      SolveScheduleInfo{locking, "locking", study, chosen, false, false,
                        "Funnel coarsening and the Locking scheduler (Böhnlein et al. 2025)", false, true},
      SolveScheduleInfo{pivotal_path, "pivotal-path", study, tuned, false, false,
                        "Funnel coarsening and the p-ivotal path scheduler (Böhnlein et al. 2025)", false, true},
      SolveScheduleInfo{hdagg, "hdagg", study, tuned, false, false,
                        "levels glued while they stay balanced (after Zarebavani et al. 2022)", false, true},
      SolveScheduleInfo{plan, "plan", no, chosen, false, false,
                        "runs of consecutive rows a thread, one progress counter each", false, true},
      SolveScheduleInfo{point_to_point, "p2p", no, tuned, false, false,
                        "levels without barriers, sparsified waits (after Park et al. 2014)", false, true},
      SolveScheduleInfo{level_set, "level-set", no, tuned, false, false, "a barrier a level", false, true},
      SolveScheduleInfo{serial, "serial", no, chosen, false, false, "one thread, natural order", false, true},
  };
}();

static_assert(kCatalogue.size() == static_cast<std::size_t>(SolveSchedule::serial) + 1, "a row for each enumerator");
static_assert(
    [] {
      for (std::size_t k = 0; k < kCatalogue.size(); ++k) {
        if (kCatalogue[k].schedule != static_cast<SolveSchedule>(k)) return false;
      }
      return true;
    }(),
    "rows in the order of the enumeration");

/// @throws std::out_of_range for a number that is no enumerator's
constexpr const SolveScheduleInfo& row_of(SolveSchedule schedule) {
  return kCatalogue.at(static_cast<std::size_t>(schedule));
}

/// The policies of adaptive task aggregation (Helal et al. 2019), and what they are compared with.
inline constexpr std::array kAtaPolicies{SolveSchedule::ata_concurrency, SolveSchedule::ata_locality,
                                         SolveSchedule::ata_greedy};
inline constexpr std::array kAtaBaselines{SolveSchedule::level_launch, SolveSchedule::level_graph,
                                          SolveSchedule::level_barrier, SolveSchedule::self_scheduled};

/// "auto, flat, …": the names of solve_schedules(backend), for messages.
std::string names_of_schedules(Backend backend);

}  // namespace taskdag::kernels
