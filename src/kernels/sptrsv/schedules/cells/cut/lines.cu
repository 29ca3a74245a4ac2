#include <algorithm>
#include <bit>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "kernels/sptrsv/schedules/cells/cut/lines.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

/// The sample: runs of consecutive rows, so that whole lines are in it.
constexpr Index kSampleRun = 128;
constexpr Index kSampleRuns = 512;

/// How many lines before a row an operand may be, −kReach to kReach.
constexpr int kDistances = 2 * Lines::kReach + 1;
constexpr int kBlocksPerMultiprocessor = 8;

__global__ void sample_distances(SweepOrder order, const Index* col_indices, const Offset* first, const Index* count,
                                 Index* least, Index* most) {
  __shared__ Index block_least[Distances::kOctaves];
  __shared__ Index block_most[Distances::kOctaves];
  for (int k = static_cast<int>(threadIdx.x); k < Distances::kOctaves; k += kElementBlock) {
    block_least[k] = order.rows;
    block_most[k] = 0;
  }
  __syncthreads();
  const auto number = static_cast<Index>(element());
  Index row = number;
  if (order.rows > kSampleRun * kSampleRuns) {
    const std::int64_t run = number / kSampleRun;
    row = static_cast<Index>(run * (order.rows - kSampleRun) / (kSampleRuns - 1)) + number % kSampleRun;
  }
  if (number < min(order.rows, kSampleRun * kSampleRuns)) {
    for (Index e = 0; e < count[row]; ++e) {
      const Index distance = order(row) - order(col_indices[first[row] + e]);
      const int octave = 31 - __clz(distance);
      // Most entries change nothing: reading first saves their atomic operations.
      if (distance < block_least[octave]) atomicMin(&block_least[octave], distance);
      if (distance > block_most[octave]) atomicMax(&block_most[octave], distance);
    }
  }
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < Distances::kOctaves; k += kElementBlock) {
    if (block_most[k] == 0) continue;
    atomicMin(&least[k], block_least[k]);
    atomicMax(&most[k], block_most[k]);
  }
}

/// What look_at_entries() finds, entries and most as in Lines.
struct Found {
  unsigned long long entries[2][kDistances];
  unsigned long long most[2][kDistances];
  unsigned long long misfits;  ///< entries that no such lines explain
  Index levels[3];  ///< of three rows: the last of the first line, the first of the second line, of the second plane
};

/// How many entries a row has by the planes and lines between it and their operands, 12 bits each.
struct RowReach {
  static constexpr int kBits = 12;
  static constexpr Index kMost = (1 << kBits) - 1;
  unsigned long long of[2] = {0, 0};
  __device__ void count(Index planes, Index lines) {
    const unsigned long long one = 1ULL << (kBits * (lines + Lines::kReach));
    if (planes == 0) {
      of[0] += one;
    } else {
      of[1] += one;
    }
  }
  __device__ unsigned operator()(int planes, int distance) const {
    return static_cast<unsigned>(of[planes] >> (kBits * distance)) & kMost;
  }
};

/// Adds the counts of a warp's threads to those of the block, in shared memory.
__device__ __forceinline__ void add_to_block(const unsigned (&entries)[2][kDistances],
                                             const unsigned (&most)[2][kDistances],
                                             unsigned long long (&block_entries)[2][kDistances],
                                             unsigned (&block_most)[2][kDistances]) {
#pragma unroll
  for (int p = 0; p < 2; ++p) {
#pragma unroll
    for (int l = 0; l < kDistances; ++l) {
      const unsigned sum = __reduce_add_sync(0xFFFFFFFFU, entries[p][l]);
      const unsigned largest = __reduce_max_sync(0xFFFFFFFFU, most[p][l]);
      if (threadIdx.x % 32 == 0 && sum > 0) {
        atomicAdd(&block_entries[p][l], sum);
        atomicMax(&block_most[p][l], largest);
      }
    }
  }
}

