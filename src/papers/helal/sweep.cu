/// \file
/// Sweeps by adaptive tasks, by levels and by self-scheduling.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/analysis/warp_tasks.hpp"
#include "papers/helal/aggregation.hpp"
#include "papers/helal/ata.hpp"
#include "papers/helal/bodies.cuh"
#include "papers/helal/coarse_kernel.cuh"
#include "papers/helal/scheme.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using ata::PullBody;
using ata::PushBody;
using ata::SolveCall;
using ata::SolveRows;

/// Writes what a solve reads besides the matrix: the call, slots or sums, pending operands, tickets.
struct Preparation {
  SolveCall* call;
  Index rows;  // of slot and pending
  double* slot;
  int* pending;  // push: slots are sums, which start at 0; null: pull, slots start as not_yet
  const int* pending_at_start;
  Index tickets;
  int* ticket;
};

__global__ void prepare_kernel(const Preparation p, const SolveCall call) {
  const auto i = static_cast<Index>(cuda::element());
  if (i == 0) *p.call = call;
  if (i < p.rows) {
    p.slot[i] = p.pending ? 0.0 : not_yet();
    if (p.pending) p.pending[i] = p.pending_at_start[i];
  }
  if (i < p.tickets) p.ticket[i] = 0;
}

/// The sweep's DAG. `edges` is what rows stream through: their operands (pull) or successors (push).
struct SweepDag {
  FineDag dag;
  std::optional<Successors> successors;  // push
  [[nodiscard]] EdgeList edges() const { return successors ? edges_of(*successors) : operands(dag); }
};

SweepDag dag_of(const SweepInput& input, AtaFlow flow, cudaStream_t stream) {
  SweepDag result{make_fine_dag(input.pattern, input.triangle, *input.ranges, *input.levels, stream), {}};
  if (flow == AtaFlow::push) result.successors.emplace(make_successors(result.dag, stream));
  return result;
}

class GroupedSweep final : public AtaSweep {
 public:
  GroupedSweep(const SweepDag& dag, const SweepInput& input, const Scheme& scheme, const RowLanes& lanes,
               const SchemeTimes& times, cudaStream_t stream)
      : GroupedSweep(dag, input, scheme.mode,
                     aggregate(dag.dag, scheme.aggregation, scheme.granularity, lanes.log2.data(), stream), times,
                     stream) {}

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (rows_ == 0) return;
    prepare(rhs, x, non_finite, true, stream);
    launcher_->run(stream);
  }
  void solve_unmanaged(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (rows_ == 0) return;
    prepare(rhs, x, non_finite, false, stream);
    run_unmanaged(kernels_, tasks_, stream);
  }
  [[nodiscard]] const double* result() const override { return result_[newest_].data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }
  [[nodiscard]] const AtaReport& report() const override { return report_; }
  [[nodiscard]] std::int64_t bytes() const override {
    return tasks_.bytes() + rhs_index_.bytes() + x_index_.bytes() + edges_.bytes() + value_.bytes() + pivot_.bytes() +
           slot_.bytes() + pending_.bytes() + pending_at_start_.bytes() + call_.bytes() + result_[0].bytes() +
           result_[1].bytes();
  }

  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }

 private:
  GroupedSweep(const SweepDag& dag, const SweepInput& input, RunMode mode, HierarchicalDag hierarchy,
               const SchemeTimes& times, cudaStream_t stream);
  void prepare(const double* rhs, double* x, int* non_finite, bool reset, cudaStream_t stream);

  // Destroyed last: the arrays below wait for the device when they go, and then no graph runs any more.
  std::unique_ptr<CoarseLauncher> launcher_;
  KernelSet kernels_;
  AtaReport report_;
  Index rows_ = 0;
  AtaFlow flow_ = AtaFlow::pull;
  bool has_pivot_ = false;
  int newest_ = 0;
  DeviceTasks tasks_;
  cuda::DeviceArray<Index> rhs_index_;  // per position; empty: the rows' order
  cuda::DeviceArray<Index> x_index_;
  OrderedEdges edges_;  // in SET order, so that neighbouring warps read neighbouring memory; push: those counted marked
  cuda::DeviceArray<double> value_;
  cuda::DeviceArray<double> pivot_;
  cuda::DeviceArray<double> slot_;  // pull: y, one more that is 0; push: sums
  cuda::DeviceArray<int> pending_;
  cuda::DeviceArray<int> pending_at_start_;
  cuda::DeviceArray<SolveCall> call_;
  std::array<cuda::DeviceArray<double>, 2> result_;  // of solves without x; made by the first of each
};

