#include <algorithm>
#include <utility>
#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "kernels/factor/cuda/eliminate.cuh"
#include "kernels/factor/cuda/program.hpp"
#include "kernels/factor/cuda/task.cuh"
#include "kernels/sptrsv/analysis/in_flight.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/static/cuda.cuh"

namespace taskdag::kernels {

struct EliminationProgram::Impl {
  virtual ~Impl() = default;
  virtual void enqueue(const EliminationArguments& arguments, cudaStream_t stream) = 0;
  [[nodiscard]] virtual engine::Report report() const = 0;
  [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

namespace {

using namespace elimination;

/// Slots alternate with the runs: each run fills one set and resets the other one.
struct EliminationData {
  Parameters parameters;
  double* slots[2];
};

template <FactorKind Kind, RowForm Widest, bool kRegisters>
struct EliminateRows {
  using Item = Index;
  static constexpr auto name = "eliminate rows";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  static constexpr int max_children = 0;
  static constexpr std::size_t shared_bytes = Widest > RowForm::targets ? sizeof(WarpStage) : 0;
  static constexpr int threads_per_multiprocessor = 128 * blocks_per_multiprocessor(Widest, kRegisters);
  using Ahead = int4;  ///< the words of the task
  __device__ static Ahead look_ahead(const EliminationData& data, const Item& task) {
    return load_words(data.parameters.lists.tasks.task + task);
  }
  template <class Context>
  __device__ static void execute(Context& context, const Item& task) {
    execute(context, task, look_ahead(context.data(), task));
  }
  template <class Context>
  __device__ static void execute(Context& context, const Item& /*task*/, const Ahead& words) {
    const EliminationData& data = context.data();
    Parameters p = data.parameters;
    p.slots = Slots{data.slots[context.run() & 1U]};
    p.next_slots = data.slots[1U - (context.run() & 1U)];
    eliminate_task<Kind, Widest, kRegisters>(p, context.group().rank(), words,
                                             *reinterpret_cast<WarpStage*>(context.shared()));
  }
};

__global__ void arm_slots(Index slots, double* first, double* second) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < slots) first[i] = second[i] = not_yet();
}

/// Which task waits for which: by the pivot rows of its rows.
engine::StaticOrder order_of(const Elimination& elimination, engine::Dependencies dependencies, cudaStream_t stream) {
  const TaskList& list = elimination.tasks();
  const auto tasks = static_cast<std::size_t>(list.tasks);
  if (dependencies == engine::Dependencies::ordered) return {{static_cast<std::uint32_t>(tasks)}};
  const auto rows = static_cast<std::size_t>(list.rows);
  const EliminationView view = elimination.view();
  const auto task = cuda::fetch_array(list.task.data(), tasks, stream);
  const auto row = cuda::fetch_array(view.rows, rows, stream);
  std::size_t pivot_count = 0;
  for (const EliminationRow& one : row) {
    pivot_count =
        std::max(pivot_count, static_cast<std::size_t>(one.first_pivot) + static_cast<std::size_t>(one.pivot_count));
  }
  const auto pivot = cuda::fetch_array(view.pivots, pivot_count, stream);
  std::vector<std::uint32_t> task_of(rows);
  for (std::size_t t = 0; t < tasks; ++t) {
    for (Index p = task[t].first; p < task[t].first + task[t].rows; ++p) {
      task_of[static_cast<std::size_t>(p)] = static_cast<std::uint32_t>(t);
    }
  }
  engine::StaticOrderBuilder builder;
  builder.begin_type();
  std::vector<std::uint32_t> predecessors;
  for (std::size_t t = 0; t < tasks; ++t) {
    predecessors.clear();
    for (Index p = task[t].first; p < task[t].first + task[t].rows; ++p) {
      const EliminationRow& one = row[static_cast<std::size_t>(p)];
      for (Index k = 0; k < one.pivot_count; ++k) {
        const auto at = static_cast<std::size_t>(one.first_pivot) + static_cast<std::size_t>(k);
        predecessors.push_back(task_of[static_cast<std::size_t>(pivot[at].inverse)]);
      }
    }
    builder.add_task(predecessors);
  }
  return builder.order(dependencies);
}

template <FactorKind Kind, RowForm Widest, bool kRegisters = is_in_registers(Widest)>
class Program final : public EliminationProgram::Impl {
 public:
  Program(const Elimination& elimination, engine::StaticOptions options, cudaStream_t stream)
      : slots_{{static_cast<std::size_t>(elimination.slots()), stream},
               {static_cast<std::size_t>(elimination.slots()), stream}},
        program_(Context::create({.backend = Backend::cuda, .device = cuda::current_device()}),
                 order_of(elimination, options.dependencies, stream), with_blocks(options, elimination)) {
    arm_slots<<<cuda::element_blocks(elimination.slots()), cuda::kElementBlock, 0, stream>>>(
        elimination.slots(), slots_[0].data(), slots_[1].data());
    cuda::check_launch("arm_slots");
  }
  void enqueue(const EliminationArguments& arguments, cudaStream_t stream) override {
    const Parameters parameters{arguments.lists,   arguments.input,          arguments.rule,     {}, nullptr,
                                arguments.entries, arguments.inverse_pivots, {arguments.report}, {}};
    program_.enqueue({parameters, {slots_[0].data(), slots_[1].data()}}, stream);
  }
  [[nodiscard]] engine::Report report() const override { return program_.report(); }
  [[nodiscard]] std::int64_t bytes() const override {
    return slots_[0].bytes() + slots_[1].bytes() + static_cast<std::int64_t>(program_.bytes());
  }

