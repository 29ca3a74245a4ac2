#include <algorithm>
#include <type_traits>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/cuda/program.hpp"
#include "kernels/factor/cuda/task.cuh"
#include "kernels/sptrsv/analysis/in_flight.hpp"

namespace taskdag::kernels {
namespace {

using namespace elimination;

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / kWarpSize;

/// Who takes a ticket: a warp for each task, or a block for a task of each of its warps, which is all that it does.
enum class TicketFor : std::uint8_t { warp, block };

template <FactorKind Kind, RowForm Widest, TicketFor Taker>
__global__ void __launch_bounds__(kBlock, blocks_per_multiprocessor(Widest))
    eliminate_kernel(const Parameters p, int* next_counter) {
  constexpr int kWarpsStaged = Widest > RowForm::targets ? kWarps : 1;
  __shared__ WarpStage stages[kWarpsStaged];
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (blockIdx.x == 0 && threadIdx.x == 0) *next_counter = 0;
  const auto fetch = [&](Index t) { return t < p.lists.tasks.tasks ? load_words(p.lists.tasks.task + t) : int4{}; };
  const auto work = [&](const int4& words) {
    eliminate_task<Kind, Widest>(p, lane, words, stages[warp % kWarpsStaged]);
  };
  if constexpr (Taker == TicketFor::block) {
    __shared__ int ticket;
    if (threadIdx.x == 0) ticket = p.tickets.request(lane);
    __syncthreads();
    const Index mine = ticket * kWarps + warp;
    if (mine < p.lists.tasks.tasks) work(fetch(mine));
  } else {
    Index ticket = TicketCounter::receive(p.tickets.request(lane));
    int requested = p.tickets.request(lane);
    // The next task travels while this one is worked on, and the ticket after it.
    int4 words = fetch(ticket);
    while (ticket < p.lists.tasks.tasks) {
      const int4 now = words;
      ticket = TicketCounter::receive(requested);
      requested = p.tickets.request(lane);
      words = fetch(ticket);
      work(now);
    }
  }
}

template <RowForm Form>
constexpr std::integral_constant<RowForm, Form> form_constant{};

/// Rows with updates hold their warp long, and longer than it takes a block to start: then warps that come and go do
/// better than ones that stay. Where a level fills the device anyway, and where most rows are sums, those that stay
/// have their next task at hand.
bool tickets_for_blocks(const Elimination& elimination) {
  const TaskList& tasks = elimination.tasks();
  const std::int64_t at_once =
      std::int64_t{cuda::device_limits().multiprocessors} * blocks_per_multiprocessor(elimination.widest()) * kWarps;
  return elimination.many_updates() && tasks.tasks < at_once * tasks.levels;
}

__global__ void arm_kernel(Index slots, double* first, double* second, int* counters) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < slots) first[i] = second[i] = not_yet();
  if (i < 2) counters[i] = 0;
}

}  // namespace

Factor::Factor() = default;
Factor::Factor(Factor&&) noexcept = default;
Factor& Factor::operator=(Factor&&) noexcept = default;
Factor::~Factor() = default;

Factor::Factor(Elimination&& elimination, FactorKind kind, Offset entries,
               const std::optional<engine::StaticOptions>& run, cudaStream_t stream)
    : elimination_(std::move(elimination)), kind_(kind) {
  const Index rows = elimination_.rows();
  if (rows == 0) return;
  entries_ = {static_cast<std::size_t>(entries), stream};
  inverse_pivots_ = {static_cast<std::size_t>(rows), stream};
  if (run) {
    program_ = std::make_unique<EliminationProgram>(elimination_, kind, *run, stream);
    return;
  }
  if (elimination_.listed()) make_slots(elimination_.slots(), stream);
}

void Factor::take_lists(Elimination&& elimination, cudaStream_t stream) {
  make_slots(elimination.slots(), stream);
  elimination_ = std::move(elimination);
}

void Factor::make_slots(Index slots, cudaStream_t stream) {
  const auto size = static_cast<std::size_t>(slots);
  cuda::DeviceArray<int> counters(2, stream);
  cuda::DeviceArray<double> first(size, stream);
  cuda::DeviceArray<double> second(size, stream);
  counters_ = std::move(counters);
  slots_ = {std::move(first), std::move(second)};
}

void Factor::arm(cudaStream_t stream) {
  const Index slots = elimination_.slots();
  arm_kernel<<<cuda::element_blocks(slots), cuda::kElementBlock, 0, stream>>>(slots, slots_[0].data(), slots_[1].data(),
                                                                              counters_.data());
  cuda::check_launch("arm_kernel");
}

void Factor::attempt(const FactorInput& input, const PivotRule& rule, cudaStream_t stream) {
  *report_.data() = FactorReport{};
  const TaskList& tasks = elimination_.tasks();
  if (tasks.rows == 0) return;
  if (program_) {
    program_->enqueue({elimination_.view(), input, rule, entries_.data(), inverse_pivots_.data(), report_.data()},
                      stream);
    finished_.record(stream);
    return;
  }
  if (!armed_) arm(stream);
  armed_ = false;  // until this attempt is launched, which arms the next one
  const std::size_t next = current_;
  current_ = 1 - current_;
  const Parameters parameters{elimination_.view(),
                              input,
                              rule,
                              Slots{slots_[current_].data()},
                              slots_[next].data(),
                              entries_.data(),
                              inverse_pivots_.data(),
                              {report_.data()},
                              TicketCounter{counters_.data() + current_}};
  const auto launch = [&](auto kernel, int blocks) {
    kernel<<<blocks, kBlock, 0, stream>>>(parameters, counters_.data() + next);
    cuda::check_launch("eliminate_kernel");
  };
  const auto launch_form = [&](auto kind, auto widest) {
    if (tickets_for_blocks(elimination_)) {
      launch(eliminate_kernel<kind(), widest(), TicketFor::block>, pieces_of(tasks.tasks, kWarps));
    } else {
      launch(eliminate_kernel<kind(), widest(), TicketFor::warp>, persistent_blocks(tasks, SolveTuning{}, kBlock));
    }
  };
  const auto launch_kind = [&](auto kind) {
    if (elimination_.widest() == RowForm::sum) {
      launch_form(kind, form_constant<RowForm::sum>);
    } else if (elimination_.widest() == RowForm::targets) {
      launch_form(kind, form_constant<RowForm::targets>);
    } else if (elimination_.widest() == RowForm::rounds) {
      launch_form(kind, form_constant<RowForm::rounds>);
    } else {
      launch_form(kind, form_constant<RowForm::searched>);
    }
  };
  if (kind_ == FactorKind::ic) {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ic>{});
  } else {
    launch_kind(std::integral_constant<FactorKind, FactorKind::ilu>{});
  }
  armed_ = true;
  finished_.record(stream);
}

void Factor::attempt(const FactorInput& input, const PivotRule& rule, EliminationMethod& method, double* unit,
                     cudaStream_t stream) {
  *report_.data() = FactorReport{};
  method.factor(input, rule, {entries_.data(), inverse_pivots_.data(), unit, report_.data()}, stream);
  finished_.record(stream);
}

FactorReport Factor::report() const {
  if (elimination_.rows() > 0) finished_.wait();
  return *report_.data();
}

std::int64_t Factor::bytes() const {
  return elimination_.bytes() + entries_.bytes() + inverse_pivots_.bytes() + slots_[0].bytes() + slots_[1].bytes() +
         counters_.bytes() + (program_ ? program_->bytes() : 0);
}

}  // namespace taskdag::kernels
