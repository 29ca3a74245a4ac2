/// \file
/// The matrices that the benchmarks run on.
#pragma once

#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// table: the ten that the project's targets are stated on. shared: files above 20,000 rows; with the table the
/// default. other: smaller files, and generated problems of special structure. large: grids that are measured where
/// they are named, alone. shapes: those that list_class_problems() adds to the rest. random: matrices as the random
/// ones of MHive's table 8.4 (A3, A4, A6, A5), where they are named. smoke: small ones, to see that a program runs.
enum class ProblemSet { table, shared, other, large, shapes, random, smoke };

const char* to_string(ProblemSet set);

struct Problem {
  std::string name;
  ProblemSet set = ProblemSet::other;
};

/// Names of the generated problems (without the smoke test's), then of the files of TASKDAG_MATRIX_DIR if it is set.
std::vector<std::string> list_problems(bool table_only);
/// Small ones for the smoke test.
std::vector<std::string> list_smoke_problems();

/// Wide, L-shape and parallel triangles: 21 generated ones, and seven files of TASKDAG_MATRIX_DIR where it has them.
std::vector<std::string> list_class_problems();
/// Eight of these, all generated.
std::vector<std::string> list_study_problems();

/// `rows`: of that problem's matrix.
ProblemSet set_of(const std::string& name, Index rows);

/// Builds or reads a problem by name. A file with a missing or zero diagonal entry gets one (row sum of absolute
/// values), one whose ILU(0) meets a zero pivot gets a dominant diagonal: the benchmarks measure speed on its pattern.
/// `repaired` says whether that happened.
CsrMatrix make_problem(const std::string& name, bool& repaired);

}  // namespace taskdag::benchmark
