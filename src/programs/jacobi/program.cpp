// Compiled as a CUDA source where CUDA is.
#include "programs/jacobi/program.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "programs/jacobi/task.hpp"
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
Plan autonomous(const JacobiParts& parts, const JacobiProgram::Shape& shape) {
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
Plan staged(const JacobiParts& parts, const JacobiProgram::Shape& shape) {
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

Plan make_plan(const JacobiParts& parts, const JacobiProgram::Shape& shape) {
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

}  // namespace

struct JacobiProgram::Impl {
  using Program = engine::StaticProgram<Data, engine::Types<SweepPart>, engine::SwitchedProbe>;

  Impl(const Context& context, const JacobiParts& parts, const Shape& shape, const engine::StaticOptions& options,
       Plan plan)
      : tasks(context, plan.tasks),
        part(context, parts.part),
        need_begin(context, parts.need_begin),
        need(context, parts.need),
        sums(context, parts.size()),
        arrived(context, parts.size()),
        runner(context, plan.order, options) {
    const bool alone = shape.form == JacobiForm::autonomous;
    if (alone) done = engine::Array<std::uint32_t>(context, parts.size());
    const auto sweeps = static_cast<std::size_t>(shape.sweeps);
    if (alone && (parts.some_need_all || shape.checks)) sweep_done = engine::Array<std::uint32_t>(context, sweeps);
    if (shape.checks) {
      check[0] = engine::Array<CheckState>(context, sweeps);
      check[1] = engine::Array<CheckState>(context, sweeps);
      end = engine::Array<RunEnd>(context, 1);
    }
    data = {{},
            tasks.data(),
            part.data(),
            need_begin.data(),
            need.data(),
            sums.data(),
            arrived.data(),
            done.data(),
            sweep_done.data(),
            {check[0].data(), check[1].data()},
            end.data(),
            parts.size(),
            static_cast<std::uint32_t>(shape.sweeps),
            shape.lanes,
            shape.form != JacobiForm::checkpoints};
  }

  engine::Array<JacobiTask> tasks;
  engine::Array<JacobiPart> part;
  engine::Array<std::uint32_t> need_begin;
  engine::Array<Index> need;
  engine::Array<double> sums;
  engine::Array<std::uint32_t> arrived;
  engine::Array<std::uint32_t> done;
  engine::Array<std::uint32_t> sweep_done;
  engine::Array<CheckState> check[2];
  engine::Array<RunEnd> end;
  Data data{};
  engine::Runner<Program> runner;
};

JacobiProgram::JacobiProgram(const Context& context, const JacobiParts& parts, const Shape& shape,
                             engine::StaticOptions options) {
  options.dependencies = dependencies_of(shape.form);
  impl_ = std::make_unique<Impl>(context, parts, shape, options, make_plan(parts, shape));
}
JacobiProgram::~JacobiProgram() = default;

void JacobiProgram::enqueue(const JacobiArrays& arrays, Stream stream) {
  if (impl_->end.size() != 0) impl_->end.clear();
  impl_->data.arrays = arrays;
  impl_->runner.enqueue_run(impl_->data, stream);
}

JacobiCheck JacobiProgram::check(Stream stream) {
  static_cast<void>(impl_->runner.report(stream));  // waits
  const RunEnd end = impl_->end.download()[0];
  if (end.sweeps == 0) throw Error("a run of Jacobi sweeps has ended without a check: a defect");
  return {end.sweeps, end.change};
}

engine::Report JacobiProgram::report(Stream stream) { return impl_->runner.report(stream); }

std::uint32_t ring_of_solve(JacobiForm form) { return form == JacobiForm::autonomous ? 4 : 2; }

JacobiOutcome run_to_tolerance(JacobiProgram& program, JacobiArrays& arrays, const JacobiStop& stop, Stream stream) {
  arrays.tolerance = stop.tolerance;
  int sweeps = 0;
  while (true) {
    program.enqueue(arrays, stream);
    const JacobiCheck check = program.check(stream);
    sweeps += static_cast<int>(check.sweeps);
    arrays.first = (arrays.first + check.sweeps) % arrays.ring_size;
    const bool converged = check.change <= stop.tolerance;
    if (converged || !std::isfinite(check.change) || sweeps >= stop.max_sweeps) {
      return {sweeps, check.change, converged};
    }
  }
}

std::int64_t JacobiProgram::bytes() const {
  const Impl& i = *impl_;
  const std::size_t words =
      i.need_begin.size() + i.need.size() + i.arrived.size() + i.done.size() + i.sweep_done.size();
  return static_cast<std::int64_t>(sizeof(JacobiTask) * i.tasks.size() + sizeof(JacobiPart) * i.part.size() +
                                   sizeof(std::uint32_t) * words + sizeof(double) * i.sums.size() +
                                   2 * sizeof(CheckState) * i.check[0].size());
}

}  // namespace taskdag::kernels
