// Compiled as a CUDA source where CUDA is.
#include "papers/pichler/jacobi/program.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "papers/pichler/jacobi/parts.hpp"
#include "papers/pichler/jacobi/task.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/engine/static_runner.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

using namespace jacobi_program;

namespace {

constexpr std::uint64_t kMostTasks = 1U << 27U;
/// Parts of the GPU that are at work at a time, about: sweeps that follow one another are kept apart by as many.
constexpr std::uint32_t kInFlight = 2048;

/// Tasks, and which of them wait for which.
struct Plan {
  std::vector<JacobiTask> tasks;
  engine::StaticOrder order;
};

/// Tasks wait by themselves.
Plan autonomous(const JacobiParts& parts, const JacobiShape& shape) {
  const auto sweeps = static_cast<std::uint32_t>(shape.sweeps);
  const std::uint32_t count = parts.size();
  std::uint32_t skew = parts.reach + 1U + kInFlight / sweeps;
  if (parts.some_need_all || skew > count) skew = std::max(count, 1U);
  // A task follows all of the sweep whose iterate it writes over.
  if (shape.checks) skew = std::max(skew, count / shape.ring_size + 1U);
  Plan plan{skewed_order(parts, sweeps, skew), {}};
  plan.order.tasks = {static_cast<std::uint32_t>(plan.tasks.size())};
  return plan;
}

/// Sweep by sweep. `between(s)`: whether the end of sweep s is a task. `predecessors(s, p, list)`: those of part p in
/// sweep s > 0, as tasks; first(s): the task of part 0 in sweep s.
Plan staged(const JacobiParts& parts, const JacobiShape& shape) {
  const auto sweeps = static_cast<std::uint32_t>(shape.sweeps);
  const std::uint32_t count = parts.size();
  const bool phases = shape.form == JacobiForm::stages_phases;
  const bool by_parts = shape.form == JacobiForm::checkpoints;
  const auto ends = [&](std::uint32_t s) {
    const bool last = s + 1U == sweeps;
    if (shape.checks && (last || !by_parts)) return true;
    // For those that need all, one task stands for all.
    return !phases && !last && (!by_parts || parts.some_need_all);
  };
  Plan plan;
  engine::StaticOrderBuilder builder;
  builder.begin_type();
  std::vector<std::uint32_t> all(count);
  std::vector<std::uint32_t> before;
  std::uint32_t first_before = 0;  // task of part 0 in the sweep before
  for (std::uint32_t s = 0; s < sweeps; ++s) {
    const auto first = static_cast<std::uint32_t>(plan.tasks.size());
    for (std::uint32_t p = 0; p < count; ++p) {
      before.clear();
      if (s > 0 && (!by_parts || parts.needs_all(p))) {
        before.push_back(first - 1U);  // the end of the sweep before; of phases any task of it
      } else if (s > 0) {
        for (std::uint32_t k = parts.need_begin[p]; k < parts.need_begin[p + 1]; ++k) {
          const JacobiPart& part = parts.part[static_cast<std::size_t>(parts.need[k])];
          // The first piece stands for its row, which the last one to end finishes.
          const bool row = part.pieces > 0 && parts.need[k] == part.first_piece;
          for (Index q = parts.need[k]; q < parts.need[k] + (row ? part.pieces : 1); ++q) {
            before.push_back(first_before + static_cast<std::uint32_t>(q));
          }
        }
      }
      builder.add_task(before);
      plan.tasks.push_back({p, s});
    }
    if (ends(s)) {
      for (std::uint32_t p = 0; p < count; ++p) all[p] = first + p;
      builder.add_task(all);
      plan.tasks.push_back({kEndOfSweep, s});
    }
    first_before = first;
  }
  plan.order = builder.order(phases ? engine::Dependencies::phases : engine::Dependencies::individual);
  return plan;
}

Plan make_plan(const JacobiParts& parts, const JacobiShape& shape) {
  const std::uint64_t tasks = std::uint64_t{parts.size()} * static_cast<std::uint64_t>(shape.sweeps);
  if (tasks > kMostTasks) {
    throw Unsupported("Jacobi as a program of the task engine: " + std::to_string(parts.size()) + " parts in " +
                      std::to_string(shape.sweeps) + " sweeps are too many tasks: use the form kernels");
  }
  return shape.form == JacobiForm::autonomous ? autonomous(parts, shape) : staged(parts, shape);
}

engine::Dependencies dependencies_of(JacobiForm form) {
  switch (form) {
    case JacobiForm::stages_phases:
      return engine::Dependencies::phases;
    case JacobiForm::stages:
    case JacobiForm::checkpoints:
      return engine::Dependencies::individual;
    default:
      return engine::Dependencies::ordered;
  }
}

class Sweeps final : public JacobiProgram {
 public:
  using Program = engine::StaticProgram<Data, engine::Types<SweepPart>, engine::SwitchedProbe>;

