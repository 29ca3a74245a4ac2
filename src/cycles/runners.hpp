/// \file
/// What does the stages of a cycle, or counts them, or writes them down.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cycles/levels.hpp"
#if defined(__CUDACC__)
#include "cycles/together.cuh"
#include "taskdag/engine/loop/cuda.cuh"
#endif

namespace taskdag::cycles {

/// Levels from one on, which a cycle does by one launch.
struct SmallLevels {
  std::size_t first = 0;
  double* solution = nullptr;  ///< of that level, afterwards
  CycleInfo info;              ///< of what is done on them
#if defined(__CUDACC__)
  std::optional<Together> program;
#endif
};

// What does the stages of a cycle: run() one of them, apply() a preconditioner that is a call, run_small() all that is
// done on the small levels, if there are such.
// joins_steps: the first two steps from zero are one stage, which saves a launch and writing the first one's elements,
// and makes these once for each entry; host threads have too much to compute for that.

struct HostStages {
  static constexpr const SmallLevels* small = nullptr;
  static constexpr bool joins_steps = false;
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    rows.flow().stage(stage, rows.count());
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, {}); }
  void run_small() const {}
};

#if defined(__CUDACC__)
struct CudaStages {
  static constexpr bool joins_steps = true;
  Stream stream;
  const SmallLevels* small;
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    const engine::LoopScratch unused{};  // stages add nothing up
    engine::StreamFlow(static_cast<cudaStream_t>(stream.handle), unused, rows.row_threads()).stage(stage, rows.count());
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, stream); }
  void run_small() const { small->program->launch(static_cast<cudaStream_t>(stream.handle)); }
};

/// Writes stages down. Where the levels are small, none of them is an update after a call.
struct WrittenStages {
  static constexpr const SmallLevels* small = nullptr;
  static constexpr bool joins_steps = true;
  std::vector<SmallStage>& stages;
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    if constexpr (SmallStage::has<S>()) stages.push_back(SmallStage::of(stage, rows.count(), rows.row_threads()));
  }
  void apply(LinearMap& /*map*/, const double* /*x*/, double* /*y*/) const {}
  void run_small() const {}
};
#endif

/// Does nothing but count.
struct CountedStages {
  bool joins_steps;
  CycleInfo& info;
  const SmallLevels* small = nullptr;
  template <class S>
  void run(const SharedRows& rows, const S& /*stage*/) const {
    constexpr double bytes_of_entry = sizeof(double) + sizeof(Index);
    ++info.stages;
    info.bytes_of_cycle += rows.count() * static_cast<double>(sizeof(double) * S::vectors);
    if constexpr (engine::stage_has_parts<S>)
      info.bytes_of_cycle +=
          static_cast<double>(rows.entries()) * bytes_of_entry + static_cast<double>(rows.count() * sizeof(Offset));
  }
  void apply(LinearMap& /*map*/, const double* /*x*/, double* /*y*/) const { ++info.calls; }
  void run_small() const {
    ++info.stages;
    info.bytes_of_cycle += small->info.bytes_of_cycle;
  }
};

}  // namespace taskdag::cycles
