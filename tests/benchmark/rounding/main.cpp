/// \file
/// A study: how many iterations an ILU(0) in natural order takes whose entries beside the diagonal are stored in fewer
/// bits. CG where matrix and values are symmetric, else BiCGStab, to 1e-6, for a solution around 1. Rows of CSV on
/// the standard output.
///
/// usage: taskdag_rounding_bench [--only NAME]...
/// Without --only: the generated problems, and the files of TASKDAG_MATRIX_DIR. Exit status 1 if the factor in double
/// does not converge on a problem that was named.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "csv_text.hpp"
#include "dag/transpose.hpp"
#include "krylov.hpp"
#include "problems.hpp"
#include "rounded.hpp"
#include "taskdag/taskdag.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kTolerance = 1e-6;
constexpr int kMost = 2000;

bool is_symmetric(const CsrMatrix& a) {
  const Transposed other = transpose(a.pattern());
  if (other.row_offsets != a.row_offsets || other.col_indices != a.col_indices) return false;
  for (std::size_t e = 0; e < a.values.size(); ++e) {
    if (a.values[static_cast<std::size_t>(other.source_entry[e])] != a.values[e]) return false;
  }
  return true;
}

/// @returns whether the factor in double has converged
bool measure(const std::string& name) {
  bool repaired = false;
  const CsrMatrix a = make_problem(name, repaired);
  const bool symmetric = is_symmetric(a);
  std::vector<double> solution(static_cast<std::size_t>(a.rows));
  for (std::size_t i = 0; i < solution.size(); ++i) solution[i] = 1.0 + 0.5 * std::sin(0.7 * static_cast<double>(i));
  std::vector<double> b(solution.size());
  multiply(a.view(), solution, b);
  bool converged = false;
  for (const Storage storage : {Storage::in_double, Storage::in_single, Storage::in_bfloat16}) {
    CsrMatrix lu = make_factor(a);
    round_factor(lu, storage);
    const Preconditioner apply = [&](const std::vector<double>& r) { return reference_application(lu, r); };
    const Solve solve = (symmetric ? conjugate_gradients : bicgstab)(a, b, apply, kTolerance, kMost);
    if (storage == Storage::in_double) converged = solve.converged;
    char residual[32];
    std::snprintf(residual, sizeof residual, "%.2e", solve.residual);
    std::printf("%s\n", csv_line({"rounding", name, std::to_string(a.rows), std::to_string(a.entries()),
                                  repaired ? "diagonal" : "", symmetric ? "cg" : "bicgstab", to_string(storage),
                                  std::to_string(solve.iterations), residual, solve.converged ? "ok" : "no convergence",
                                  commit_name()})
                            .c_str());
    std::fflush(stdout);
    if (storage == Storage::in_double && !converged) break;
  }
  return converged;
}

int run(int argc, char** argv) {
  std::vector<std::string> names;
  for (int k = 1; k < argc; ++k) {
    if (std::strcmp(argv[k], "--only") != 0 || k + 1 == argc) {
      std::fprintf(stderr, "usage: %s [--only NAME]...\n", argv[0]);
      return 2;
    }
    names.emplace_back(argv[++k]);
  }
  const bool named = !names.empty();
  if (!named) names = list_problems(false);
  std::printf("program,problem,rows,entries,repaired,method,values,iterations,residual,status,commit\n");
  bool all = true;
  for (const std::string& name : names) {
    try {
      all = measure(name) && all;
    } catch (const std::exception& error) {
      std::printf("%s\n",
                  csv_line({"rounding", name, "", "", "", "", "", "", "", error.what(), commit_name()}).c_str());
      all = false;
    }
  }
  return named && !all ? 1 : 0;
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
