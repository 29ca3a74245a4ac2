#include <algorithm>
#include <array>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/analysis/warp_tasks.hpp"
#include "kernels/sptrsv/schedules/ata/ata.hpp"
#include "kernels/sptrsv/schedules/ata/bodies.cuh"
#include "kernels/sptrsv/schedules/ata/coarse_kernel.cuh"
#include "kernels/sptrsv/schedules/ata/scheme.hpp"
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

/// The sweep's DAG in host memory. `edges` is what rows stream through: their operands (pull) or successors (push).
struct HostDag {
  FineDag dag;
  FineDag successors;  // push only
  AtaFlow flow = AtaFlow::pull;
  [[nodiscard]] const FineDag& edges() const { return flow == AtaFlow::pull ? dag : successors; }
};

HostDag fetch_dag(const SweepInput& input, AtaFlow flow, cudaStream_t stream) {
  HostDag result{fetch_fine_dag(input.pattern, input.triangle, *input.levels, stream), {}, flow};
  if (flow == AtaFlow::push) result.successors = make_successors(result.dag);
  return result;
}

/// log2 of the lanes of each row: the fewest with which no lane has more than kEntriesPerLane entries, or a whole warp.
std::vector<std::uint8_t> lanes_of_rows(const FineDag& edges, bool rows_share_warps) {
  constexpr std::uint8_t kWholeWarp = 5;
  std::vector<std::uint8_t> lanes(at(edges.rows()), kWholeWarp);
  if (!rows_share_warps) return lanes;
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const Offset count = edges.offsets[i + 1] - edges.offsets[i];
    lanes[i] = 0;
    while (lanes[i] < kWholeWarp && (kEntriesPerLane << lanes[i]) < count) ++lanes[i];
  }
  return lanes;
}

double rows_per_warp(const std::vector<std::uint8_t>& lanes) {
  if (lanes.empty()) return 1.0;
  double sum = 0.0;
  for (const std::uint8_t log2_lanes : lanes) sum += static_cast<double>(1 << log2_lanes);
  return 32.0 * static_cast<double>(lanes.size()) / sum;
}

class GroupedSweep final : public AtaSweep {
 public:
  GroupedSweep(const HostDag& host, const SweepInput& input, const Scheme& scheme, const SchemeTimes& times,
               cudaStream_t stream);

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (rows_ == 0) return;
    if (!launcher_->may_be_captured() && cuda::is_capturing(stream)) {
      throw Unsupported("this schedule runs as a CUDA graph of its own, which cannot be captured into another");
    }
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
    return tasks_.bytes() + rhs_index_.bytes() + x_index_.bytes() + first_.bytes() + column_.bytes() + source_.bytes() +
           value_.bytes() + pivot_.bytes() + slot_.bytes() + pending_.bytes() + pending_at_start_.bytes() +
           call_.bytes() + result_[0].bytes() + result_[1].bytes();
  }

  [[nodiscard]] const KernelSet& kernels() const { return kernels_; }

 private:
  GroupedSweep(const HostDag& host, const SweepInput& input, const Scheme& scheme, const SchemeTimes& times,
               const HierarchicalDag& hierarchy, const std::vector<std::uint8_t>& lanes, cudaStream_t stream);
  GroupedSweep(const HostDag& host, const SweepInput& input, const Scheme& scheme, const SchemeTimes& times,
               const std::vector<std::uint8_t>& lanes, cudaStream_t stream)
      : GroupedSweep(host, input, scheme, times, aggregate(host.dag, scheme.aggregation, scheme.granularity, lanes),
                     lanes, stream) {}
  void store_entries(const HostDag& host, const SweepInput& input, const HierarchicalDag& hierarchy,
                     cudaStream_t stream);
  void store_pending(const HostDag& host, const HierarchicalDag& hierarchy, cudaStream_t stream);
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
  cuda::DeviceArray<Index> rhs_index_;  // per position; empty: tasks_.order
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<Offset> first_;
  cuda::DeviceArray<Index> column_;
  cuda::DeviceArray<Offset> source_;
  cuda::DeviceArray<double> value_;
  cuda::DeviceArray<double> pivot_;
  cuda::DeviceArray<double> slot_;  // pull: y, one more that is 0; push: sums
  cuda::DeviceArray<int> pending_;
  cuda::DeviceArray<int> pending_at_start_;
  cuda::DeviceArray<SolveCall> call_;
  std::array<cuda::DeviceArray<double>, 2> result_;  // of solves without x; made by the first of each
};

GroupedSweep::GroupedSweep(const HostDag& host, const SweepInput& input, const Scheme& scheme, const SchemeTimes& times,
                           cudaStream_t stream)
    : GroupedSweep(host, input, scheme, times, lanes_of_rows(host.edges(), scheme.rows_share_warps), stream) {}

