#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/stream.hpp"
#include "krylov/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

__global__ void mark_kernel(Index rows, const Offset* offsets, std::uint32_t* words) {
  const auto row = static_cast<Index>(cuda::element());
  const unsigned any = __ballot_sync(cuda::kFullWarp, row < rows && offsets[row] < offsets[row + 1]);
  if (row < rows && row % cuda::kWarpSize == 0) words[row / cuda::kWarpSize] = any;
}

}  // namespace

std::int64_t count_entries(const CsrPattern& pattern, Stream stream) {
  if (pattern.rows == 0) return 0;
  return cuda::fetch(pattern.row_offsets + pattern.rows, static_cast<cudaStream_t>(stream.handle));
}

void mark_rows(const CsrPattern& pattern, std::uint32_t* words, Stream stream) {
  if (pattern.rows == 0) return;
  mark_kernel<<<cuda::element_blocks(pattern.rows), cuda::kElementBlock, 0, static_cast<cudaStream_t>(stream.handle)>>>(
      pattern.rows, pattern.row_offsets, words);
  cuda::check_launch("mark_kernel");
}

void require_not_captured(const Context& context, Stream stream) {
  if (context.backend() != Backend::cuda) return;
  if (cuda::is_capturing(static_cast<cudaStream_t>(stream.handle))) {
    throw InvalidInput("a solve by a Krylov method waits for its outcome and cannot be captured");
  }
}

}  // namespace taskdag::krylov
