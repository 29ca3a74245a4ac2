#include "kernels/sptrsv/host/engine_sweep.hpp"

#include <algorithm>
#include <utility>

#include "context/state.hpp"
#include "dag/dependencies.hpp"
#include "taskdag/engine/static/flags.hpp"
#include "taskdag/engine/static/host.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag::kernels {

namespace {

/// Rows of a task: few enough that a level of some hundred rows keeps several threads at work.
constexpr Index kRowsOfTask = 32;

/// A sweep as its tasks see it.
struct SweepTasks {
  const void* rows;
  void (*run)(const void* rows, Index first, Index last, std::uint32_t run);
  const Index* begin;  ///< of each task, and the end: positions

  void execute(std::uint32_t task, std::uint32_t number) const { run(rows, begin[task], begin[task + 1], number); }
};

struct PairOfSweeps {
  SweepTasks first;
  SweepTasks second;
};

struct SolveRows {
  using Item = std::uint32_t;
  static constexpr auto name = "solve rows";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    context.data().execute(task, context.run());
  }
};
struct ForwardRows {
  using Item = std::uint32_t;
  static constexpr auto name = "forward rows";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    context.data().first.execute(task, context.run());
  }
};
struct BackwardRows {
  using Item = std::uint32_t;
  static constexpr auto name = "backward rows";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    context.data().second.execute(task, context.run());
  }
};

using SingleProgram = engine::detail::HostStatic<engine::StaticProgram<SweepTasks, engine::Types<SolveRows>>>;
using PairProgram =
    engine::detail::HostStatic<engine::StaticProgram<PairOfSweeps, engine::Types<ForwardRows, BackwardRows>>>;

}  // namespace

/// The tasks of a sweep, and the programs that run them.
struct HostEngineSweep::Programs {
  Programs(host::ThreadPool& pool, const engine::StaticOptions& wanted)
      : context(Context::State::borrowing(pool)), options(wanted) {}

  /// order: of the rows, by level. Fills in `begin` and the order's levels; waits and successors come later.
  void cut(const Schedule& schedule) {
    begin.push_back(0);
    const auto levels = schedule.level_offsets();
    for (std::size_t level = 1; level < levels.size(); ++level) {
      while (begin.back() < levels[level]) begin.push_back(std::min(begin.back() + kRowsOfTask, levels[level]));
      order.level_end.push_back(static_cast<std::uint32_t>(begin.size() - 1));
    }
    order.tasks = {static_cast<std::uint32_t>(begin.size() - 1)};
  }

  Context context;
  engine::StaticOptions options;
  std::vector<Index> begin;  ///< of each task, and the end: positions
  engine::StaticOrder order;
  std::vector<std::vector<std::uint32_t>> predecessors;  ///< of each task; for individual dependencies
  std::unique_ptr<SingleProgram> single;
  std::unique_ptr<PairProgram> pair;
  const Programs* before = nullptr;
};

namespace {

void set_successors(const std::vector<std::vector<std::uint32_t>>& predecessors, engine::StaticOrder& order) {
  order.successor_begin.assign(predecessors.size() + 1, 0);
  for (const auto& tasks : predecessors) {
    for (const std::uint32_t task : tasks) ++order.successor_begin[task + 1];
  }
  for (std::size_t t = 0; t < predecessors.size(); ++t) order.successor_begin[t + 1] += order.successor_begin[t];
  order.successor.resize(order.successor_begin.back());
  std::vector<std::uint32_t> at(order.successor_begin.begin(), order.successor_begin.end() - 1);
  for (std::size_t t = 0; t < predecessors.size(); ++t) {
    for (const std::uint32_t task : predecessors[t]) order.successor[at[task]++] = static_cast<std::uint32_t>(t);
  }
}

void keep_each_once(std::vector<std::uint32_t>& tasks) {
  std::ranges::sort(tasks);
  tasks.erase(std::unique(tasks.begin(), tasks.end()), tasks.end());
}

}  // namespace

