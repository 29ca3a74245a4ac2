/// \file
/// The two sweeps of an application.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "csr/gather.hpp"
#include "solver/cuda/sweep.hpp"
#include "taskdag/engine_run.hpp"

namespace taskdag::cuda {

inline void rely(const ChosenSweep& sweep, const kernels::DevicePattern& pattern) {
  if (kernels::ReturnsValues* const known = sweep.can().returns_values) known->rely_on(pattern);
}

/// Two sweeps in a row. The first one leaves its result where the second one finds it.
struct SweepPair {
  ChosenSweep first;
  ChosenSweep second;
  Precision precision = Precision::in_double;

  SweepPair() = default;
  /// `in`: row → entry of the right-hand side; `out`: row → entry of the solution; null: the same. blocks: of the rows,
  /// or null. recurrence: of the first one, see SweepInput. lasting: the pattern that both are made of, where it stays
  /// and entries of values are its own (ReturnsValues::rely_on()); or null.
  SweepPair(const ScheduleRequest& request, const AnalysedTriangle& forward, const Offset* forward_source,
            const Index* in, const AnalysedTriangle& backward, const Offset* backward_source, const Index* out,
            const RowBlocks* blocks, bool recurrence, cudaStream_t s, const kernels::DevicePattern* lasting = nullptr)
      : precision(request.precision) {
    kernels::SweepInput input = forward.input(forward_source);
    input.rhs_index = in;
    input.blocks = blocks;
    input.recurrence = recurrence;
    input.mirrored = [&]() -> const kernels::RowLevels& { return backward.levels; };
    first = ChosenSweep(request, forward, input, s);
    if (lasting != nullptr) rely(first, *lasting);  // before the other takes memory
    input = backward.input(backward_source);
    input.rhs_index = first->result_index();
    input.x_index = out;
    input.blocks = blocks;
    input.mirrored = [&]() -> const kernels::RowLevels& { return forward.levels; };
    second = ChosenSweep(request, backward, input, s);
    if (kernels::FollowsSweep* const behind = second.can().follows_sweep) behind->follow(*first.sweep, s);
    if (lasting == nullptr) return;
    rely(first, *lasting);  // the second has asked for what can be made again
    rely(second, *lasting);
  }

  void solve(const double* b, double* x, int* non_finite, cudaStream_t s) const {
    kernels::RunsProgram* const program = second.can().runs_program;
    if (program != nullptr && program->solve_both(*first.sweep, b, x, non_finite, s)) return;
    first->solve(b, nullptr, non_finite, s);
    second->solve(first->result(), x, non_finite, s);
  }
  /// What a sweep loads: Sweep::load_values().
  struct Values {
    const double* entries;
    const double* pivot = nullptr;  ///< inverse pivots; null: all 1
  };
  /// As one launch where both sweeps gather. Asynchronous.
  void load(const Values& of_first, const Values& of_second, cudaStream_t s) const {
    kernels::GatherBatch together;
    for (const auto& [sweep, values] : {std::pair{&first, of_first}, std::pair{&second, of_second}}) {
      if (kernels::GathersValues* const gathers = sweep->can().gathers_values) {
        gathers->gather_values(together, values.entries, values.pivot, s);
      } else {
        (*sweep)->load_values(values.entries, values.pivot, s);
      }
    }
    together.run(s);
  }
  /// See SweepInput::precision.
  [[nodiscard]] bool single() const { return precision == Precision::in_single; }
  [[nodiscard]] bool rewrites_rows() const { return first.rewrites_rows() || second.rewrites_rows(); }
  /// Whether schedules that rewrite rows lose too much with these values. pivot: inverse ones of the second sweep, or
  /// null. Synchronises.
  [[nodiscard]] bool loses_with(const double* entries, const double* pivot, cudaStream_t s) const {
    const ScratchArray<double> most(1, s);
    check(cudaMemsetAsync(most.data(), 0, sizeof(double), s), "clearing a number");
    first.measure_loss(entries, nullptr, most.data(), s);
    second.measure_loss(entries, pivot, most.data(), s);
    return loses_too_much(fetch(most.data(), s));
  }
  /// Adds what programs of the task engine have done, `before` before their names. The device is idle.
  void add_runs(const std::string& before, std::vector<EngineRun>& runs) const {
    for (const ChosenSweep* sweep : {&first, &second}) {
      const kernels::RunsProgram* const program = sweep->can().runs_program;
      if (program == nullptr) continue;
      for (kernels::RunsProgram::ProgramRun& run : program->program_runs())
        runs.push_back({before + run.what, std::move(run.report)});
    }
  }
  [[nodiscard]] std::int64_t bytes() const { return first.sweep ? first->bytes() + second->bytes() : 0; }
};

}  // namespace taskdag::cuda