 private:
  using Task = EliminateRows<Kind, Widest, kRegisters>;

  /// As many warps as the kernel along lists keeps in flight, unless the options say how many.
  static engine::StaticOptions with_blocks(engine::StaticOptions options, const Elimination& elimination) {
    constexpr int kThreads = engine::detail::Shape<engine::Types<Task>>::threads;
    if (options.blocks == 0) options.blocks = persistent_blocks(elimination.tasks(), SolveTuning{}, kThreads);
    return options;
  }

  cuda::DeviceArray<double> slots_[2];
  engine::detail::CudaStatic<engine::StaticProgram<EliminationData, engine::Types<Task>, engine::SwitchedProbe>>
      program_;
};

template <FactorKind Kind>
std::unique_ptr<EliminationProgram::Impl> make(const Elimination& elimination, const engine::StaticOptions& options,
                                               cudaStream_t stream) {
  // Fewer forms need fewer registers; each is a set of kernels, so that there are not as many as forms.
  if (elimination.widest() == RowForm::sum) {
    return std::make_unique<Program<Kind, RowForm::sum>>(elimination, options, stream);
  }
  if (is_in_registers(elimination.widest())) {
    return std::make_unique<Program<Kind, RowForm::three_registers>>(elimination, options, stream);
  }
  if (elimination.widest() <= RowForm::rounds && !elimination.has_registers()) {
    return std::make_unique<Program<Kind, RowForm::rounds>>(elimination, options, stream);
  }
  return std::make_unique<Program<Kind, RowForm::searched, true>>(elimination, options, stream);
}

}  // namespace

EliminationProgram::EliminationProgram(const Elimination& elimination, FactorKind kind,
                                       const engine::StaticOptions& options, cudaStream_t stream)
    : impl_(kind == FactorKind::ic ? make<FactorKind::ic>(elimination, options, stream)
                                   : make<FactorKind::ilu>(elimination, options, stream)) {}
EliminationProgram::~EliminationProgram() = default;

void EliminationProgram::enqueue(const EliminationArguments& arguments, cudaStream_t stream) {
  impl_->enqueue(arguments, stream);
}

engine::Report EliminationProgram::report() const { return impl_->report(); }

std::int64_t EliminationProgram::bytes() const { return impl_->bytes(); }

}  // namespace taskdag::kernels