GroupedSweep::GroupedSweep(const SweepDag& dag, const SweepInput& input, RunMode mode, HierarchicalDag hierarchy,
                           const SchemeTimes& times, cudaStream_t stream)
    : report_(report_of(dag.dag, hierarchy, times)),
      rows_(dag.dag.rows),
      flow_(dag.successors ? AtaFlow::push : AtaFlow::pull),
      tasks_(hierarchy.coarse, std::move(hierarchy.rows), stream) {
  if (rows_ == 0) return;
  const std::size_t n = at(rows_);
  const Index* const order = tasks_.rows.order.data();
  const auto permuted = [&](const Index* index) {
    cuda::DeviceArray<Index> result;
    if (index) {
      result = {n, stream};
      gather(rows_, index, order, result.data(), stream);
    }
    return result;
  };
  rhs_index_ = permuted(input.rhs_index);
  x_index_ = permuted(input.x_index);
  pivot_ = {n, stream};
  call_ = {1, stream};
  slot_ = {n + 1, stream};
  cuda::check(cudaMemsetAsync(slot_.data(), 0, slot_.size() * sizeof(double), stream), "clearing slots");
  const bool push = flow_ == AtaFlow::push;
  edges_ =
      order_edges(rows_, dag.edges(), order, push ? hierarchy.task_of_row.data() : nullptr, input.source_entry, stream);
  value_ = {edges_.column.size(), stream};
  if (value_.size() > 0) {
    cuda::check(cudaMemsetAsync(value_.data(), 0, value_.size() * sizeof(double), stream), "clearing values");
  }
  const SolveRows rows{tasks_.rows.task.data(),
                       order,
                       input.rhs_index ? rhs_index_.data() : order,
                       edges_.first.data(),
                       edges_.column.data(),
                       value_.data(),
                       call_.data()};
  if (push) {
    pending_at_start_ = cuda::copy_of(hierarchy.inside.data(), n, stream);
    pending_ = {n, stream};
    kernels_ = kernels_of(PushBody{rows, slot_.data(), pending_.data()});
  } else {
    kernels_ = kernels_of(PullBody{rows, slot_.data(), rows_});
  }
  launcher_ = make_launcher(mode, kernels_, hierarchy.coarse, tasks_);
  cuda::synchronize(stream);  // the input's arrays may go
}

void GroupedSweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  gather(static_cast<Index>(value_.size()), source, edges_.source.data(), value_.data(), stream);
  has_pivot_ = pivot != nullptr;
  if (has_pivot_) gather(rows_, pivot, tasks_.rows.order.data(), pivot_.data(), stream);
}

void GroupedSweep::prepare(const double* rhs, double* x, int* non_finite, bool reset, cudaStream_t stream) {
  const Index* x_index = x_index_.size() ? x_index_.data() : tasks_.rows.order.data();
  if (!x) {
    newest_ = 1 - newest_;
    if (result_[newest_].size() == 0) result_[newest_] = {at(rows_), stream};
    x = result_[newest_].data();
    x_index = tasks_.rows.order.data();
  }
  // Without tracking, slots are written before they are read; sums start at 0 always.
  const bool slots = reset && (flow_ == AtaFlow::push || tasks_.ticket.size() > 0);
  const Preparation preparation{
      call_.data(),        slots ? rows_ : 0,        slot_.data(),
      pending_.data(),     pending_at_start_.data(), reset ? static_cast<Index>(tasks_.ticket.size()) : 0,
      tasks_.ticket.data()};
  const Index elements = std::max({preparation.rows, preparation.tickets, Index{1}});
  prepare_kernel<<<cuda::element_blocks(elements), cuda::kElementBlock, 0, stream>>>(
      preparation, SolveCall{rhs, x, x_index, has_pivot_ ? pivot_.data() : nullptr, non_finite});
  cuda::check_launch("prepare_kernel");
}

/// Measures the granularity with all rows as one task in level order, which is not what the sweep will run.
SchemeTimes measure(const SweepDag& dag, const SweepInput& input, Scheme& scheme, const RowLanes& lanes,
                    const AtaOptions& options, cudaStream_t stream) {
  const Index rows = dag.dag.rows;
  GroupedSweep profiled(dag, input, {Aggregation::greedy, scheme.mode, rows}, lanes, {}, stream);
  const cuda::ScratchArray<double> rhs(at(rows), stream);
  const cuda::ScratchArray<double> x(at(rows), stream);
  const cuda::ScratchArray<int> flag(1, stream);
  cuda::check(cudaMemsetAsync(rhs.data(), 0, rhs.size() * sizeof(double), stream), "clearing a vector");
  const auto unmanaged = [&] { profiled.solve_unmanaged(rhs.data(), x.data(), flag.data(), stream); };
  return set_granularity(scheme, options, profiled.kernels().tracked, lanes.rows_per_warp, rows, dag.dag.levels(),
                         unmanaged, stream);
}

std::unique_ptr<AtaSweep> make(SolveSchedule schedule, const SweepInput& input, const AtaOptions& options,
                               cudaStream_t stream) {
  Scheme scheme = scheme_of(schedule, options);
  const SweepDag dag = dag_of(input, options.flow, stream);
  const RowLanes lanes =
      lanes_of_rows(dag.dag.rows, dag.edges().count, scheme.rows_share_warps ? kEntriesPerLane : 0, stream);
  SchemeTimes times;
  if (scheme.granularity == 0 && dag.dag.rows > 0) times = measure(dag, input, scheme, lanes, options, stream);
  return std::make_unique<GroupedSweep>(dag, input, scheme, lanes, times, stream);
}

bool is_level_schedule(SolveSchedule schedule) {
  return schedule == SolveSchedule::level_launch || schedule == SolveSchedule::level_graph ||
         schedule == SolveSchedule::level_barrier;
}

}  // namespace

std::unique_ptr<AtaSweep> make_level_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream,
                                           AtaFlow flow, bool rows_share_warps) {
  if (!is_level_schedule(schedule)) throw InvalidInput("a level sweep is made from one of the three level schedules");
  return make(schedule, input, {.flow = flow, .rows_share_warps = rows_share_warps}, stream);
}

std::unique_ptr<AtaSweep> make_self_scheduled_sweep(const SweepInput& input, cudaStream_t stream, AtaFlow flow) {
  return make(SolveSchedule::self_scheduled, input, {.flow = flow}, stream);
}

std::unique_ptr<AtaSweep> make_ata_sweep(SolveSchedule policy, const SweepInput& input, const AtaOptions& options,
                                         cudaStream_t stream) {
  if (is_level_schedule(policy) || policy == SolveSchedule::self_scheduled) {
    throw InvalidInput("an ATA sweep is made from one of the three aggregation policies");
  }
  return make(policy, input, options, stream);
}

}  // namespace taskdag::kernels