HostEngineSweep::HostEngineSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                 host::ThreadPool& pool, const engine::StaticOptions& options)
    : threads_(pool.threads()), programs_(std::make_unique<Programs>(pool, options)) {
  const Schedule schedule = make_level_schedule(pattern, triangle);
  levels_ = schedule.levels();
  widest_level_ = schedule.widest_level();
  order_.assign(schedule.order().begin(), schedule.order().end());
  offsets_.reserve(order_.size() + 1);
  const bool forward = triangle == Triangle::lower;
  for (const Index i : order_) {
    const auto columns = dependencies(pattern, triangle, i);
    const auto begin = static_cast<Offset>(columns.data() - pattern.col_indices);
    const auto count = static_cast<Offset>(columns.size());
    for (Offset k = 0; k < count; ++k) {
      const Offset e = begin + (forward ? k : count - 1 - k);
      columns_.push_back(pattern.col_indices[e]);
      source_.push_back(source == nullptr ? e : source[e]);
    }
    offsets_.push_back(static_cast<Offset>(columns_.size()));
  }
  values_.resize(columns_.size());
  slots_ = Slots(order_.size());

  Programs& p = *programs_;
  p.cut(schedule);
  const std::size_t tasks = p.begin.size() - 1;
  ended_.resize(tasks);
  task_of_row_.resize(order_.size());
  for (std::size_t task = 0; task < tasks; ++task) {
    for (Index at = p.begin[task]; at < p.begin[task + 1]; ++at) {
      task_of_row_[static_cast<std::size_t>(order_[static_cast<std::size_t>(at)])] = static_cast<std::uint32_t>(task);
    }
  }
  if (options.dependencies == engine::Dependencies::individual) {
    p.predecessors.resize(tasks);
    for (std::size_t task = 0; task < tasks; ++task) {
      const auto first = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(p.begin[task])]);
      const auto last = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(p.begin[task + 1])]);
      for (std::size_t e = first; e < last; ++e) {
        p.predecessors[task].push_back(task_of_row_[static_cast<std::size_t>(columns_[e])]);
      }
      keep_each_once(p.predecessors[task]);
    }
    set_successors(p.predecessors, p.order);
  }
  p.single = std::make_unique<SingleProgram>(p.context, p.order, p.options);
}

HostEngineSweep::HostEngineSweep(HostEngineSweep&&) noexcept = default;
HostEngineSweep& HostEngineSweep::operator=(HostEngineSweep&&) noexcept = default;
HostEngineSweep::~HostEngineSweep() = default;

void HostEngineSweep::load(const double* values) {
  for (std::size_t e = 0; e < values_.size(); ++e) values_[e] = values[source_[e]];
}

void HostEngineSweep::follow(const HostEngineSweep& before) {
  Programs& p = *programs_;
  const Programs& first = *before.programs_;
  engine::StaticOrder order;
  const std::uint32_t offset = first.order.tasks[0];
  order.tasks = {offset, p.order.tasks[0]};
  order.level_end = first.order.level_end;
  for (const std::uint32_t end : p.order.level_end) order.level_end.push_back(offset + end);
  if (p.options.dependencies == engine::Dependencies::individual) {
    std::vector<std::vector<std::uint32_t>> predecessors = first.predecessors;
    for (std::size_t task = 0; task < p.predecessors.size(); ++task) {
      std::vector<std::uint32_t> mine;
      for (const std::uint32_t other : p.predecessors[task]) mine.push_back(offset + other);
      for (Index at = p.begin[task]; at < p.begin[task + 1]; ++at) {
        const Index row = order_[static_cast<std::size_t>(at)];
        mine.push_back(before.task_of_row_[static_cast<std::size_t>(row)]);
      }
      keep_each_once(mine);
      predecessors.push_back(std::move(mine));
    }
    set_successors(predecessors, order);
  }
  pair_first_ = Slots(order_.size());
  pair_second_ = Slots(order_.size());
  p.pair = std::make_unique<PairProgram>(p.context, order, p.options);
  p.before = &first;
}

bool HostEngineSweep::follows(const HostEngineSweep& before) const {
  return programs_->before != nullptr && programs_->before == before.programs_.get();
}

void HostEngineSweep::run_alone(const Body& body) {
  programs_->single->run({body.rows, body.run, programs_->begin.data()});
}

void HostEngineSweep::run_pair(const Body& first, const Body& second) {
  programs_->pair->run(
      {{first.rows, first.run, programs_->before->begin.data()}, {second.rows, second.run, programs_->begin.data()}});
}

void HostEngineSweep::wait_for_task_of(Index row, std::uint32_t run) {
  engine::TaskFlags{ended_.data(), run}.wait(task_of_row_[static_cast<std::size_t>(row)]);
}

void HostEngineSweep::end_task_of(Index row, std::uint32_t run) {
  engine::TaskFlags{ended_.data(), run}.publish(task_of_row_[static_cast<std::size_t>(row)]);
}

std::int64_t HostEngineSweep::bytes() const {
  const Programs& p = *programs_;
  const auto entries = static_cast<std::int64_t>(sizeof(Index) + sizeof(double) + sizeof(Offset)) * this->entries();
  const auto by_row =
      static_cast<std::int64_t>((sizeof(Index) + sizeof(Offset) + sizeof(std::uint32_t)) * order_.size());
  const auto by_task = static_cast<std::int64_t>((sizeof(Index) + sizeof(std::uint32_t)) * p.begin.size());
  return entries + by_row + by_task + slots_.bytes() + pair_first_.bytes() + pair_second_.bytes() +
         static_cast<std::int64_t>(p.single->bytes() + (p.pair ? p.pair->bytes() : 0));
}

}  // namespace taskdag::kernels
