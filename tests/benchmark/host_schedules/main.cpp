/// \file
/// The host's schedules of triangular solves against one thread, on the data sets of Böhnlein et al. 2025 in kind.
///
/// usage: taskdag_host_schedules [--cores N] [--counts] [--set NAME]... [--only MATRIX]... [--schedule NAME]...
///          [--seeds N] [--rows N] [--repeat N] [--least-flops N] [--least-wavefront N] [--rival FILE]... [--csv FILE]
/// --rival measures a shared library with the functions of rival_interface.h, too (rivals/ has some).
/// --counts makes schedules and solves nothing; cores may be more than the machine has. Matrices of TASKDAG_MATRIX_DIR
/// with fewer flops (2 · entries − rows; default 200,000) or a smaller average wavefront (default 2 · cores) are left
/// out, and named. TASKDAG_COMMIT names the commit in the CSV file. Prints a line per matrix and schedule, then tables.
/// Exit status 1 if a result is wrong.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "cases.hpp"
#include "dag/levels.hpp"
#include "kernels/sptrsv/reference.hpp"
#include "summary.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kBound = 1e-12;

struct Options {
  int cores = host::available_threads();
  bool counts = false;
  std::vector<std::string> sets;
  std::vector<std::string> only;
  std::vector<std::string> schedules;
  int seeds = 2;
  Index rows = 100000;
  int repeat = 100;
  double least_flops = 2e5;
  double least_wavefront = -1.0;
  std::vector<std::string> rivals;
  std::string csv;
};

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::find(names, name) != names.end();
}

bool parse(int argc, char** argv, Options& options) {
  for (int k = 1; k < argc; ++k) {
    const auto is = [&](const char* name) { return std::strcmp(argv[k], name) == 0; };
    if (is("--counts")) {
      options.counts = true;
      continue;
    }
    if (k + 1 == argc) return false;
    const char* const value = argv[k + 1];
    if (is("--cores")) {
      options.cores = std::atoi(value);
    } else if (is("--set")) {
      options.sets.emplace_back(value);
    } else if (is("--only")) {
      options.only.emplace_back(value);
    } else if (is("--schedule")) {
      options.schedules.emplace_back(value);
    } else if (is("--seeds")) {
      options.seeds = std::atoi(value);
    } else if (is("--rows")) {
      options.rows = std::atoi(value);
    } else if (is("--repeat")) {
      options.repeat = std::max(1, std::atoi(value));
    } else if (is("--least-flops")) {
      options.least_flops = std::atof(value);
    } else if (is("--least-wavefront")) {
      options.least_wavefront = std::atof(value);
    } else if (is("--rival")) {
      options.rivals.emplace_back(value);
    } else if (is("--csv")) {
      options.csv = value;
    } else {
      return false;
    }
    ++k;
  }
  if (options.least_wavefront < 0.0) options.least_wavefront = 2.0 * options.cores;
  return options.cores >= 1;
}

System make_system(const Case& c) {
  System system{take_lower(c.make()), {}, {}};
  system.b.resize(static_cast<std::size_t>(system.a.rows));
  for (std::size_t i = 0; i < system.b.size(); ++i) system.b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  system.reference.resize(system.b.size());
  kernels::reference_sptrsv(system.a.view(), {.triangle = Triangle::lower, .unit_diagonal = true}, system.b.data(),
                            system.reference.data());
  return system;
}

/// @returns whether the paper's criteria take a real matrix
bool is_large_enough(const CsrMatrix& a, const Options& options) {
  const double wavefront = static_cast<double>(a.rows) / count_levels(a.pattern(), Triangle::lower).levels;
  return 2.0 * a.entries() - a.rows >= options.least_flops && wavefront >= options.least_wavefront;
}

void print(const Row& row) {
  const Measurement& m = row.measured;
  std::printf("  %-24s", row.variant);
  if (m.supersteps > 0) {
    std::printf(" %6d supersteps, 1 of %6.2f, balance %4.2f,", m.supersteps,
                static_cast<double>(m.wavefronts) / m.supersteps, m.balance);
  } else {
    std::printf(" %6s                               ", "");
  }
  std::printf(" schedule %8.1f ms", m.schedule_ms);
  if (m.solving) {
    const Solving& s = *m.solving;
    std::printf(", solve %8.4f ms (%.4f … %.4f) on %d, %5.2f times serial, pays after %.0f, error %.1e", s.median,
                s.lower_quartile, s.upper_quartile, s.threads, row.serial_ms / s.median, amortisation(row), s.error);
  }
  std::printf("\n");
  std::fflush(stdout);
}

int run(const Options& options) {
  std::unique_ptr<host::ThreadPool> pool;
  if (!options.counts) pool = std::make_unique<host::ThreadPool>(options.cores);
  const std::vector<Rival> rivals(options.rivals.begin(), options.rivals.end());
  std::vector<Variant> variants = list_variants();
  for (const Rival& rival : rivals) {
    Variant variant{rival.name(), SolveSchedule::automatic};
    variant.rival = &rival;
    variants.push_back(variant);
  }
  std::vector<Row> rows;
  bool right = true;
  for (const Case& c : list_cases(options.seeds, options.rows)) {
    if (!wanted(options.sets, c.set) || !wanted(options.only, c.name)) continue;
    const System system = make_system(c);
    if (c.set == "real" && options.only.empty() && !is_large_enough(system.a, options)) {
      std::printf("%s: too small or too narrow\n", c.name.c_str());
      continue;
    }
    std::printf("%s, %s: %d rows, %d entries\n", c.set.c_str(), c.name.c_str(), system.a.rows, system.a.entries());
    double serial_ms = 0.0;
    for (const Variant& variant : variants) {
      const bool serial = variant.kind == SolveSchedule::serial;
      const bool has_cells = !serial && variant.kind != SolveSchedule::plan && variant.kind != SolveSchedule::automatic;
      if (options.counts && !has_cells) continue;
      if (!serial && variant.rival == nullptr && !wanted(options.schedules, variant.name)) continue;
      Row row{c.set, c.name, system.a.rows, system.a.entries(), variant.name, {}, 0.0};
      row.measured = measure(variant, system, options.cores, pool.get(), options.repeat);
      if (row.measured.solving) {
        if (serial) serial_ms = row.measured.solving->median;
        right = right && row.measured.solving->error <= kBound;
      }
      row.serial_ms = serial_ms;
      print(row);
      rows.push_back(std::move(row));
    }
  }
  print_tables(rows);
  if (!options.csv.empty()) {
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(options.csv.c_str(), "w"), &std::fclose);
    if (!file) {
      std::fprintf(stderr, "cannot write %s\n", options.csv.c_str());
      return 1;
    }
    const char* commit = std::getenv("TASKDAG_COMMIT");
    write_csv(file.get(), commit == nullptr ? "unknown" : commit, options.cores, rows);
  }
  if (!right) std::fprintf(stderr, "a result differs from the reference by more than %g\n", kBound);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    taskdag::benchmark::Options options;
    if (!taskdag::benchmark::parse(argc, argv, options)) {
      std::fprintf(stderr,
                   "usage: %s [--cores N] [--counts] [--set NAME]... [--only MATRIX]... [--schedule NAME]...\n"
                   "  [--seeds N] [--rows N] [--repeat N] [--least-flops N] [--least-wavefront N]\n"
                   "  [--rival FILE]... [--csv FILE]\n",
                   argv[0]);
      return 2;
    }
    return taskdag::benchmark::run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
