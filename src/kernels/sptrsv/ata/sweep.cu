#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "kernels/sptrsv/ata/ata.hpp"
#include "kernels/sptrsv/ata/bodies.cuh"
#include "kernels/sptrsv/ata/coarse_kernel.cuh"
#include "kernels/sptrsv/ata/granularity.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

using ata::PullBody;
using ata::PushBody;
using ata::SolveCall;
using ata::SolveRows;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

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

/// A schedule as the sweep sees it.
struct Plan {
  Aggregation aggregation = Aggregation::by_level;
  RunMode mode = RunMode::graph;
  Traversal traversal = Traversal::pull;
  Index granularity = 1;
  bool rows_share_warps = true;
};

/// The sweep's DAG in host memory. `edges` is what rows stream through: their operands (pull) or successors (push).
struct HostDag {
  FineDag dag;
  FineDag successors;  // push only
  Traversal traversal = Traversal::pull;
  [[nodiscard]] const FineDag& edges() const { return traversal == Traversal::pull ? dag : successors; }
};

HostDag fetch_dag(const SweepInput& input, Traversal traversal, cudaStream_t stream) {
  const DevicePattern& p = input.pattern;
  HostDag result;
  result.traversal = traversal;
  if (p.rows > 0) {
    const auto offsets = cuda::fetch_array(p.row_offsets, at(p.rows) + 1, stream);
    const auto columns = cuda::fetch_array(p.col_indices, at(p.entries), stream);
    const auto level = cuda::fetch_array(input.levels->level.data(), at(p.rows), stream);
    result.dag =
        make_fine_dag({p.rows, p.rows, offsets.data(), columns.data()}, input.triangle, level, input.levels->levels);
  }
  if (traversal == Traversal::push) result.successors = make_successors(result.dag);
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

template <class T>
cuda::DeviceArray<T> upload(const std::vector<T>& values, cudaStream_t stream) {
  cuda::DeviceArray<T> result(values.size(), stream);
  cuda::copy_to_device(result.data(), values.data(), values.size(), stream);
  cuda::synchronize(stream);  // the host vector may go
  return result;
}

class GroupedSweep final : public AtaSweep {
 public:
  GroupedSweep(const HostDag& host, const SweepInput& input, const Plan& plan, cudaStream_t stream);

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override;
  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if (rows_ == 0) return;
    prepare(rhs, x, non_finite, true, stream);
    runner_->run(stream);
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
  void set_times(double launch, double row) {
    report_.launch_microseconds = launch;
    report_.row_microseconds = row;
  }

 private:
  GroupedSweep(const HostDag& host, const SweepInput& input, const Plan& plan, const HierarchicalDag& hierarchy,
               const std::vector<std::uint8_t>& lanes, cudaStream_t stream);
  GroupedSweep(const HostDag& host, const SweepInput& input, const Plan& plan, const std::vector<std::uint8_t>& lanes,
               cudaStream_t stream)
      : GroupedSweep(host, input, plan, aggregate(host.dag, plan.aggregation, plan.granularity, lanes), lanes, stream) {
  }
  void store_entries(const HostDag& host, const SweepInput& input, const HierarchicalDag& hierarchy,
                     cudaStream_t stream);
  void store_pending(const HostDag& host, const HierarchicalDag& hierarchy, cudaStream_t stream);
  void fill_report(const HostDag& host, const HierarchicalDag& hierarchy);
  void prepare(const double* rhs, double* x, int* non_finite, bool reset, cudaStream_t stream);

  // Destroyed last: the arrays below wait for the device when they go, and then no graph runs any more.
  std::unique_ptr<CoarseRunner> runner_;
  KernelSet kernels_;
  AtaReport report_;
  Index rows_ = 0;
  Traversal traversal_ = Traversal::pull;
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

GroupedSweep::GroupedSweep(const HostDag& host, const SweepInput& input, const Plan& plan, cudaStream_t stream)
    : GroupedSweep(host, input, plan, lanes_of_rows(host.edges(), plan.rows_share_warps), stream) {}

GroupedSweep::GroupedSweep(const HostDag& host, const SweepInput& input, const Plan& plan,
                           const HierarchicalDag& hierarchy, const std::vector<std::uint8_t>& lanes,
                           cudaStream_t stream)
    : rows_(host.dag.rows()),
      traversal_(plan.traversal),
      tasks_(hierarchy, make_row_tasks(host.dag, hierarchy, lanes), stream) {
  fill_report(host, hierarchy);
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
  if (traversal_ == Traversal::pull) {
    kernels_ = kernels_of(PullBody{rows, slot_.data(), rows_});
  } else {
    store_pending(host, hierarchy, stream);
    kernels_ = kernels_of(PushBody{rows, slot_.data(), pending_.data()});
  }
  runner_ = make_runner(plan.mode, kernels_, hierarchy, tasks_);
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
      const bool counted = traversal_ == Traversal::push && hierarchy.task_of_row[at(other)] == task;
      column.push_back(counted ? ~other : other);
      source.push_back(edges.entry[at(e)]);
    }
    first.push_back(static_cast<Offset>(column.size()));
  }
  first_ = upload(first, stream);
  if (column.empty()) return;
  column_ = upload(column, stream);
  value_ = {column.size(), stream};
  cuda::check(cudaMemsetAsync(value_.data(), 0, value_.size() * sizeof(double), stream), "clearing values");
  source_ = upload(source, stream);
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
  pending_at_start_ = upload(count, stream);
  pending_ = {count.size(), stream};
}

