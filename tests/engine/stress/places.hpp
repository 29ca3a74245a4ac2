/// \file
/// Where an engine test runs: on the host with several numbers of threads (one, as many as most machines have, more),
/// and on a GPU. GPU instances are skipped where no device is usable.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "support/effort.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::test {

struct Place {
  Backend backend = Backend::host;
  int threads = 1;
};
/// "host2", "cuda".
std::string name_of(const Place& place);
void PrintTo(const Place& place, std::ostream* out);

std::vector<Place> all_places();
/// Two threads, and CUDA: for cases that take long.
std::vector<Place> one_place_per_backend();
/// Where workers wait for each other: more than one thread, and CUDA.
std::vector<Place> concurrent_places();

class EngineTest : public testing::TestWithParam<Place> {
 protected:
  void SetUp() override;
  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] static bool on_cuda() { return GetParam().backend == Backend::cuda; }

 private:
  std::unique_ptr<Context> context_;
};

}  // namespace taskdag::test

/// Declares a test suite that runs at the places of `places`.
#define TASKDAG_ENGINE_SUITE(Suite, places)                      \
  class Suite : public taskdag::test::EngineTest {};             \
  INSTANTIATE_TEST_SUITE_P(On, Suite, testing::ValuesIn(places), \
                           [](const auto& parameter) { return taskdag::test::name_of(parameter.param); })
