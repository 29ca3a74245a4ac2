#include "kernels/rows/row_program.hpp"

#include "context/state.hpp"
#include "taskdag/engine/static/flags.hpp"
#include "taskdag/engine/static/host.hpp"

namespace taskdag::kernels {

namespace {

struct RowData {
  RowProgram::Body body;
  const RowTasks* tasks;
  std::uint32_t* ended;
};

struct RunRows {
  using Item = std::uint32_t;
  static constexpr auto name = "rows";
  static constexpr int max_children = 0;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& task) {
    const RowData& data = context.data();
    const engine::TaskFlags ended{data.ended, context.run()};
    for (const std::uint32_t before : data.tasks->predecessors[task]) ended.wait(before);
    data.body.run(data.body.target, static_cast<int>(context.team()), data.tasks->begin[task],
                  data.tasks->begin[task + 1]);
    ended.publish(task);
  }
};

}  // namespace

struct RowProgram::Program
    : engine::detail::HostStatic<engine::StaticProgram<RowData, engine::Types<RunRows>, engine::SwitchedProbe>> {
  using HostStatic::HostStatic;
};

RowProgram::RowProgram(const CsrPattern& pattern, Triangle triangle, host::ThreadPool& pool,
                       const engine::StaticOptions& options)
    : threads_(pool.threads()),
      tasks_(pattern, triangle),
      ended_(tasks_.tasks()),
      program_(std::make_unique<Program>(Context::State::borrowing(pool),
                                         order_of(tasks_, nullptr, options.dependencies), options)) {}
RowProgram::RowProgram(RowProgram&&) noexcept = default;
RowProgram& RowProgram::operator=(RowProgram&&) noexcept = default;
RowProgram::~RowProgram() = default;

void RowProgram::run(const Body& body) { program_->run({body, &tasks_, ended_.data()}); }

engine::Report RowProgram::report() const { return program_->report(); }

std::int64_t RowProgram::bytes() const {
  return tasks_.bytes() + static_cast<std::int64_t>(sizeof(std::uint32_t) * ended_.size() + program_->bytes());
}

}  // namespace taskdag::kernels
