#include "kernels/sptrsv/host/engine/engine_sweep.hpp"

#include <utility>

#include "context/state.hpp"
#include "dag/dependencies.hpp"
#include "taskdag/engine/static/flags.hpp"
#include "taskdag/engine/static/host.hpp"

namespace taskdag::kernels {

namespace {

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

using SingleProgram =
    engine::detail::HostStatic<engine::StaticProgram<SweepTasks, engine::Types<SolveRows>, engine::SwitchedProbe>>;
using PairProgram = engine::detail::HostStatic<
    engine::StaticProgram<PairOfSweeps, engine::Types<ForwardRows, BackwardRows>, engine::SwitchedProbe>>;

}  // namespace

/// The tasks of a sweep, and the programs that run them.
struct HostEngineSweep::Programs {
  Programs(host::ThreadPool& pool, const engine::StaticOptions& wanted)
      : context(Context::State::borrowing(pool)), options(wanted) {}

  Context context;
  engine::StaticOptions options;
  std::unique_ptr<SingleProgram> single;
  std::unique_ptr<PairProgram> pair;
  const Programs* before = nullptr;
};

HostEngineSweep::HostEngineSweep(const CsrPattern& pattern, const Offset* source, Triangle triangle,
                                 host::ThreadPool& pool, const engine::StaticOptions& options, Precision precision)
    : threads_(pool.threads()),
      tasks_(pattern, triangle),
      ended_(tasks_.tasks()),
      slots_(tasks_.order.size()),
      programs_(std::make_unique<Programs>(pool, options)) {
  offsets_.reserve(tasks_.order.size() + 1);
  const bool forward = triangle == Triangle::lower;
  for (const Index i : tasks_.order) {
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
  if (precision == Precision::in_single) {
    singles_.resize(columns_.size());
  } else {
    values_.resize(columns_.size());
  }
  Programs& p = *programs_;
  p.single = std::make_unique<SingleProgram>(p.context, order_of(tasks_, nullptr, options.dependencies), options);
}

HostEngineSweep::HostEngineSweep(HostEngineSweep&&) noexcept = default;
HostEngineSweep& HostEngineSweep::operator=(HostEngineSweep&&) noexcept = default;
HostEngineSweep::~HostEngineSweep() = default;

void HostEngineSweep::load(const double* values) {
  for (std::size_t e = 0; e < values_.size(); ++e) values_[e] = values[source_[e]];
  for (std::size_t e = 0; e < singles_.size(); ++e) singles_[e] = static_cast<float>(values[source_[e]]);
}

void HostEngineSweep::follow(const HostEngineSweep& before) {
  Programs& p = *programs_;
  pair_first_ = Slots(tasks_.order.size());
  pair_second_ = Slots(tasks_.order.size());
  p.pair =
      std::make_unique<PairProgram>(p.context, order_of(before.tasks_, &tasks_, p.options.dependencies), p.options);
  p.before = before.programs_.get();
}

bool HostEngineSweep::follows(const HostEngineSweep& before) const {
  return programs_->before != nullptr && programs_->before == before.programs_.get();
}

void HostEngineSweep::run_alone(const Body& body) {
  programs_->single->run({body.rows, body.run, tasks_.begin.data()});
}

void HostEngineSweep::run_pair(const HostEngineSweep& before, const Body& first, const Body& second) {
  programs_->pair->run(
      {{first.rows, first.run, before.tasks_.begin.data()}, {second.rows, second.run, tasks_.begin.data()}});
}

template <int Width, class Value>
struct HostEngineSweep::Columns {
  HostEngineSweep* self;
  const Value* stored;
  double* x;
  const ColumnPass* pass;
  std::atomic<bool>* finite;

  static void run(const void* rows, Index first, Index last, std::uint32_t run) {
    const Columns& r = *static_cast<const Columns*>(rows);
    HostEngineSweep& s = *r.self;
    bool mine = true;
    for (Index p = first; p < last; ++p) {
      const auto [i, begin, count, column] = s.row_at(p);
      for (Offset k = 0; k < count; ++k) s.wait_for_task_of(column[k], run);
      mine &= run_row<Width>(*r.pass, i, p, column, r.stored + begin, count, r.x, i, r.x);
    }
    if (first < last) s.end_task_of(s.tasks_.order[static_cast<std::size_t>(first)], run);
    if (!mine) r.finite->store(false, std::memory_order_relaxed);
  }
};

bool HostEngineSweep::run_columns(double* x, const ColumnPass& pass) {
  std::atomic<bool> finite{true};
  const auto run = [&]<int Width, class Value>(const Value* stored) {
    using Task = Columns<Width, Value>;
    const Task rows{this, stored, x, &pass, &finite};
    run_alone({&rows, &Task::run});
  };
  with_column_width(pass.count, [&]<int Width>() {
    singles_.empty() ? run.template operator()<Width>(values_.data()) : run.template operator()<Width>(singles_.data());
  });
  return finite.load(std::memory_order_relaxed);
}

void HostEngineSweep::wait_for_task_of(Index row, std::uint32_t run) {
  engine::TaskFlags{ended_.data(), run}.wait(tasks_.task_of_row[static_cast<std::size_t>(row)]);
}

void HostEngineSweep::end_task_of(Index row, std::uint32_t run) {
  engine::TaskFlags{ended_.data(), run}.publish(tasks_.task_of_row[static_cast<std::size_t>(row)]);
}

engine::Report HostEngineSweep::report() const { return programs_->single->report(); }

engine::Report HostEngineSweep::report_of_both() const {
  return programs_->pair ? programs_->pair->report() : engine::Report{};
}

std::int64_t HostEngineSweep::bytes() const {
  const Programs& p = *programs_;
  const auto entries = static_cast<std::int64_t>(sizeof(Index) + sizeof(Offset)) * this->entries() +
                       static_cast<std::int64_t>(sizeof(double) * values_.size() + sizeof(float) * singles_.size());
  return entries + tasks_.bytes() + slots_.bytes() + pair_first_.bytes() + pair_second_.bytes() +
         static_cast<std::int64_t>(sizeof(Offset) * offsets_.size() + sizeof(std::uint32_t) * ended_.size() +
                                   p.single->bytes() + (p.pair ? p.pair->bytes() : 0));
}

}  // namespace taskdag::kernels