GroupedSweep::GroupedSweep(const HostDag& host, const SweepInput& input, const Scheme& scheme, const SchemeTimes& times,
                           const HierarchicalDag& hierarchy, const std::vector<std::uint8_t>& lanes,
                           cudaStream_t stream)
    : report_(report_of(host.dag, hierarchy, times)),
      rows_(host.dag.rows()),
      flow_(host.flow),
      tasks_(hierarchy, make_row_tasks(host.dag, hierarchy, lanes), stream) {
  if (rows_ == 0) return;
  const std::size_t n = at(rows_);
  const auto permuted = [&](const Index* index) {
    cuda::DeviceArray<Index> result;
    if (index) {
      result = {n, stream};
      gather(rows_, index, tasks_.order.data(), result.data(), stream);
    }
    return result;
  };
  rhs_index_ = permuted(input.rhs_index);
  x_index_ = permuted(input.x_index);
  pivot_ = {n, stream};
  call_ = {1, stream};
  slot_ = {n + 1, stream};
  cuda::check(cudaMemsetAsync(slot_.data(), 0, slot_.size() * sizeof(double), stream), "clearing slots");
  store_entries(host, input, hierarchy, stream);
  const SolveRows rows{
      tasks_.task.data(), tasks_.order.data(), input.rhs_index ? rhs_index_.data() : tasks_.order.data(),
      first_.data(),      column_.data(),      value_.data(),
      call_.data()};
  if (flow_ == AtaFlow::pull) {
    kernels_ = kernels_of(PullBody{rows, slot_.data(), rows_});
  } else {
    store_pending(host, hierarchy, stream);
    kernels_ = kernels_of(PushBody{rows, slot_.data(), pending_.data()});
  }
  launcher_ = make_launcher(scheme.mode, kernels_, hierarchy, tasks_);
  cuda::synchronize(stream);  // the input's arrays may go
}

/// Entries in SET order, so that neighbouring warps read neighbouring memory.
void GroupedSweep::store_entries(const HostDag& host, const SweepInput& input, const HierarchicalDag& hierarchy,
                                 cudaStream_t stream) {
  const FineDag& edges = host.edges();
  std::vector<Offset> first{0};
  std::vector<Index> column;
  std::vector<Offset> source;
  first.reserve(at(rows_) + 1);
  column.reserve(edges.columns.size());
  source.reserve(edges.entry.size());
  for (const Index row : hierarchy.order) {
    const Index task = hierarchy.task_of_row[at(row)];
    for (Offset e = edges.offsets[at(row)]; e < edges.offsets[at(row) + 1]; ++e) {
      const Index other = edges.columns[at(e)];
      const bool counted = flow_ == AtaFlow::push && hierarchy.task_of_row[at(other)] == task;
      column.push_back(counted ? ~other : other);
      source.push_back(edges.entry[at(e)]);
    }
    first.push_back(static_cast<Offset>(column.size()));
  }
  first_ = cuda::upload(first, stream);
  if (column.empty()) return;
  column_ = cuda::upload(column, stream);
  value_ = {column.size(), stream};
  cuda::check(cudaMemsetAsync(value_.data(), 0, value_.size() * sizeof(double), stream), "clearing values");
  source_ = cuda::upload(source, stream);
  if (input.source_entry) {
    const cuda::DeviceArray<Offset> entry = std::exchange(source_, {column.size(), stream});
    gather(static_cast<Index>(column.size()), input.source_entry, entry.data(), source_.data(), stream);
  }
}

/// Operands of each row that belong to its own adaptive task.
void GroupedSweep::store_pending(const HostDag& host, const HierarchicalDag& hierarchy, cudaStream_t stream) {
  std::vector<int> count(at(rows_), 0);
  for (Index i = 0; i < rows_; ++i) {
    for (Offset e = host.dag.offsets[at(i)]; e < host.dag.offsets[at(i) + 1]; ++e) {
      if (hierarchy.task_of_row[at(host.dag.columns[at(e)])] == hierarchy.task_of_row[at(i)]) ++count[at(i)];
    }
  }
  pending_at_start_ = cuda::upload(count, stream);
  pending_ = {count.size(), stream};
}

void GroupedSweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  gather(static_cast<Index>(value_.size()), source, source_.data(), value_.data(), stream);
  has_pivot_ = pivot != nullptr;
  if (has_pivot_) gather(rows_, pivot, tasks_.order.data(), pivot_.data(), stream);
}

void GroupedSweep::prepare(const double* rhs, double* x, int* non_finite, bool reset, cudaStream_t stream) {
  const Index* x_index = x_index_.size() ? x_index_.data() : tasks_.order.data();
  if (!x) {
    newest_ = 1 - newest_;
    if (result_[newest_].size() == 0) result_[newest_] = {at(rows_), stream};
    x = result_[newest_].data();
    x_index = tasks_.order.data();
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
SchemeTimes measure(const HostDag& host, const SweepInput& input, Scheme& scheme, double ratio, cudaStream_t stream) {
  const Index rows = host.dag.rows();
  GroupedSweep profiled(host, input, {Aggregation::greedy, scheme.mode, rows, scheme.rows_share_warps}, {}, stream);
  const cuda::ScratchArray<double> rhs(at(rows), stream);
  const cuda::ScratchArray<double> x(at(rows), stream);
  const cuda::ScratchArray<int> flag(1, stream);
  cuda::check(cudaMemsetAsync(rhs.data(), 0, rhs.size() * sizeof(double), stream), "clearing a vector");
  const double per_warp = rows_per_warp(lanes_of_rows(host.edges(), scheme.rows_share_warps));
  const auto unmanaged = [&] { profiled.solve_unmanaged(rhs.data(), x.data(), flag.data(), stream); };
  return set_granularity(scheme, ratio, profiled.kernels().tracked, per_warp, rows, unmanaged, stream);
}

std::unique_ptr<AtaSweep> make(SolveSchedule schedule, const SweepInput& input, const AtaOptions& options,
                               cudaStream_t stream) {
  Scheme scheme = scheme_of(schedule, options);
  const HostDag host = fetch_dag(input, options.flow, stream);
  SchemeTimes times;
  if (scheme.granularity == 0 && host.dag.rows() > 0)
    times = measure(host, input, scheme, options.launch_ratio, stream);
  return std::make_unique<GroupedSweep>(host, input, scheme, times, stream);
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
