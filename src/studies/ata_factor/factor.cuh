/// \file
/// The factorisations of ATA and its baselines: storage, scheme, launches; what is eliminated is the Elimination's
/// (body.cuh).
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "csr/device_csr.hpp"
#include "kernels/sptrsv/schedules/ata/coarse_kernel.cuh"
#include "kernels/sptrsv/schedules/ata/scheme.hpp"
#include "studies/ata_factor/body.cuh"
#include "studies/ata_factor/ilu.hpp"

namespace taskdag::kernels::ata {

/// What a factorisation writes before its kernels run.
struct FactorPreparation {
  FactorCall* call;
  Offset entries;  // of entry and inverse; 0 where nothing is tracked
  double* entry;
  Index rows;
  double* inverse;
  Index tickets;
  int* ticket;
};
/// Asynchronous.
void prepare_factor(const FactorPreparation& preparation, const FactorCall& call, cudaStream_t stream);

/// The DAG of vectors that wait for the vectors of their strictly lower entries. Synchronises.
FineDag fetch_lower_dag(const DevicePattern& pattern, cudaStream_t stream);

/// Positions of the diagonal entries. @throws InvalidInput naming the first row without one
cuda::DeviceArray<Offset> diagonals_of(const DevicePattern& pattern, cudaStream_t stream);

/// Problem: owns the arrays behind an Elimination: vectors() the stored vectors (source: entry → entry of the values),
/// elimination(), bytes(), copy_factor(entry, inverse, factor, stream).
template <class Problem>
class GroupedFactor final : public AtaFactorization {
 public:
  using Elimination = typename Problem::Elimination;
  using Body = FactorBody<Elimination>;

  /// `problem` lives at least as long as this.
  GroupedFactor(std::shared_ptr<const Problem> problem, const FineDag& dag, const Scheme& scheme,
                const SchemeTimes& times, cudaStream_t stream)
      : GroupedFactor(std::move(problem), dag, scheme, times, std::vector<std::uint8_t>(dag.level.size(), kWholeWarp),
                      stream) {}

  void factor(const double* values, cudaStream_t stream) override {
    if (rows() == 0) return;
    prepare(values, true, stream);
    launcher_->run(stream);
  }
  void factor_unmanaged(const double* values, cudaStream_t stream) override {
    if (rows() == 0) return;
    prepare(values, false, stream);
    run_unmanaged(kernels_, tasks_, stream);
  }
  void copy_factor(double* factor, cudaStream_t stream) const override {
    if (rows() > 0) problem_->copy_factor(entry_.data(), inverse_.data(), factor, stream);
  }
  [[nodiscard]] Offset entries() const override { return problem_->vectors().entries; }
  [[nodiscard]] const AtaReport& report() const override { return report_; }
  [[nodiscard]] std::int64_t bytes() const override {
    return problem_->bytes() + tasks_.bytes() + entry_.bytes() + inverse_.bytes() + work_.bytes() + call_.bytes();
  }
  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }

 private:
  static constexpr std::uint8_t kWholeWarp = 5;  // log2 of the lanes of a vector

  GroupedFactor(std::shared_ptr<const Problem> problem, const FineDag& dag, const Scheme& scheme,
                const SchemeTimes& times, const std::vector<std::uint8_t>& lanes, cudaStream_t stream)
      : GroupedFactor(std::move(problem), dag, scheme, times, lanes,
                      aggregate(dag, scheme.aggregation, scheme.granularity, lanes), stream) {}
  GroupedFactor(std::shared_ptr<const Problem> problem, const FineDag& dag, const Scheme& scheme,
                const SchemeTimes& times, const std::vector<std::uint8_t>& lanes, const HierarchicalDag& hierarchy,
                cudaStream_t stream)
      : problem_(std::move(problem)),
        report_(report_of(dag, hierarchy, times)),
        tasks_(hierarchy, make_row_tasks(dag, hierarchy, lanes), stream) {
    if (rows() == 0) return;
    const auto size = static_cast<std::size_t>(entries());
    entry_ = {size, stream};
    inverse_ = {static_cast<std::size_t>(rows()), stream};
    call_ = {1, stream};
    cuda::check(cudaMemsetAsync(entry_.data(), 0, size * sizeof(double), stream), "clearing a factor");
    cuda::check(cudaMemsetAsync(inverse_.data(), 0, inverse_.size() * sizeof(double), stream), "clearing a factor");
    const auto offsets = cuda::fetch_array(problem_->vectors().row_offsets.data(), inverse_.size() + 1, stream);
    Offset longest = 0;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
    if (longest > kStagedEntries) work_ = {size, stream};
    kernels_ = kernels_of(Body{problem_->elimination(), tasks_.task.data(), tasks_.order.data(), call_.data(),
                               problem_->vectors().source.data(), entry_.data(), inverse_.data(), work_.data()});
    launcher_ = make_launcher(scheme.mode, kernels_, hierarchy, tasks_);
  }

  [[nodiscard]] Index rows() const { return problem_->vectors().rows; }
  void prepare(const double* values, bool reset, cudaStream_t stream) {
    const bool tracked = reset && tasks_.ticket.size() > 0;
    prepare_factor({call_.data(), tracked ? entries() : 0, entry_.data(), tracked ? rows() : 0, inverse_.data(),
                    tracked ? static_cast<Index>(tasks_.ticket.size()) : 0, tasks_.ticket.data()},
                   {values}, stream);
  }

  std::unique_ptr<CoarseLauncher> launcher_;  // destroyed after the arrays, which wait for the device when they go
  std::shared_ptr<const Problem> problem_;
  KernelSet kernels_;
  AtaReport report_;
  DeviceTasks tasks_;
  cuda::DeviceArray<double> entry_;
  cuda::DeviceArray<double> inverse_;
  cuda::DeviceArray<double> work_;
  cuda::DeviceArray<FactorCall> call_;
};

/// The factorisation of a problem whose vectors wait as the strictly lower entries of `dependencies` say. `values`: how
/// many a factorisation takes.
template <class Problem>
std::unique_ptr<AtaFactorization> make_factor(std::shared_ptr<const Problem> problem, const DevicePattern& dependencies,
                                              SolveSchedule schedule, const AtaOptions& options, Offset values,
                                              cudaStream_t stream) {
  Scheme scheme = scheme_of(schedule, options);
  const FineDag dag = fetch_lower_dag(dependencies, stream);
  SchemeTimes times;
  if (scheme.granularity == 0 && dag.rows() > 0) {
    GroupedFactor<Problem> profiled(problem, dag, {Aggregation::greedy, scheme.mode, dag.rows(), false}, {}, stream);
    const cuda::ScratchArray<double> some(static_cast<std::size_t>(values), stream);
    // Each byte 3F: a small positive number; with zeros, multipliers would skip the work that is to be timed.
    cuda::check(cudaMemsetAsync(some.data(), 0x3F, some.size() * sizeof(double), stream), "filling values");
    constexpr double kRowsPerWarp = 1.0;
    times = set_granularity(
        scheme, options.launch_ratio, profiled.kernels().tracked, kRowsPerWarp, dag.rows(),
        [&] { profiled.factor_unmanaged(some.data(), stream); }, stream);
  }
  return std::make_unique<GroupedFactor<Problem>>(std::move(problem), dag, scheme, times, stream);
}

}  // namespace taskdag::kernels::ata
