/// \file
/// The factorisations of ATA and its baselines: storage, scheme, launches; what is eliminated is the Elimination's
/// (body.cuh).
#pragma once

#include <memory>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "papers/helal/aggregation.hpp"
#include "papers/helal/coarse_kernel.cuh"
#include "papers/helal/factor/ata.hpp"
#include "papers/helal/factor/body.cuh"
#include "papers/helal/scheme.hpp"

namespace taskdag::kernels::ata {

/// What an attempt writes before its kernels run.
struct FactorPreparation {
  FactorCall* call;
  Offset entries;  // slots that are made not_yet; 0 where nothing is tracked
  Index rows;      // 0 where nothing is tracked
  Index tickets;
  int* ticket;
};
/// Asynchronous.
void prepare_factor(const FactorPreparation& preparation, const FactorCall& call, cudaStream_t stream);

/// Vectors that wait for the vectors of their strictly lower entries, a warp each.
struct LowerDag {
  TriangleRanges ranges;
  RowLevels levels;
  FineDag dag;
  RowLanes lanes;
};
/// Valid as long as the pattern. Synchronises.
LowerDag make_lower_dag(const DevicePattern& pattern, cudaStream_t stream);

/// Most entries of a vector. @pre there is one. Synchronises.
Index longest_vector(const DevicePattern& vectors, cudaStream_t stream);

/// Problem: owns or knows the arrays behind an Elimination: vectors(), their pattern; source(), their entry → entry of
/// the factor's pattern, null where they are the same; elimination(), dependencies(), bytes(). kScatters: they are not
/// the same, and scatter(entries, factor, stream) brings entries to where the factor has them.
template <class Problem>
class GroupedFactor final : public AtaFactorization {
 public:
  using Elimination = typename Problem::Elimination;
  using Body = FactorBody<Elimination>;

  /// `problem` lives at least as long as this.
  GroupedFactor(std::shared_ptr<const Problem> problem, const LowerDag& lower, const Scheme& scheme,
                const SchemeTimes& times, cudaStream_t stream)
      : GroupedFactor(std::move(problem), lower.dag, scheme.mode,
                      aggregate(lower.dag, scheme.aggregation, scheme.granularity, lower.lanes.log2.data(), stream),
                      times, stream) {}

  void factor(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
              cudaStream_t stream) override {
    if (rows() == 0) return;
    const bool tracked = tasks_.ticket.size() > 0;
    prepare_factor({call_.data(), tracked ? vectors().entries : 0, tracked ? rows() : 0,
                    static_cast<Index>(tasks_.ticket.size()), tasks_.ticket.data()},
                   call(input, rule, target, target.report), stream);
    launcher_->run(stream);
    if constexpr (Problem::kScatters) problem_->scatter(entries_.data(), target.entries, stream);
  }
  void factor_unmanaged(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                        cudaStream_t stream) override {
    if (rows() == 0) return;
    prepare_factor({call_.data(), 0, 0, 0, nullptr}, call(input, rule, target, nullptr), stream);
    run_unmanaged(kernels_, tasks_, stream);
  }
  [[nodiscard]] const AtaReport& report() const override { return report_; }
  [[nodiscard]] std::int64_t bytes() const override {
    return problem_->bytes() + tasks_.bytes() + entries_.bytes() + work_.bytes() + call_.bytes();
  }
  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }

 private:
  GroupedFactor(std::shared_ptr<const Problem> problem, const FineDag& dag, RunMode mode, HierarchicalDag hierarchy,
                const SchemeTimes& times, cudaStream_t stream)
      : problem_(std::move(problem)),
        report_(report_of(dag, hierarchy, times)),
        tasks_(hierarchy.coarse, std::move(hierarchy.rows), stream) {
    if (rows() == 0) return;
    const auto size = static_cast<std::size_t>(vectors().entries);
    call_ = {1, stream};
    if constexpr (Problem::kScatters) entries_ = {size, stream};
    if (longest_vector(vectors(), stream) > kStagedEntries) work_ = {size, stream};
    kernels_ = kernels_of(Body{problem_->elimination(), tasks_.rows.task.data(), tasks_.rows.order.data(), call_.data(),
                               problem_->source(), work_.data()});
    launcher_ = make_launcher(mode, kernels_, hierarchy.coarse, tasks_);
  }

  [[nodiscard]] DevicePattern vectors() const { return problem_->vectors(); }
  [[nodiscard]] Index rows() const { return vectors().rows; }
  [[nodiscard]] FactorCall call(const FactorInput& input, const PivotRule& rule, const FactorTarget& target,
                                FactorReport* report) {
    double* const entries = Problem::kScatters ? entries_.data() : target.entries;
    return {input, rule, entries, target.inverse_pivots, target.unit, report};
  }

  std::unique_ptr<CoarseLauncher> launcher_;  // destroyed after the arrays, which wait for the device when they go
  std::shared_ptr<const Problem> problem_;
  KernelSet kernels_;
  AtaReport report_;
  DeviceTasks tasks_;
  cuda::DeviceArray<double> entries_;  // in the vectors' order, where that is not the factor's
  cuda::DeviceArray<double> work_;
  cuda::DeviceArray<FactorCall> call_;
};

/// The factorisation of a problem.
template <class Problem>
std::unique_ptr<AtaFactorization> make_factor(std::shared_ptr<const Problem> problem, SolveSchedule schedule,
                                              const AtaOptions& options, cudaStream_t stream) {
  Scheme scheme = scheme_of(schedule, options);
  const LowerDag lower = make_lower_dag(problem->dependencies(), stream);
  const Index rows = lower.dag.rows;
  SchemeTimes times;
  if (scheme.granularity == 0 && rows > 0) {
    GroupedFactor<Problem> profiled(problem, lower, {Aggregation::greedy, scheme.mode, rows}, {}, stream);
    const cuda::ScratchArray<double> values(static_cast<std::size_t>(problem->vectors().entries), stream);
    const cuda::ScratchArray<double> entries(values.size(), stream);
    const cuda::ScratchArray<double> inverse_pivots(static_cast<std::size_t>(rows), stream);
    // Each byte 3F: a small positive number; with zeros, multipliers would skip the work that is to be timed.
    cuda::check(cudaMemsetAsync(values.data(), 0x3F, values.size() * sizeof(double), stream), "filling values");
    cuda::check(cudaMemsetAsync(entries.data(), 0, entries.size() * sizeof(double), stream), "clearing a factor");
    cuda::check(cudaMemsetAsync(inverse_pivots.data(), 0, inverse_pivots.size() * sizeof(double), stream),
                "clearing a factor");
    const FactorTarget target{entries.data(), inverse_pivots.data(), nullptr, nullptr};
    times = set_granularity(
        scheme, options, profiled.kernels().tracked, lower.lanes.rows_per_warp, rows, lower.dag.levels(),
        [&] {
          profiled.factor_unmanaged({values.data(), nullptr, {}}, {}, target, stream);
        },
        stream);
  }
  return std::make_unique<GroupedFactor<Problem>>(std::move(problem), lower, scheme, times, stream);
}

}  // namespace taskdag::kernels::ata
