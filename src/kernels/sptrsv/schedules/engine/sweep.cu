#include <algorithm>
#include <utility>
#include <variant>

#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/schedules/engine/choice.hpp"
#include "kernels/sptrsv/schedules/engine/sweep.hpp"
#include "kernels/sptrsv/schedules/engine/task_graph.hpp"
#include "kernels/sptrsv/schedules/engine/tasks.cuh"
#include "taskdag/engine/static/cuda.cuh"

namespace taskdag::kernels {

namespace {

using namespace engine_schedule;
using engine::detail::CudaStatic;

__global__ void arm_slots(Index rows, double* first, double* second) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < rows) first[i] = second[i] = not_yet();
  if (i == rows) first[i] = second[i] = 0.0;  // of absent operands
}

/// The two sets of slots of a sweep.
struct SlotSets {
  SlotSets(Index rows, cudaStream_t stream)
      : set{{static_cast<std::size_t>(rows) + 1, stream}, {static_cast<std::size_t>(rows) + 1, stream}} {
    arm_slots<<<cuda::element_blocks(std::int64_t{rows} + 1), cuda::kElementBlock, 0, stream>>>(rows, set[0].data(),
                                                                                                set[1].data());
    cuda::check_launch("arm_slots");
  }
  [[nodiscard]] SweepData with(const SolveParameters& parameters) const {
    return {parameters, {set[0].data(), set[1].data()}};
  }
  [[nodiscard]] std::int64_t bytes() const { return set[0].bytes() + set[1].bytes(); }
  cuda::DeviceArray<double> set[2];
};

/// So many warps as flat keeps in flight, unless the options say how many.
engine::StaticOptions with_blocks(engine::StaticOptions options, const PackedTriangle& packed) {
  constexpr int kThreads = engine::detail::Shape<engine::Types<SolveRows<true>>>::threads;
  if (options.blocks > 0 || packed.tasks().tasks == 0) return options;
  options.blocks = persistent_blocks(packed.tasks(), packed.tuning(), kThreads);
  return options;
}

template <bool Parts>
using SingleProgram =
    CudaStatic<engine::StaticProgram<SweepData, engine::Types<SolveRows<Parts>>, engine::SwitchedProbe>>;
template <bool Parts>
using PairProgram = CudaStatic<
    engine::StaticProgram<PairData, engine::Types<ForwardRows<Parts>, BackwardRows<Parts>>, engine::SwitchedProbe>>;

/// One of two programs, by whether rows are in parts.
template <template <bool> class Program>
class EitherProgram {
 public:
  EitherProgram(bool parts, const Context& context, const engine::StaticOrder& order,
                const engine::StaticOptions& options) {
    if (parts) {
      program_.template emplace<Program<true>>(context, order, options);
    } else {
      program_.template emplace<Program<false>>(context, order, options);
    }
  }
  template <class Data>
  void enqueue(const Data& data, cudaStream_t stream) {
    std::visit(
        [&](auto& program) {
          if constexpr (!std::is_same_v<std::remove_cvref_t<decltype(program)>, std::monostate>) {
            program.enqueue(data, stream);
          }
        },
        program_);
  }
  [[nodiscard]] engine::Report report() const {
    return std::visit(
        [](const auto& program) -> engine::Report {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(program)>, std::monostate>) {
            return {};
          } else {
            return program.report();
          }
        },
        program_);
  }
  [[nodiscard]] std::int64_t bytes() const {
    return std::visit(
        [](const auto& program) -> std::int64_t {
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(program)>, std::monostate>) {
            return 0;
          } else {
            return static_cast<std::int64_t>(program.bytes());
          }
        },
        program_);
  }

 private:
  std::variant<std::monostate, Program<true>, Program<false>> program_;
};

}  // namespace

struct EngineSweep::Single {
  SlotSets slots;
  EitherProgram<SingleProgram> program;
};

struct EngineSweep::Pair {
  const EngineSweep* before;
  cuda::DeviceArray<Index> rhs_index;  ///< position → position of `before`
  SlotSets first;
  SlotSets second;
  EitherProgram<PairProgram> program;
};

EngineSweep::EngineSweep(const SweepInput& input, cudaStream_t stream)
    : FlatSweep(input, stream),
      options_(input.run),
      triangle_(input.triangle),
      context_(Context::create({.backend = Backend::cuda, .device = cuda::current_device()})),
      result_(static_cast<std::size_t>(input.pattern.rows), stream) {
  single_ = std::make_unique<Single>(
      Single{SlotSets(packed().tasks().rows, stream),
             EitherProgram<SingleProgram>(packed().has_parts(), context_,
                                          order_of(packed(), nullptr, nullptr, options_.dependencies, stream),
                                          with_blocks(options_, packed()))});
}

EngineSweep::~EngineSweep() = default;

void EngineSweep::solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) {
  SolveArguments arguments = this->arguments(rhs, x, non_finite);
  if (x == nullptr) {
    arguments.x = result_.data();
    arguments.x_index = packed().tasks().order.data();
  }
  single_->program.enqueue(single_->slots.with(packed().parameters(arguments)), stream);
}

void EngineSweep::follow(const Sweep& before, cudaStream_t stream) {
  const auto* const first = dynamic_cast<const EngineSweep*>(&before);
  if (first == nullptr) return;
  cuda::DeviceArray<Index> rhs_index = by_position(first->packed().tasks().position.data(), packed().tasks(), stream);
  const engine::StaticOrder order =
      order_of(first->packed(), &packed(), rhs_index.data(), options_.dependencies, stream);
  const bool larger = packed().tasks().tasks > first->packed().tasks().tasks;
  pair_ = std::make_unique<Pair>(
      Pair{first, std::move(rhs_index), SlotSets(first->packed().tasks().rows, stream),
           SlotSets(packed().tasks().rows, stream),
           EitherProgram<PairProgram>(packed().has_parts() || first->packed().has_parts(), context_, order,
                                      with_blocks(options_, larger ? packed() : first->packed()))});
}

bool EngineSweep::solve_both(const Sweep& before, const double* rhs, double* x, int* non_finite, cudaStream_t stream) {
  if (!pair_ || pair_->before != &before) return false;
  const SolveParameters first = pair_->before->packed().parameters(pair_->before->arguments(rhs, nullptr, non_finite));
  SolveArguments arguments = this->arguments(nullptr, x, non_finite);
  arguments.rhs_index = pair_->rhs_index.data();
  pair_->program.enqueue(PairData{pair_->first.with(first), pair_->second.with(packed().parameters(arguments))},
                         stream);
  return true;
}

std::vector<RunsProgram::ProgramRun> EngineSweep::program_runs() const {
  std::vector<ProgramRun> runs;
  if (pair_) runs.push_back({"application", pair_->program.report()});
  runs.push_back({triangle_ == Triangle::lower ? "forward sweep" : "backward sweep", single_->program.report()});
  std::erase_if(runs, [](const ProgramRun& run) { return run.report.slices == 0; });
  return runs;
}

std::int64_t EngineSweep::bytes() const {
  std::int64_t bytes = FlatSweep::bytes() + result_.bytes() + single_->slots.bytes() + single_->program.bytes();
  if (pair_) {
    bytes += pair_->rhs_index.bytes() + pair_->first.bytes() + pair_->second.bytes() + pair_->program.bytes();
  }
  return bytes;
}

std::unique_ptr<Sweep> engine_schedule::make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return std::make_unique<EngineSweep>(input, selection.stream);
}

}  // namespace taskdag::kernels
