#include "backends/cuda/algorithm.cuh"
#include "base/first_number.hpp"
#include "base/handover.hpp"
#include "kernels/sptrsv/schedules/cells/run/slot_sets.hpp"

namespace taskdag::kernels::cells {
namespace {

__global__ void arm_slots(std::int64_t count, bool zero_last, double* slots, double* spare, unsigned first,
                          unsigned* tickets) {
  const std::int64_t k = cuda::element();
  if (k == 0) tickets[0] = tickets[1] = first;
  if (k < count) slots[k] = spare[k] = zero_last && k + 1 == count ? 0.0 : not_yet();
}

}  // namespace

void SlotSets::reset(cudaStream_t stream) {
  const auto count = static_cast<std::int64_t>(slots_.size());
  const unsigned first = first_number;
  arm_slots<<<cuda::element_blocks(count), cuda::kElementBlock, 0, stream>>>(count, zero_last_, slots_.data(),
                                                                             spare_.data(), first, tickets_.data());
  cuda::check_launch("arm_slots");
  taken_ = {first, first};
  overlaps_ = false;
}

}  // namespace taskdag::kernels::cells
