/// \file
/// The forms in which the graph algorithms are tested, on each backend.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "studies/graph/algorithm.hpp"

namespace taskdag::test {

struct GraphPlace {
  Backend backend;
  int threads;
};
void PrintTo(const GraphPlace& place, std::ostream* out);

/// The host with one and with several threads, CUDA.
std::vector<GraphPlace> graph_places();

/// All bulk synchronous forms of the backend; each worker size on the persistent scheduler with one round and with
/// several; the discrete schedulers; what is written in the paper, with each of its worker sizes.
std::vector<graph::Form> graph_forms(Backend backend);

/// Skips CUDA where there is none.
class GraphTest : public testing::TestWithParam<GraphPlace> {
 protected:
  void SetUp() override;
  [[nodiscard]] Context context() const;
};

}  // namespace taskdag::test
