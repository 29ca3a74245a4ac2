#include <algorithm>
#include <array>
#include <utility>

#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "kernels/sptrsv/ata/runner.hpp"

namespace taskdag::kernels {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

unsigned blocks_for(Index row_tasks) { return static_cast<unsigned>((row_tasks - 1) / kCoarseWarps + 1); }

/// The kernel and the launch parameters of each adaptive task.
class Launches {
 public:
  Launches(const KernelSet& kernels, const HierarchicalDag& hierarchy, const DeviceTasks& tasks)
      : kernels_(kernels), tracked_(hierarchy.tracked), range_(tasks.range) {}

  [[nodiscard]] Index size() const { return static_cast<Index>(range_.size()); }
  [[nodiscard]] const void* kernel(Index t) const { return tracked_[at(t)] ? kernels_.tracked : kernels_.untracked; }
  [[nodiscard]] dim3 blocks(Index t) const { return {blocks_for(range_[at(t)].count), 1, 1}; }
  /// Valid as long as this object stays where it is.
  [[nodiscard]] std::array<void*, 2> parameters(Index t) { return {kernels_.body.data(), &range_[at(t)]}; }

  void launch(Index t, cudaStream_t stream) {
    auto arguments = parameters(t);
    cuda::check(cudaLaunchKernel(kernel(t), blocks(t), {kCoarseBlock, 1, 1}, arguments.data(), 0, stream),
                "launching an adaptive task");
  }

 private:
  KernelSet kernels_;
  std::vector<char> tracked_;
  std::vector<CoarseRange> range_;
};

class Graph {
 public:
  Graph() { cuda::check(cudaGraphCreate(&graph_, 0), "creating a graph"); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphDestroy(graph_)); }
  [[nodiscard]] cudaGraph_t get() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

class ExecutableGraph {
 public:
  explicit ExecutableGraph(const Graph& graph) {
    cuda::check(cudaGraphInstantiate(&graph_, graph.get(), 0), "instantiating a graph");
  }
  ExecutableGraph(ExecutableGraph&& other) noexcept : graph_(std::exchange(other.graph_, nullptr)) {}
  ExecutableGraph& operator=(ExecutableGraph&&) = delete;
  ~ExecutableGraph() {
    if (graph_) static_cast<void>(cudaGraphExecDestroy(graph_));
  }
  void launch(cudaStream_t stream) const { cuda::check(cudaGraphLaunch(graph_, stream), "launching a graph"); }

 private:
  cudaGraphExec_t graph_ = nullptr;
};

/// Tasks as kernel nodes. More than kMaxAdaptiveTasks of them (levels, which cannot be made fewer) become several
/// graphs, one after the other in the stream.
class GraphRunner final : public CoarseRunner {
 public:
  GraphRunner(Launches launches, const HierarchicalDag& hierarchy) {
    std::vector<cudaGraphNode_t> node(at(launches.size()));
    std::vector<cudaGraphNode_t> before;
    for (Index first = 0; first < launches.size(); first += kMaxAdaptiveTasks) {
      const Graph graph;
      const Index end = std::min(launches.size(), first + kMaxAdaptiveTasks);
      for (Index t = first; t < end; ++t) {
        before.clear();
        for (auto e = hierarchy.predecessor_offsets[at(t)]; e < hierarchy.predecessor_offsets[at(t) + 1]; ++e) {
          const Index p = hierarchy.predecessors[static_cast<std::size_t>(e)];
          if (p >= first) before.push_back(node[at(p)]);
        }
        auto arguments = launches.parameters(t);
        cudaKernelNodeParams parameters{};
        parameters.func = const_cast<void*>(launches.kernel(t));
        parameters.gridDim = launches.blocks(t);
        parameters.blockDim = {kCoarseBlock, 1, 1};
        parameters.kernelParams = arguments.data();
        cuda::check(cudaGraphAddKernelNode(&node[at(t)], graph.get(), before.data(), before.size(), &parameters),
                    "adding an adaptive task to a graph");
      }
      graphs_.emplace_back(graph);
    }
  }
  void run(cudaStream_t stream) override {
    for (const ExecutableGraph& graph : graphs_) graph.launch(stream);
  }

