/// \file
/// The "engine" schedule: sweeps as static programs of the task engine.
#pragma once

#include <memory>
#include <optional>

#include "kernels/sptrsv/schedules/flat/flat.hpp"
#include "taskdag/context.hpp"

namespace taskdag::kernels {

/// Storage and tasks are those of flat. Two sweeps in a row are one program (solve_both): rows of the second one start
/// as soon as what they need of the first one is there.
class EngineSweep final : public FlatSweep, public FollowsSweep, public RunsProgram {
 public:
  /// As FlatSweep; input.run says how programs are run.
  EngineSweep(const SweepInput& input, cudaStream_t stream);
  ~EngineSweep() override;

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override;
  void follow(const Sweep& before, cudaStream_t stream) override;
  bool solve_both(const Sweep& before, const double* rhs, double* x, int* non_finite, cudaStream_t stream) override;
  [[nodiscard]] std::vector<ProgramRun> program_runs() const override;
  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }
  [[nodiscard]] std::int64_t bytes() const override;
  /// No products: those are solves of flat.
  Capabilities capabilities() override {
    return {.gathers_values = FlatSweep::capabilities().gathers_values, .follows_sweep = this, .runs_program = this};
  }

 private:
  struct Single;
  struct Pair;

  engine::StaticOptions options_;
  Triangle triangle_;
  Context context_;
  cuda::DeviceArray<double> result_;  ///< by row, of a solve whose result stays here
  std::unique_ptr<Single> single_;    ///< a solve of this sweep alone
  std::unique_ptr<Pair> pair_;        ///< where it follows another sweep of this kind
};

}  // namespace taskdag::kernels
