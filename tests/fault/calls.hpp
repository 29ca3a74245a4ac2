/// \file
/// The public calls that are made to fail, with what leads up to each and what a user has of it afterwards.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backend/device.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag::test {

/// Where calls run. `device`: null for arrays in host memory.
struct Site {
  const Context* context = nullptr;
  DeviceStream* device = nullptr;
  [[nodiscard]] MemorySpace space() const { return device == nullptr ? MemorySpace::host : MemorySpace::device; }
  [[nodiscard]] Stream stream() const { return device == nullptr ? Stream{} : device->stream(); }
};

struct Call {
  std::string name;
  std::function<void()> prepare;                ///< makes what the call needs
  std::function<void()> run;                    ///< the call
  std::function<std::vector<double>()> result;  ///< after the call: what comes of it
  std::function<void()> drop;                   ///< all objects go
  bool spoils = false;                          ///< after a failure, result() throws InvalidInput until run() succeeds
};

std::vector<Call> triangular_calls(const Site& site, SolveSchedule schedule);
/// `schedule`: also `blocks`.
std::vector<Call> factor_calls(const Site& site, FactorKind kind, SolveSchedule schedule);
/// Shifts, fill and tuning, which do not depend on the schedule.
std::vector<Call> factor_form_calls(const Site& site);
/// Factorisations by point blocks.
std::vector<Call> point_block_calls(const Site& site);
/// A triangle that is tuned, by trials: host threads, where all schedules give the same bits. Without a file:
/// nlohmann-json takes memory in its destructors, so that it ends the program where there is none.
std::vector<Call> tuning_calls(const Site& site);
std::vector<Call> jacobi_calls(const Site& site);
std::vector<Call> block_jacobi_calls(const Site& site);
/// `schedule`: also `blocks`.
std::vector<Call> sor_calls(const Site& site, SolveSchedule schedule);
/// A context of host threads.
std::vector<Call> context_calls(int threads);
std::vector<Call> ordering_calls(const Site& site);

/// The schedules of a backend, with `blocks`, which factorisations alone can run.
std::vector<SolveSchedule> factor_schedules(Backend backend);

}  // namespace taskdag::test
