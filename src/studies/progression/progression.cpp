#include "studies/progression/progression.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "studies/progression/hash.hpp"
#include "studies/progression/launch.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/error.hpp"

namespace taskdag::progression {
namespace {

using Words = std::vector<std::uint32_t>;
using Array = engine::Array<std::uint32_t>;

void require(bool right, const char* message) {
  if (!right) throw InvalidInput(message);
}

/// The most tasks that a hash sends to one queue, over the whole graph.
std::uint32_t most_in_a_ring(const Dag& dag, Hash hash, std::uint32_t rings) {
  if (hash != Hash::mixed) {
    const std::uint32_t even = (dag.tasks + rings - 1) / rings;
    return hash == Hash::a ? even : 2 * even;  // b sends first and second successors elsewhere
  }
  Words sum(rings, 0);
  for (std::uint32_t task = 0; task < dag.tasks; ++task) ++sum[ring_of_task(hash, task, 0, rings)];
  return *std::max_element(sum.begin(), sum.end());
}

/// The arrays of a run.
class Memory {
 public:
  Memory(const Context& context, const Dag& dag, const Settings& settings, std::uint32_t blocks)
      : dag_(dag), settings_(settings), scans_(settings.algorithm == Algorithm::scanning) {
    const bool counts = settings.form == Form::count;
    if (settings.algorithm == Algorithm::multi) rings_ = std::max(1U, blocks * settings.rings_percent / 100);
    if (settings.algorithm == Algorithm::single) rings_ = 1;
    stride_ = settings.spread ? 32 : 1;
    capacity_ = settings.capacity;
    if (capacity_ == 0 && !scans_) {
      capacity_ = std::min(dag.most_ready(), rings_ == 1 ? dag.tasks : most_in_a_ring(dag, settings.hash, rings_));
    }
    const std::size_t words = std::size_t{rings_} * stride_;
    dependencies_ = Array(context, std::span(dag.dependencies));
    counter_ = Array(context, 1);
    locks_ = Array(context, scans_ ? dag.tasks : words);
    sizes_ = Array(context, words);
    heads_ = Array(context, words);
    items_ = Array(context, std::size_t{rings_} * capacity_);
    values_ = Array(context, counts ? dag.tasks : 0);
    totals_ = engine::Array<engine::OperationCounts>(context, 1);
    successor_offsets_ = Array(context, std::span(dag.successor_offsets));
    successors_ = Array(context, std::span(dag.successors));
    if (counts) {
      predecessor_offsets_ = Array(context, std::span(dag.predecessor_offsets));
      predecessors_ = Array(context, std::span(dag.predecessors));
    }
    if (!scans_) add_first_tasks();
  }

  [[nodiscard]] DagView dag() const {
    return {
        dag_.tasks,        dag_.columns, predecessor_offsets_.data(), predecessors_.data(), successor_offsets_.data(),
        successors_.data()};
  }
  [[nodiscard]] State state() const {
    State state{};
    state.counter = counter_.data();
    state.dependencies = dependencies_.data();
    state.locks = locks_.data();
    state.sizes = sizes_.data();
    state.heads = heads_.data();
    state.items = items_.data();
    state.values = values_.data();
    state.rings = rings_;
    state.capacity = capacity_;
    state.stride = stride_;
    state.hash = settings_.hash;
    state.fifo = settings_.fifo;
    state.backoff = settings_.backoff;
    state.limit_ns = static_cast<std::uint64_t>(settings_.limit_seconds * 1e9);
    return state;
  }
  [[nodiscard]] engine::OperationCounts* totals() const { return totals_.data(); }
  [[nodiscard]] std::uint32_t rings() const { return rings_; }

  /// How the run ended and what it did.
  void read(RunResult& run, std::uint32_t blocks) const {
    const std::uint32_t counter = counter_.download().front();
    run.tasks = counter & ~(State::kTimeLimit | State::kQueueFull);
    run.end = (counter & State::kQueueFull) != 0   ? End::queue_full
              : (counter & State::kTimeLimit) != 0 ? End::time_limit
                                                   : End::finished;
    if (settings_.form == Form::count) run.counts = totals_.download().front();
    if (run.end == End::finished) run.fault = fault(run.tasks, blocks);
  }

