/// \file
/// The graphs that the task progression study is measured on.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "studies/progression/dag.hpp"

namespace taskdag::benchmark {

struct DagCase {
  std::string name;
  std::function<progression::Dag()> make;
};

/// "1000x1000": rows and columns. @throws InvalidInput for anything else
DagCase wavefront_case(const std::string& shape);
/// Lower triangles: generated ones, then files of TASKDAG_MATRIX_DIR if it is set.
std::vector<DagCase> list_irregular();
/// A small graph of each kind.
std::vector<DagCase> list_smoke_dags();

}  // namespace taskdag::benchmark
