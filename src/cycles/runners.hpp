/// \file
/// What does the stages of a cycle, or counts them, or writes them down.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cycles/levels.hpp"
#if defined(__CUDACC__)
#include "cycles/small_levels.cuh"
#include "taskdag/engine/loop/cuda.cuh"
#endif

namespace taskdag::cycles {

// What does the stages of a cycle: run() one of them, apply() a preconditioner that is a call. Matrix: how stages see a
// matrix; matrix(): one for the next product.
// joins_steps: the first two steps from zero are one stage where no restriction before them can make the first one,
// which saves a launch and writing the first one's elements, and makes these once for each entry; host threads have too
// much to compute for that.

struct HostStages {
  using Matrix = Rows;
  static constexpr bool on_ranks = false;
  static constexpr bool joins_steps = false;
  [[nodiscard]] static Matrix matrix(const SharedRows& rows) { return rows.rows(); }
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    rows.flow().stage(stage, rows.count());
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, {}); }
};

#if defined(__CUDACC__)
struct CudaStages {
  using Matrix = Rows;
  static constexpr bool on_ranks = false;
  static constexpr bool joins_steps = true;
  Stream stream;
  engine::LoopScratch scratch;  ///< for the dots of null spaces, and the stages of ranks that finish
  /// Of the next stage. A stage begins with the rows that the one before has ended with: of what that has read and
  /// written the last part is in the cache.
  mutable bool backwards = true;
  [[nodiscard]] static Matrix matrix(const SharedRows& rows) { return rows.rows(); }
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    const bool from_last = std::exchange(backwards, !backwards);
    engine::LoopScratch with_ranks = scratch;
    with_ranks.links = rows.halo().links;
    engine::StreamFlow flow(static_cast<cudaStream_t>(stream.handle), with_ranks, rows.row_threads(), nullptr,
                            engine::TraceOfCall<engine::StreamTrace>::current());
    if constexpr (takes_rows_together<S>) {
      const std::uint32_t together = rows.rows().together;
      if (together > 1) return flow.stage_of_groups(stage, rows.count(), together, from_last);
    }
    flow.stage(stage, rows.count(), from_last);
  }
  void apply(LinearMap& map, const double* x, double* y) const { map.apply(x, y, stream); }
};

/// Writes stages down. Where the levels are small, none of them is an update after a call.
struct WrittenStages {
  using Matrix = Rows;
  static constexpr bool on_ranks = false;
  static constexpr bool joins_steps = true;
  std::vector<SmallStage>& stages;
  [[nodiscard]] static Matrix matrix(const SharedRows& rows) { return rows.rows(); }
  template <class S>
  void run(const SharedRows& rows, const S& stage) const {
    if constexpr (SmallStage::has<S>())
      stages.push_back(SmallStage::of(stage, rows.count(), std::min(rows.row_threads(), 32)));
  }
  void apply(LinearMap& /*map*/, const double* /*x*/, double* /*y*/) const {}
};
#endif

/// Which slots the next product of an application has.
struct Turn {
  std::size_t at = 0;
  bool gathered = false;

  [[nodiscard]] DealtRows matrix(const SharedRows& rows) {
    DealtRows matrix{rows.rows(), rows.halo(), at};
    if (rows.slots() > 0) matrix.halo.slots += at;
    at += rows.slots();
    return matrix;
  }
  /// Its halo, and when the sets of slots take turns.
  [[nodiscard]] Gather gather(const SharedRows& gathered_rows) {
    Gather stage{};
    stage.halo = gathered_rows.halo();
    stage.halo.slots += at;
    stage.at = at;
    stage.ends_set = !gathered;
    at += gathered_rows.slots();
    gathered = true;
    return stage;
  }
};

/// The same stages where the fine levels are dealt out to ranks.
template <class Stages>
struct OnRanks : Stages {
  using Matrix = DealtRows;
  static constexpr bool on_ranks = true;
  Turn& turn;
  OnRanks(const Stages& stages, Turn& of_application) : Stages(stages), turn(of_application) {}
  [[nodiscard]] Matrix matrix(const SharedRows& rows) const { return turn.matrix(rows); }
  [[nodiscard]] Gather gather(const SharedRows& rows) const { return turn.gather(rows); }
};

/// Vectors that a stage reads or writes; of those that remove a null space, with one vector of it.
template <class S>
constexpr int vectors_of() {
  if constexpr (requires { S::vectors; })
    return S::vectors;
  else
    return 3;
}

/// Does nothing but count.
struct CountedStages {
  using Matrix = DealtRows;
  static constexpr bool on_ranks = true;
  bool joins_steps;
  CycleInfo& info;
  std::size_t& slots;  ///< of what ranks send each other
  [[nodiscard]] Matrix matrix(const SharedRows& rows) const {
    slots += rows.slots();
    return {rows.rows()};
  }
  [[nodiscard]] Gather gather(const SharedRows& rows) const {
    slots += rows.slots();
    return {};
  }
  template <class S>
  void run(const SharedRows& rows, const S& /*stage*/) const {
    const double place = rows.rows().columns.distance != nullptr ? sizeof(std::int16_t) : sizeof(Index);
    const double bytes_of_entry = sizeof(double) + place / rows.rows().together;
    ++info.stages;
    info.bytes_of_cycle +=
        rows.count() * static_cast<double>(sizeof(double) * static_cast<std::size_t>(vectors_of<S>()));
    if constexpr (engine::stage_has_parts<S>)
      info.bytes_of_cycle +=
          static_cast<double>(rows.entries()) * bytes_of_entry + static_cast<double>(rows.count() * sizeof(Offset));
  }
  void apply(LinearMap& /*map*/, const double* /*x*/, double* /*y*/) const { ++info.calls; }
};

}  // namespace taskdag::cycles
