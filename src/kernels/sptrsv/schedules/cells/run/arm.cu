#include "backends/cuda/algorithm.cuh"
#include "base/handover.hpp"
#include "kernels/sptrsv/schedules/cells/run/arm.hpp"

namespace taskdag::kernels::cells {
namespace {

__global__ void arm_all_slots(std::int64_t count, double* slots, double* spare, unsigned* tickets) {
  const std::int64_t k = cuda::element();
  if (k == 0) tickets[0] = tickets[1] = 0;
  if (k < count) slots[k] = spare[k] = not_yet();
}

}  // namespace

void arm_slots(std::int64_t count, double* slots, double* spare, unsigned* tickets, cudaStream_t stream) {
  arm_all_slots<<<cuda::element_blocks(count), cuda::kElementBlock, 0, stream>>>(count, slots, spare, tickets);
  cuda::check_launch("arm_all_slots");
}

}  // namespace taskdag::kernels::cells