  Sweeps(const Context& context, const JacobiParts& parts, const JacobiShape& shape,
         const engine::StaticOptions& options, Plan plan)
      : tasks_(context, plan.tasks),
        part_(context, parts.part),
        need_begin_(context, parts.need_begin),
        need_(context, parts.need),
        sums_(context, parts.size()),
        arrived_(context, parts.size()),
        runner_(context, plan.order, options) {
    const bool alone = shape.form == JacobiForm::autonomous;
    if (alone) done_ = engine::Array<std::uint32_t>(context, parts.size());
    const auto sweeps = static_cast<std::size_t>(shape.sweeps);
    if (alone && (parts.some_need_all || shape.checks)) sweep_done_ = engine::Array<std::uint32_t>(context, sweeps);
    if (shape.checks) {
      check_state_[0] = engine::Array<CheckState>(context, sweeps);
      check_state_[1] = engine::Array<CheckState>(context, sweeps);
      end_ = engine::Array<RunEnd>(context, 1);
    }
    data_ = {{},
             tasks_.data(),
             part_.data(),
             need_begin_.data(),
             need_.data(),
             sums_.data(),
             arrived_.data(),
             done_.data(),
             sweep_done_.data(),
             {check_state_[0].data(), check_state_[1].data()},
             end_.data(),
             parts.size(),
             static_cast<std::uint32_t>(shape.sweeps),
             shape.lanes,
             shape.form != JacobiForm::checkpoints};
  }

  void enqueue(const JacobiArrays& arrays, Stream stream) override {
    if (end_.size() != 0) end_.clear();
    data_.arrays = arrays;
    runner_.enqueue_run(data_, stream);
  }

  JacobiCheck check(Stream stream) override {
    static_cast<void>(runner_.report(stream));  // waits
    const RunEnd ended = end_.download()[0];
    if (ended.sweeps == 0) throw Error("a run of Jacobi sweeps has ended without a check: a defect");
    return {ended.sweeps, ended.change};
  }

  engine::Report report(Stream stream) override { return runner_.report(stream); }

  [[nodiscard]] std::int64_t bytes() const override {
    const std::size_t words = need_begin_.size() + need_.size() + arrived_.size() + done_.size() + sweep_done_.size();
    return static_cast<std::int64_t>(sizeof(JacobiTask) * tasks_.size() + sizeof(JacobiPart) * part_.size() +
                                     sizeof(std::uint32_t) * words + sizeof(double) * sums_.size() +
                                     2 * sizeof(CheckState) * check_state_[0].size());
  }

 private:
  engine::Array<JacobiTask> tasks_;
  engine::Array<JacobiPart> part_;
  engine::Array<std::uint32_t> need_begin_;
  engine::Array<Index> need_;
  engine::Array<double> sums_;
  engine::Array<std::uint32_t> arrived_;
  engine::Array<std::uint32_t> done_;
  engine::Array<std::uint32_t> sweep_done_;
  engine::Array<CheckState> check_state_[2];
  engine::Array<RunEnd> end_;
  Data data_{};
  engine::Runner<Program> runner_;
};

}  // namespace

std::unique_ptr<JacobiProgram> make_jacobi_program(const Context& context, const CsrPattern& pattern,
                                                   const JacobiShape& shape, engine::StaticOptions options) {
  const JacobiParts parts(pattern, shape.part_entries, shape.long_row);
  options.dependencies = dependencies_of(shape.form);
  return std::make_unique<Sweeps>(context, parts, shape, options, make_plan(parts, shape));
}

}  // namespace taskdag::kernels