void GroupedSweep::fill_report(const HostDag& host, const HierarchicalDag& hierarchy) {
  constexpr Index kWarpsThatFill = 4;  // of a multiprocessor: one for each of its schedulers
  report_.dag_class = classify(host.dag, kWarpsThatFill * cuda::device_limits().multiprocessors);
  report_.levels = host.dag.levels;
  report_.granularity = hierarchy.granularity;
  report_.adaptive_tasks = hierarchy.tasks();
  report_.untracked_tasks = static_cast<Index>(std::count(hierarchy.tracked.begin(), hierarchy.tracked.end(), 0));
  report_.edges = host.dag.edges();
  report_.coarse_edges = static_cast<std::int64_t>(hierarchy.predecessors.size());
  report_.fine_edges = hierarchy.fine_edges;
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
  const bool slots = reset && (traversal_ == Traversal::push || tasks_.ticket.size() > 0);
  const Preparation preparation{
      call_.data(),        slots ? rows_ : 0,        slot_.data(),
      pending_.data(),     pending_at_start_.data(), reset ? static_cast<Index>(tasks_.ticket.size()) : 0,
      tasks_.ticket.data()};
  const Index elements = std::max({preparation.rows, preparation.tickets, Index{1}});
  prepare_kernel<<<cuda::element_blocks(elements), cuda::kElementBlock, 0, stream>>>(
      preparation, SolveCall{rhs, x, x_index, has_pivot_ ? pivot_.data() : nullptr, non_finite});
  cuda::check_launch("prepare_kernel");
}

/// Mean time of a row in microseconds when all rows run side by side without dependencies: T_u.
double measure_row(GroupedSweep& sweep, Index rows, cudaStream_t stream) {
  const cuda::ScratchArray<double> rhs(at(rows), stream);
  const cuda::ScratchArray<double> values(at(rows), stream);
  const cuda::ScratchArray<int> flag(1, stream);
  cuda::check(cudaMemsetAsync(rhs.data(), 0, rhs.size() * sizeof(double), stream), "clearing a vector");
  const cuda::UniqueEvent begin;
  const cuda::UniqueEvent end;
  sweep.solve_unmanaged(rhs.data(), values.data(), flag.data(), stream);  // the first run loads the kernel
  double best = 0.0;
  for (int i = 0; i < 3; ++i) {
    begin.record(stream);
    sweep.solve_unmanaged(rhs.data(), values.data(), flag.data(), stream);
    end.record(stream);
    const double mean = 1e3 * end.milliseconds_since(begin) / rows;
    best = i == 0 ? mean : std::min(best, mean);
  }
  return best;
}

