/// \file
/// One schedule on one triangle.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "dag/supersteps/portion_waits.hpp"
#include "paper_sweep.hpp"
#include "papers/boehnlein/schedules.hpp"
#include "rival.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/solve_schedule.hpp"

namespace taskdag::benchmark {

/// What is compared: a schedule of the host, a variation of one, or a rival.
struct Variant {
  const char* name;
  SolveSchedule kind;
  const char* group = "usual";               ///< usual, alpha, reordering
  bool waits = false;                        ///< waits of portion for portion in place of barriers
  SuperstepOptions options{.gather = true};  ///< of the schedulers
  std::optional<PaperOrder> paper = {};      ///< runs PaperSweep, not the library's sweep
  const Rival* rival = nullptr;              ///< then nothing but the name counts
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
  Index supersteps = 0;  ///< 0: the schedule is not made of supersteps
  double balance = 0.0;  ///< entries / (cores · Σ over the supersteps of the entries of the fullest portion)
  std::optional<double> schedule_ms;  ///< making the schedule, with its waits; of automatic with the packing
  std::optional<Solving> solving;
};

/// What is solved, and what comes out.
struct System {
  CsrMatrix a;  ///< lower, unit diagonal
  std::vector<double> b;
  std::vector<double> reference;
  Index wavefronts = 0;
};

/// How often a schedule solves.
struct Repetition {
  int solves = 100;
  double most_ms = 1e9;  ///< with the checks; ten solves in any case
  int attempts = 1;      ///< all over again where the quartiles are further apart than a quarter of the median
};

/// A schedule by supersteps, made.
struct Prepared {
  SuperstepSchedule schedule;
  std::optional<PortionWaits> waits;
  double ms = 0.0;
};

/// Whether prepare() makes the variant's schedule; the others' is made by measure().
bool is_prepared_apart(const Variant& variant);

/// One thread. @pre is_prepared_apart(variant)
Prepared prepare(const Variant& variant, const CsrMatrix& a, int cores);

/// What one knows of a schedule before it solves.
Measurement describe(const Prepared& prepared, const System& system);
/// The same of a rival's, which is made and thrown away.
Measurement describe(const Rival& rival, const System& system, int cores);

/// Solves `solves` times, after two that do not count, on a pool of `cores` threads at least. `prepared`: where
/// is_prepared_apart(variant). serial, automatic and plan show no portions.
Measurement measure(const Variant& variant, const Prepared* prepared, const System& system, int cores,
                    host::ThreadPool& pool, const Repetition& repetition);

}  // namespace taskdag::benchmark
