#include <vector>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/stream.hpp"
#include "krylov/device.hpp"
#include "krylov/shape.hpp"
#include "taskdag/engine/loop/stage.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

__global__ void mark_kernel(Index rows, const Offset* offsets, std::uint32_t* words) {
  const auto row = static_cast<Index>(cuda::element());
  const unsigned any = __ballot_sync(cuda::kFullWarp, row < rows && offsets[row] < offsets[row + 1]);
  if (row < rows && row % cuda::kWarpSize == 0) words[row / cuda::kWarpSize] = any;
}

__global__ void distances_kernel(CsrPattern pattern, std::int16_t* distance, std::uint32_t* far) {
  constexpr Index most = 32767;  // that 16 bits hold
  const auto row = static_cast<Index>(cuda::element());
  if (row >= pattern.rows) return;
  bool all_fit = true;
  for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
    const Index d = pattern.col_indices[e] - row;
    all_fit = all_fit && -most <= d && d <= most;
    distance[e] = static_cast<std::int16_t>(d);
  }
  if (!all_fit) *far = 1;
}

/// Sets word k where groups of k + 2 rows do not have the same columns each.
__global__ void differences_kernel(CsrPattern pattern, std::uint32_t* differs) {
  static_assert(engine::TaskGroup::most == 3);
  const auto row = static_cast<Index>(cuda::element());
  if (row >= pattern.rows) return;
  const volatile std::uint32_t* const known = differs;  // most matrices differ at once
  const bool counts_in_2 = row % 2 != 0 && known[0] == 0;
  const bool counts_in_3 = row % 3 != 0 && known[1] == 0;
  if ((!counts_in_2 && !counts_in_3) || has_columns_of_row_before(pattern, row)) return;
  if (counts_in_2) differs[0] = 1;
  if (counts_in_3) differs[1] = 1;
}

}  // namespace

std::uint32_t rows_together(const Context& context, const CsrPattern& pattern, std::int64_t entries, Stream stream) {
  constexpr std::int64_t entries_of_row = 20;  // with 18 a row, two of them together take as long as one by one
  constexpr Index least_rows = 12000;          // fewer groups have too few threads for a device
  const bool gains = entries >= DiagonalDistances::least_entries && entries >= entries_of_row * pattern.rows;
  if (!gains || pattern.rows < least_rows) return 1;
  const auto on = static_cast<cudaStream_t>(stream.handle);
  const engine::Array<std::uint32_t> differs(
      context, std::vector<std::uint32_t>{pattern.rows % 2 != 0 ? 1U : 0U, pattern.rows % 3 != 0 ? 1U : 0U});
  differences_kernel<<<cuda::element_blocks(pattern.rows), cuda::kElementBlock, 0, on>>>(pattern, differs.data());
  cuda::check_launch("differences_kernel");
  const std::vector<std::uint32_t> found = cuda::fetch_array(differs.data(), 2, on);
  return found[1] == 0 ? 3U : found[0] == 0 ? 2U : 1U;
}

DiagonalDistances::DiagonalDistances(const Context& context, const CsrPattern& pattern, std::int64_t entries,
                                     Stream stream) {
  if (pattern.rows != pattern.cols || entries < least_entries) return;
  const auto on = static_cast<cudaStream_t>(stream.handle);
  distances_ = engine::Array<std::int16_t>(context, static_cast<std::size_t>(entries));
  const engine::Array<std::uint32_t> far(context, std::vector<std::uint32_t>{0U});
  distances_kernel<<<cuda::element_blocks(pattern.rows), cuda::kElementBlock, 0, on>>>(pattern, distances_.data(),
                                                                                       far.data());
  cuda::check_launch("distances_kernel");
  fit_ = cuda::fetch(far.data(), on) == 0U;
  if (!fit_) distances_ = {};
}

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