Aggregation aggregation_of(SolveSchedule policy) {
  switch (policy) {
    case SolveSchedule::ata_concurrency:
      return Aggregation::concurrency;
    case SolveSchedule::ata_locality:
      return Aggregation::locality;
    case SolveSchedule::ata_greedy:
      return Aggregation::greedy;
    default:
      throw InvalidInput("an ATA sweep is made from one of the three aggregation policies");
  }
}

RunMode level_mode(SolveSchedule schedule) {
  switch (schedule) {
    case SolveSchedule::level_launch:
      return RunMode::streams;  // a chain stays in one stream
    case SolveSchedule::level_graph:
      return RunMode::graph;
    case SolveSchedule::level_barrier:
      return RunMode::barrier;
    default:
      throw InvalidInput("a level sweep is made from one of the three level schedules");
  }
}

}  // namespace

std::unique_ptr<AtaSweep> make_level_sweep(SolveSchedule schedule, const SweepInput& input, cudaStream_t stream,
                                           Traversal traversal) {
  const RunMode mode = level_mode(schedule);
  return std::make_unique<GroupedSweep>(fetch_dag(input, traversal, stream), input,
                                        Plan{Aggregation::by_level, mode, traversal}, stream);
}

std::unique_ptr<AtaSweep> make_self_scheduled_sweep(const SweepInput& input, cudaStream_t stream, Traversal traversal) {
  constexpr bool kRowsShareWarps = false;  // neighbours in natural order wait for each other
  return std::make_unique<GroupedSweep>(fetch_dag(input, traversal, stream), input,
                                        Plan{Aggregation::sweep_order, RunMode::streams, traversal, 1, kRowsShareWarps},
                                        stream);
}

std::unique_ptr<AtaSweep> make_ata_sweep(SolveSchedule policy, const SweepInput& input, const AtaOptions& options,
                                         cudaStream_t stream) {
  Plan plan{aggregation_of(policy), options.coarse == CoarseMode::graph ? RunMode::graph : RunMode::streams,
            options.traversal, options.granularity, options.rows_share_warps};
  if (options.granularity < 0) throw InvalidInput("a granularity is a number of rows, not negative");
  const HostDag host = fetch_dag(input, options.traversal, stream);
  if (options.granularity > 0 || host.dag.rows() == 0) {
    plan.granularity = std::max(plan.granularity, 1);
    return std::make_unique<GroupedSweep>(host, input, plan, stream);
  }
  const Index rows = host.dag.rows();
  const double per_warp = rows_per_warp(lanes_of_rows(host.edges(), plan.rows_share_warps));
  double launch = 0.0;
  double row = 0.0;
  {
    // All rows as one task in level order: what is profiled, and the tracked kernel whose occupancy counts.
    Plan whole = plan;
    whole.aggregation = Aggregation::greedy;
    whole.granularity = rows;
    GroupedSweep profiled(host, input, whole, stream);
    const Index smallest = smallest_granularity(profiled.kernels().tracked, per_warp);
    plan.granularity = std::min(smallest, rows);
    if (plan.aggregation != Aggregation::greedy) {
      launch = launch_microseconds(plan.mode, stream);
      row = measure_row(profiled, rows, stream);
      plan.granularity = choose_granularity(smallest, options.launch_ratio, launch, row, rows);
    }
  }
  auto sweep = std::make_unique<GroupedSweep>(host, input, plan, stream);
  sweep->set_times(launch, row);
  return sweep;
}

}  // namespace taskdag::kernels