 private:
  /// As many as fit; the rest, where the caller's capacity is too small, ends the run at once.
  void add_first_tasks() {
    Words sizes(sizes_.size(), 0);
    Words items(items_.size(), 0);
    for (std::uint32_t task = 0; task < dag_.tasks; ++task) {
      if (dag_.dependencies[task] != 0) continue;
      const std::uint32_t ring = ring_of_task(settings_.hash, task, 0, rings_);
      std::uint32_t& size = sizes[std::size_t{ring} * stride_];
      if (size < capacity_) {
        items[std::size_t{ring} * capacity_ + size++] = task;
      } else {
        counter_.upload(std::vector{State::kQueueFull});
      }
    }
    sizes_.upload(sizes);
    items_.upload(items);
  }

  /// What is wrong with a finished run, or nothing.
  [[nodiscard]] std::string fault(std::uint32_t tasks, std::uint32_t blocks) const {
    const auto all = [](const Words& words, auto&& right) { return std::all_of(words.begin(), words.end(), right); };
    const std::uint32_t end = scans_ ? 1 : 0;  // scanning's mark of a task that has run
    if (tasks != dag_.tasks) return std::to_string(tasks) + " tasks were counted";
    if (!all(dependencies_.download(), [&](std::uint32_t word) { return word == end; })) {
      return "not every dependency was resolved once";
    }
    if (!all(sizes_.download(), [](std::uint32_t word) { return word == 0; })) return "a queue is not empty";
    if (!all(locks_.download(), [&](std::uint32_t word) { return scans_ ? word != 0 && word <= blocks : word == 0; })) {
      return scans_ ? "a task has no owner" : "a lock is not free";
    }
    if (settings_.form == Form::count && values_.download() != serial_values(dag_)) {
      return "values are not those of the serial walk";
    }
    return "";
  }

  const Dag& dag_;
  const Settings& settings_;
  bool scans_;
  std::uint32_t rings_ = 0;
  std::uint32_t capacity_ = 0;
  std::uint32_t stride_ = 1;
  Array counter_, dependencies_, locks_, sizes_, heads_, items_, values_;
  Array predecessor_offsets_, predecessors_, successor_offsets_, successors_;
  engine::Array<engine::OperationCounts> totals_;
};

}  // namespace

const char* to_string(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::scanning:
      return "scanning";
    case Algorithm::single:
      return "single";
    case Algorithm::multi:
      return "multi";
  }
  return "";
}

const char* to_string(Hash hash) {
  switch (hash) {
    case Hash::a:
      return "a";
    case Hash::b:
      return "b";
    case Hash::mixed:
      return "mixed";
  }
  return "";
}

const char* to_string(Form form) { return form == Form::time ? "time" : "count"; }

const char* to_string(End end) {
  switch (end) {
    case End::finished:
      return "ok";
    case End::time_limit:
      return "time limit";
    case End::queue_full:
      return "queue full";
  }
  return "";
}

std::string describe(const Settings& settings) {
  std::string text = to_string(settings.algorithm);
  if (settings.algorithm == Algorithm::multi) {
    text += std::string(" ") + to_string(settings.hash) + " " + std::to_string(settings.rings_percent) + " %";
  }
  if (settings.fifo) text += ", fifo";
  if (settings.backoff) text += ", backoff";
  if (settings.spread) text += ", spread";
  return text;
}

RunResult run(const Context& context, const Dag& dag, const Settings& settings) {
  require(settings.threads >= 1 && settings.threads <= 1024, "a block has 1 to 1024 threads");
  require(settings.rings_percent >= 1 && settings.rings_percent <= 100,
          "queues are 1 to 100 % of the blocks: each needs a block that takes from it");
  require(settings.limit_seconds >= 0 && settings.limit_seconds <= 3600, "a run has 0 to 3600 seconds");
  const bool on_host = context.backend() == Backend::host;
  RunResult result;
  result.blocks = on_host ? static_cast<std::uint32_t>(context.threads()) : settings.blocks;
  require(result.blocks >= 1, "a run has a block");
  const Memory memory(context, dag, settings, result.blocks);
  result.rings = memory.rings();
  result.seconds = launch(context, settings, memory.dag(), memory.state(), memory.totals());
  memory.read(result, result.blocks);
  return result;
}

}  // namespace taskdag::progression