 private:
  std::vector<ExecutableGraph> graphs_;
};

/// An event for order alone.
class OrderEvent {
 public:
  OrderEvent() { cuda::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "creating an event"); }
  OrderEvent(OrderEvent&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  OrderEvent& operator=(OrderEvent&&) = delete;
  ~OrderEvent() {
    if (event_) static_cast<void>(cudaEventDestroy(event_));
  }
  void record(cudaStream_t stream) const { cuda::check(cudaEventRecord(event_, stream), "recording an event"); }
  void delay(cudaStream_t stream) const {
    cuda::check(cudaStreamWaitEvent(stream, event_, 0), "making a stream wait for an event");
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Tasks as launches. A task goes to a stream whose last task it waits for, else to the next stream in turn; stream 0
/// is the caller's. A chain of tasks stays in the caller's stream without events.
class StreamRunner final : public CoarseRunner {
 public:
  StreamRunner(Launches launches, const HierarchicalDag& hierarchy)
      : launches_(std::move(launches)), place_(at(launches_.size())) {
    assign(hierarchy);
    Index events = 0;
    for (Place& place : place_) {
      if (place.event != kNone) place.event = events++;
    }
    for (Index i = 0; i < events; ++i) event_.emplace_back();
    for (int s = 1; s < kStreams; ++s) {
      if (last_[s] == kNone) continue;
      side_[s] = std::make_unique<cuda::UniqueStream>();
      side_end_[s] = std::make_unique<OrderEvent>();
      forks_ = true;
    }
  }

  void run(cudaStream_t caller) override {
    const auto stream = [&](int s) { return s == 0 ? caller : side_[s]->get(); };
    if (forks_) start_.record(caller);
    for (int s = 1; s < kStreams; ++s) {
      if (side_[s]) start_.delay(stream(s));
    }
    for (Index t = 0; t < launches_.size(); ++t) {
      const Place& place = place_[at(t)];
      for (const Index other : place.wait) event_[at(place_[at(other)].event)].delay(stream(place.stream));
      launches_.launch(t, stream(place.stream));
      if (place.event != kNone) event_[at(place.event)].record(stream(place.stream));
    }
    for (int s = 1; s < kStreams; ++s) {
      if (!side_[s]) continue;
      side_end_[s]->record(stream(s));
      side_end_[s]->delay(caller);
    }
  }

 private:
  static constexpr int kStreams = 4;
  static constexpr Index kNone = -1;
  struct Place {
    int stream = 0;
    Index event = kNone;      // recorded after the task; any other value in assign() only says that there is one
    std::vector<Index> wait;  // tasks in other streams
  };

  void assign(const HierarchicalDag& hierarchy) {
    last_.fill(kNone);
    std::array<std::array<Index, kStreams>, kStreams> heard{};  // heard[s][o]: last task of o that s has waited for
    for (auto& row : heard) row.fill(kNone);
    int turn = 0;
    for (Index t = 0; t < launches_.size(); ++t) {
      const auto begin = hierarchy.predecessors.begin() + hierarchy.predecessor_offsets[at(t)];
      const auto end = hierarchy.predecessors.begin() + hierarchy.predecessor_offsets[at(t) + 1];
      Place& place = place_[at(t)];
      const auto tail = std::find_if(begin, end, [&](Index p) { return last_[place_[at(p)].stream] == p; });
      place.stream = tail != end ? place_[at(*tail)].stream : turn;
      if (tail == end) turn = (turn + 1) % kStreams;
      for (auto p = begin; p != end; ++p) {
        Place& other = place_[at(*p)];
        if (other.stream == place.stream || heard[place.stream][other.stream] >= *p) continue;
        heard[place.stream][other.stream] = *p;
        other.event = 0;
        place.wait.push_back(*p);
      }
      last_[place.stream] = t;
    }
  }

  Launches launches_;
  std::vector<Place> place_;
  std::array<Index, kStreams> last_{};  // last task of each stream
  std::vector<OrderEvent> event_;
  OrderEvent start_;
  bool forks_ = false;  // other streams than the caller's are used
  std::array<std::unique_ptr<cuda::UniqueStream>, kStreams> side_;
  std::array<std::unique_ptr<OrderEvent>, kStreams> side_end_;
};

/// One cooperative kernel: no more blocks than are resident together, and no more than the widest task can use.
class BarrierRunner final : public CoarseRunner {
 public:
  BarrierRunner(const KernelSet& kernels, const DeviceTasks& tasks)
      : kernels_(kernels), first_(tasks.first.data()), tasks_(static_cast<Index>(tasks.range.size())) {
    int resident = 0;
    cuda::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernels_.barrier, kCoarseBlock, 0),
                "asking for the occupancy of a kernel");
    const auto most = static_cast<unsigned>(resident * cuda::device_limits().multiprocessors);
    blocks_ = std::min(most, blocks_for(tasks.widest));
  }
  void run(cudaStream_t stream) override {
    std::array<void*, 3> arguments{kernels_.body.data(), &first_, &tasks_};
    cuda::check(cudaLaunchCooperativeKernel(kernels_.barrier, {blocks_, 1, 1}, {kCoarseBlock, 1, 1}, arguments.data(),
                                            0, stream),
                "launching a kernel with barriers");
  }

 private:
  KernelSet kernels_;
  const Index* first_;
  Index tasks_;
  unsigned blocks_ = 0;
};

class NothingToRun final : public CoarseRunner {
 public:
  void run(cudaStream_t) override {}
};

}  // namespace