/// Counts the entries of all rows by the planes and lines between row and operand; a thread looks at a row at a time.
__global__ void look_at_entries(SweepOrder order, Index line, Index plane, const Index* col_indices,
                                const Offset* first, const Index* count, const Index* level, Found* found) {
  __shared__ unsigned long long block_entries[2][kDistances];
  __shared__ unsigned block_most[2][kDistances];
  for (int k = static_cast<int>(threadIdx.x); k < 2 * kDistances; k += kElementBlock) {
    block_entries[k / kDistances][k % kDistances] = 0;
    block_most[k / kDistances][k % kDistances] = 0;
  }
  __syncthreads();
  unsigned entries[2][kDistances] = {};
  unsigned most[2][kDistances] = {};
  unsigned misfits = 0;
  const auto threads = static_cast<Index>(gridDim.x * blockDim.x);
  for (auto row = static_cast<Index>(element()); row < order.rows; row += threads) {
    const Index step = order(row);
    const Index step_plane = step / plane;
    const Index step_line = step % plane / line;
    if (count[row] > RowReach::kMost) ++misfits;
    RowReach reach;
    for (Index e = 0; e < count[row]; ++e) {
      const Index from = order(__ldg(col_indices + first[row] + e));
      const Index planes = step_plane - from / plane;
      const Index lines = step_line - from % plane / line;
      if (planes > 1 || lines > Lines::kReach || lines < (planes == 0 ? 0 : -Lines::kReach)) {
        ++misfits;
      } else {
        reach.count(planes, lines);
      }
    }
#pragma unroll
    for (int p = 0; p < 2; ++p) {
#pragma unroll
      for (int l = 0; l < kDistances; ++l) {
        entries[p][l] += reach(p, l);
        most[p][l] = max(most[p][l], reach(p, l));
      }
    }
  }
  add_to_block(entries, most, block_entries, block_most);
  misfits = __reduce_add_sync(0xFFFFFFFFU, misfits);
  if (threadIdx.x % 32 == 0 && misfits > 0) atomicAdd(&found->misfits, misfits);
  __syncthreads();
  for (int k = static_cast<int>(threadIdx.x); k < 2 * kDistances; k += kElementBlock) {
    const int p = k / kDistances;
    const int l = k % kDistances;
    if (block_entries[p][l] == 0) continue;
    atomicAdd(&found->entries[p][l], block_entries[p][l]);
    atomicMax(&found->most[p][l], static_cast<unsigned long long>(block_most[p][l]));
  }
  if (element() == 0 && level != nullptr) {
    found->levels[0] = level[order(line - 1)];
    found->levels[1] = level[order(line)];
    found->levels[2] = plane < order.rows ? level[order(plane)] : 0;
  }
}

Distances sample(const SweepInput& input, cudaStream_t stream) {
  const Index rows = input.pattern.rows;
  const ScratchArray<Index> found(2 * Distances::kOctaves, stream);
  constexpr std::size_t kBytes = Distances::kOctaves * sizeof(Index);
  // The bytes 0x7F make 0x7F7F7F7F, which is larger than any distance that matters. `most` is 0 where there is none.
  cuda::check(cudaMemsetAsync(found.data(), 0x7F, kBytes, stream), "clearing distances");
  cuda::check(cudaMemsetAsync(found.data() + Distances::kOctaves, 0, kBytes, stream), "clearing distances");
  sample_distances<<<element_blocks(std::min(rows, kSampleRun * kSampleRuns)), kElementBlock, 0, stream>>>(
      order_of(input), input.pattern.col_indices, input.ranges->first.data(), input.ranges->count.data(), found.data(),
      found.data() + Distances::kOctaves);
  cuda::check_launch("sample_distances");
  const auto on_host = cuda::fetch_array(found.data(), found.size(), stream);
  Distances distances;
  std::copy_n(on_host.begin(), Distances::kOctaves, distances.least.begin());
  std::copy_n(on_host.begin() + Distances::kOctaves, Distances::kOctaves, distances.most.begin());
  return distances;
}

/// Checks guessed lines against all entries. @returns them with counts and levels; nothing where an entry does not fit
std::optional<Lines> with_entries(const SweepInput& input, Lines lines, cudaStream_t stream) {
  const ScratchArray<Found> result(1, stream);
  cuda::check(cudaMemsetAsync(result.data(), 0, sizeof(Found), stream), "clearing counts");
  const int blocks =
      std::min(element_blocks(lines.rows), cuda::device_limits().multiprocessors * kBlocksPerMultiprocessor);
  look_at_entries<<<blocks, kElementBlock, 0, stream>>>(
      order_of(input), lines.line, lines.plane, input.pattern.col_indices, input.ranges->first.data(),
      input.ranges->count.data(), input.levels != nullptr ? input.levels->level.data() : nullptr, result.data());
  cuda::check_launch("look_at_entries");
  const auto found = cuda::fetch(result.data(), stream);
  if (found.misfits > 0) return std::nullopt;
  for (std::size_t p = 0; p < 2; ++p) {
    for (std::size_t l = 0; l < kDistances; ++l) {
      lines.entries[p][l] = found.entries[p][l];
      lines.most[p][l] = found.most[p][l];
    }
  }
  for (Index ahead = 1; ahead <= Lines::kReach; ++ahead) {
    if (found.entries[1][Lines::kReach - ahead] > 0) lines.shear = ahead;
  }
  if (input.levels != nullptr) {
    lines.line_levels = found.levels[0] + 1;
    lines.levels_per_line = found.levels[1];
    lines.levels_per_plane = found.levels[2];
  }
  return lines;
}

}  // namespace

std::optional<Lines> find_lines(const SweepInput& input, cudaStream_t stream) {
  if (input.pattern.rows == 0) return std::nullopt;
  for (const Lines& guess : guess_lines(sample(input, stream), input.pattern.rows)) {
    if (auto lines = with_entries(input, guess, stream)) return lines;
  }
  return std::nullopt;
}

}  // namespace taskdag::kernels::cells
