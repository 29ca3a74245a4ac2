/// \file
/// The host backend against PETSc's sequential factors and the serial reference: ILU(0), natural order, same run.
///
/// usage: taskdag_host_bench [--only NAME]... [--threads N]... [--repeat N]
/// Without --only: three stencils. A NAME that is no generated problem is a file of TASKDAG_MATRIX_DIR.
/// Prints milliseconds, minimum and median of the repetitions: of an application (forward and backward solve), of the
/// numeric factorisation, and of the level analysis of both triangles. Exit status 1 if a result is wrong.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "petsc_rival.hpp"
#include "problems.hpp"
#include "reference/sptrsv.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kBound = 1e-10;

struct Timing {
  double least = 0.0;  // milliseconds
  double median = 0.0;
};

Timing time_it(int repeat, const std::function<void()>& action) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int k = -2; k < repeat; ++k) {  // two warm-ups
    const auto start = Clock::now();
    action();
    const double elapsed = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (k >= 0) times.push_back(elapsed);
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

double relative_error(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) return INFINITY;
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size > 0.0 ? error / size : error;
}

void print(const std::string& who, Timing apply, Timing factor, Timing levels, double error, const std::string& note) {
  const auto cell = [](Timing t) {
    char text[32];
    std::snprintf(text, sizeof text, t.median > 0.0 ? "%9.3f %9.3f" : "        -         -", t.least, t.median);
    return std::string(text);
  };
  std::printf("  %-12s %s   %s   %s   %8.1e  %s\n", who.c_str(), cell(apply).c_str(), cell(factor).c_str(),
              cell(levels).c_str(), error, note.c_str());
}

/// @returns whether all results agree
bool measure(const std::string& name, const std::vector<int>& threads, int repeat) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  std::vector<double> b(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  std::printf("%s: %d rows, %d entries%s\n", name.c_str(), a.rows, a.entries(), repaired ? ", diagonal repaired" : "");
  std::printf("  %-12s %19s   %19s   %19s   %8s\n", "ms, min med", "apply", "factor", "levels", "error");

  std::vector<double> expected;
  bool right = true;
  const auto check = [&](const std::vector<double>& x) {
    const double error = relative_error(x, expected);
    right = right && error <= kBound;
    return error;
  };
  std::vector<double> x(b.size());
  for (const int t : threads) {
    const Context context = Context::create({.backend = Backend::host, .threads = t});
    Factorization factorization(context, a.pattern(), MemorySpace::host, {});
    const Timing factor =
        time_it(std::max(3, repeat / 4), [&] { factorization.factor(a.values.data(), MemorySpace::host); });
    if (expected.empty()) {  // the oracle solves with the factor that the first row of the table made
      const CsrMatrix f = factorization.copy_factor();
      std::vector<double> y(b.size());
      expected.resize(b.size());
      const Timing apply = time_it(std::max(3, repeat / 4), [&] {
        kernels::reference_sptrsv(f.view(), {Triangle::lower, true, false}, b.data(), y.data());
        kernels::reference_sptrsv(f.view(), {Triangle::upper, false, false}, y.data(), expected.data());
      });
      print("reference", apply, {}, {}, 0.0, "");
    }
    const Timing apply =
        time_it(repeat, [&] { factorization.apply(Apply::full, b.data(), x.data(), MemorySpace::host); });
    const Timing levels = time_it(std::max(3, repeat / 8), [&] {
      static_cast<void>(make_level_schedule(a.pattern(), Triangle::lower, t));
      static_cast<void>(make_level_schedule(a.pattern(), Triangle::upper, t));
    });
    const FactorizationInfo& info = factorization.info();
    print(std::to_string(t) + (t == 1 ? " thread" : " threads"), apply, factor, levels, check(x),
          std::to_string(info.lower_levels) + "+" + std::to_string(info.upper_levels) + " levels, sweeps on " +
              std::to_string(info.lower_threads) + "+" + std::to_string(info.upper_threads));
  }
  if (PetscRival::available()) {
    PetscRival petsc(a);
    const Timing factor = time_it(std::max(3, repeat / 4), [&] { petsc.factor(); });
    const Timing apply = time_it(repeat, [&] { petsc.solve(b.data(), x.data()); });
    print("PETSc", apply, factor, {}, check(x), "MatSolve, seqaij, " + PetscRival::version());
  }
  return right;
}

int run(int argc, char** argv) {
  std::vector<std::string> names;
  std::vector<int> threads;
  int repeat = 40;
  for (int k = 1; k < argc; ++k) {
    const bool more = k + 1 < argc;
    if (more && std::strcmp(argv[k], "--only") == 0) {
      names.emplace_back(argv[++k]);
    } else if (more && std::strcmp(argv[k], "--threads") == 0) {
      threads.push_back(std::atoi(argv[++k]));
    } else if (more && std::strcmp(argv[k], "--repeat") == 0) {
      repeat = std::max(1, std::atoi(argv[++k]));
    } else {
      std::fprintf(stderr, "usage: %s [--only NAME]... [--threads N]... [--repeat N]\n", argv[0]);
      return 2;
    }
  }
  if (names.empty()) names = {"5-point 1000^2", "7-point 100^3 wind", "27-point 80^3"};
  if (threads.empty()) {
    threads = {1, 2};
    if (const int all = host::available_threads(); all > 2) threads.push_back(all);
  }
  bool right = true;
  for (const std::string& name : names) right = measure(name, threads, repeat) && right;
  if (!right) std::fprintf(stderr, "a result differs from the reference by more than %g\n", kBound);
  return right ? 0 : 1;
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    return taskdag::benchmark::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