DeviceTasks::DeviceTasks(const HierarchicalDag& hierarchy, const RowTasks& rows, cudaStream_t stream)
    : order(hierarchy.order.size(), stream),
      task(rows.task.size(), stream),
      first(rows.first.size(), stream),
      range(hierarchy.tracked.size()) {
  const bool any_tracked = std::any_of(hierarchy.tracked.begin(), hierarchy.tracked.end(), [](char t) { return t; });
  if (any_tracked) ticket = {hierarchy.tracked.size(), stream};
  for (std::size_t t = 0; t < range.size(); ++t) {
    range[t] = {rows.first[t], rows.first[t + 1] - rows.first[t], any_tracked ? ticket.data() + t : nullptr};
    widest = std::max(widest, range[t].count);
  }
  cuda::copy_to_device(order.data(), hierarchy.order.data(), order.size(), stream);
  cuda::copy_to_device(task.data(), rows.task.data(), task.size(), stream);
  cuda::copy_to_device(first.data(), rows.first.data(), first.size(), stream);
  cuda::synchronize(stream);  // the host vectors may go
}

std::unique_ptr<CoarseRunner> make_runner(RunMode mode, const KernelSet& kernels, const HierarchicalDag& hierarchy,
                                          const DeviceTasks& tasks) {
  if (hierarchy.tasks() == 0) return std::make_unique<NothingToRun>();
  switch (mode) {
    case RunMode::graph:
      return std::make_unique<GraphRunner>(Launches(kernels, hierarchy, tasks), hierarchy);
    case RunMode::streams:
      return std::make_unique<StreamRunner>(Launches(kernels, hierarchy, tasks), hierarchy);
    case RunMode::barrier:
      break;
  }
  return std::make_unique<BarrierRunner>(kernels, tasks);
}

void run_unmanaged(const KernelSet& kernels, const DeviceTasks& tasks, cudaStream_t stream) {
  const auto row_tasks = static_cast<Index>(tasks.task.size());
  if (row_tasks == 0) return;
  std::vector<std::byte> body = kernels.body;
  CoarseRange range{0, row_tasks, nullptr};
  std::array<void*, 2> arguments{body.data(), &range};
  cuda::check(cudaLaunchKernel(kernels.untracked, {blocks_for(row_tasks), 1, 1}, {kCoarseBlock, 1, 1}, arguments.data(),
                               0, stream),
              "launching without dependencies");
}

}  // namespace taskdag::kernels
