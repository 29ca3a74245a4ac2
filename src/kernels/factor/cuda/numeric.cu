#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "base/index.hpp"
#include "kernels/factor/cuda/eliminate.cuh"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/cuda/program.hpp"
#include "kernels/sptrsv/analysis/in_flight.hpp"

namespace taskdag::kernels {
namespace {

using namespace elimination;

constexpr int kBlock = kEliminateBlock;
constexpr int kWarps = kBlock / kWarpSize;

/// Rows with updates hold their warp long, and longer than it takes a block to start: then warps that come and go do
/// better than ones that stay. Where a level fills the device anyway, and where most rows are sums, those that stay
/// have their next task at hand.
bool tickets_for_blocks(const Elimination& elimination) {
  const TaskList& tasks = elimination.tasks();
  const std::int64_t at_once = std::int64_t{cuda::device_limits().multiprocessors} *
                               blocks_per_multiprocessor(elimination.widest(), elimination.has_registers()) * kWarps;
  return elimination.many_updates() && tasks.tasks < at_once * tasks.levels;
}

__global__ void arm_kernel(Index slots, double* first, double* second, int* counters) {
  const auto i = static_cast<Index>(cuda::element());
  if (i < slots) first[i] = second[i] = not_yet();
  if (i < 2) counters[i] = 0;
}

/// Runs the lists by the kernel for their forms; *next_counter is made 0. Asynchronous.
void run_lists(const Elimination& elimination, FactorKind kind, const Parameters& parameters, int* next_counter,
               cudaStream_t stream) {
  const TaskList& tasks = elimination.tasks();
  const bool for_blocks = tickets_for_blocks(elimination);
  const EliminateLaunch how{
      kind, for_blocks ? TicketFor::block : TicketFor::warp,
      for_blocks ? pieces_of(tasks.tasks, kWarps) : persistent_blocks(tasks, SolveTuning{}, kBlock), stream};
  const RowForm widest = elimination.widest();
  if (elimination.has_registers() && !is_in_registers(widest)) {
    return eliminate<RowForm::searched, true>(parameters, next_counter, how);
  }
  switch (widest) {
    case RowForm::sum:
      return eliminate<RowForm::sum>(parameters, next_counter, how);
    case RowForm::targets:
      return eliminate<RowForm::targets>(parameters, next_counter, how);
    case RowForm::registers:
      return eliminate_ahead<1>(parameters, next_counter, kind, stream);
    case RowForm::two_registers:
      return eliminate_ahead<2>(parameters, next_counter, kind, stream);
    case RowForm::three_registers:
      return eliminate_ahead<3>(parameters, next_counter, kind, stream);
    case RowForm::rounds:
      return eliminate<RowForm::rounds>(parameters, next_counter, how);
    case RowForm::long_row:
    case RowForm::searched:
      return eliminate<RowForm::searched>(parameters, next_counter, how);
  }
}

}  // namespace

Factor::Factor() = default;
Factor::Factor(Factor&&) noexcept = default;
Factor& Factor::operator=(Factor&&) noexcept = default;
Factor::~Factor() = default;

Factor::Factor(Elimination&& elimination, FactorKind kind, Offset entries,
               const std::optional<engine::StaticOptions>& run, cudaStream_t stream)
    : elimination_(std::move(elimination)), kind_(kind), entry_count_(entries) {
  if (elimination_.rows() == 0) return;
  if (run) {
    program_ = std::make_unique<EliminationProgram>(elimination_, kind, *run, stream);
    return;
  }
  if (elimination_.listed()) make_slots(elimination_.slots(), stream);
}

void Factor::lend_entries(cudaStream_t stream) {
  if (entries_.size() > 0) return;
  lent_ = std::make_unique<cuda::ScratchArray<double>>(static_cast<std::size_t>(entry_count_), stream);
}

void Factor::keep_entries(cudaStream_t stream) {
  if (entries_.size() == 0) entries_ = {static_cast<std::size_t>(entry_count_), stream};
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
  begin_report(stream);
  const TaskList& tasks = elimination_.tasks();
  if (tasks.rows == 0) return;
  if (program_) {
    program_->enqueue({elimination_.view(), input, rule, entries(), inverse_pivots_.data(), report_.data()}, stream);
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
                              entries(),
                              inverse_pivots_.data(),
                              {report_.data()},
                              TicketCounter{counters_.data() + current_}};
  run_lists(elimination_, kind_, parameters, counters_.data() + next, stream);
  armed_ = true;
  finished_.record(stream);
}

void Factor::attempt(const FactorInput& input, const PivotRule& rule, EliminationMethod& method, double* unit,
                     cudaStream_t stream) {
  begin_report(stream);
  method.factor(input, rule, {entries(), inverse_pivots_.data(), unit, report_.data()}, stream);
  finished_.record(stream);
}

void Factor::begin_report(cudaStream_t stream) {
  if (!has_entries()) keep_entries(stream);
  if (inverse_pivots_.size() == 0) inverse_pivots_ = {static_cast<std::size_t>(elimination_.rows()), stream};
  if (reporting_) cuda::synchronize(stream);
  reporting_ = true;
  *report_.data() = FactorReport{};
}

FactorReport Factor::report() {
  if (elimination_.rows() > 0) finished_.wait();
  reporting_ = false;
  return *report_.data();
}

std::int64_t Factor::bytes() const {
  return elimination_.bytes() + entries_.bytes() + inverse_pivots_.bytes() + slots_[0].bytes() + slots_[1].bytes() +
         counters_.bytes() + (program_ ? program_->bytes() : 0);
}

}  // namespace taskdag::kernels
