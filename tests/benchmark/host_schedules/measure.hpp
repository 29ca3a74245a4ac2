/// \file
/// One schedule on one triangle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "dag/transitive_reduction.hpp"
#include "rival.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::benchmark {

/// What is compared: a schedule of the host, a variation of one, or a rival.
struct Variant {
  const char* name;
  SolveSchedule kind;
  bool coarsen = true;  ///< Funnel or subtrees first
  bool waits = false;   ///< waits of cell for cell in place of barriers
  bool runs = false;    ///< on runs of rows, too
  bool gather = true;   ///< light tasks dealt out anew, neighbours together
  bool fill_up = true;  ///< cores that become idle take what ends before the superstep does
  std::optional<ReductionEffort> reduction = ReductionEffort{};  ///< of the graph before Funnel
  const Rival* rival = nullptr;                                  ///< then nothing but the name counts
};

/// serial first.
std::vector<Variant> list_variants();

struct Solving {
  double median = 0.0;  ///< milliseconds per solve
  double lower_quartile = 0.0;
  double upper_quartile = 0.0;
  int threads = 1;
  double pack_ms = 0.0;  ///< permuting and copying the triangle
  double error = 0.0;    ///< largest difference to the reference, relative to its largest entry
};

struct Measurement {
  Index wavefronts = 0;
  Index supersteps = 0;      ///< 0: the schedule is not made of supersteps
  double balance = 0.0;      ///< entries / (cores · Σ over the supersteps of the entries of the fullest cell)
  double schedule_ms = 0.0;  ///< making the schedule, with its waits; of automatic with the packing
  std::optional<Solving> solving;
};

/// What is solved, and what comes out.
struct System {
  CsrMatrix a;  ///< lower, unit diagonal
  std::vector<double> b;
  std::vector<double> reference;
};

/// Makes the schedule for `cores` cores; solves `repeat` times where there is a pool of as many threads.
/// Two untimed solves come first. serial, automatic and plan show no cells.
Measurement measure(const Variant& variant, const System& triangle, int cores, host::ThreadPool* pool, int repeat);

}  // namespace taskdag::benchmark
