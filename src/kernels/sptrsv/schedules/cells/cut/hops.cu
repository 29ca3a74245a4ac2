#include "backends/cuda/algorithm.cuh"
#include "kernels/sptrsv/analysis/longest_path.cuh"
#include "kernels/sptrsv/schedules/cells/cut/hops.hpp"

namespace taskdag::kernels::cells {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::ScratchArray;

// One word has a number for each candidate, in a field of 12 bits. Numbers take 11 of them, since there are fewer hops
// than cells; the top bit of each field is free, so that all fields can be compared at once.
using Fields = unsigned long long;
constexpr int kFieldBits = 12;
constexpr Fields kOnes = 0x001001001001001ULL;
constexpr Fields kTops = kOnes << (kFieldBits - 1);
constexpr Fields kLow = kTops - kOnes;
static_assert(kMostRuns == (1 << (kFieldBits - 1)) - 1);
static_assert(kCandidates * kFieldBits < 64);

__device__ int field(Fields fields, int k) { return static_cast<int>(fields >> (k * kFieldBits)) & kMostRuns; }

/// 1 in each field in which a and b differ, else 0.
__device__ Fields differing(Fields a, Fields b) { return ((((a ^ b) & kLow) + kLow) & kTops) >> (kFieldBits - 1); }

__device__ Fields larger(Fields a, Fields b) {
  const Fields not_less = ((a | kTops) - b) & kTops;  // the top bit is set in fields with a >= b
  const Fields take_a = not_less - (not_less >> (kFieldBits - 1));
  return (a & take_a) | (b & ~take_a & kLow);
}

struct HopsPath {
  using Length = Fields;
  static constexpr Fields kUnknown = ~Fields{0};
  static constexpr bool kMayStop = false;

  const Fields* cells_of;  ///< of each row, by candidate
  int* most_of_all;
  Fields most = 0;

  static __device__ Fields longer(Fields a, Fields b) { return larger(a, b); }
  static __device__ Fields longest(Fields hops) {
    for (int offset = cuda::kWarpSize / 2; offset > 0; offset /= 2) {
      hops = larger(hops, __shfl_xor_sync(cuda::kFullWarp, hops, offset));
    }
    return hops;
  }
  [[nodiscard]] __device__ Fields grown(Fields hops, Index from, Index to) const {
    return hops + differing(__ldg(cells_of + from), __ldg(cells_of + to));
  }
  __device__ void settle(Fields hops) { most = larger(most, hops); }
  [[nodiscard]] __device__ bool stopped() const { return false; }
  __device__ void finish(int lane) const {
    const Fields of_warp = longest(most);
    if (lane < kCandidates) atomicMax(most_of_all + lane, field(of_warp, lane));
  }
};

__global__ void list_cells(Runs finest, Fields* cells_of) {
  const auto row = static_cast<Index>(element());
  if (row >= finest.rows) return;
  const int cell = finest(row);
  Fields cells = 0;
  for (int k = 0; k < kCandidates; ++k) {
    const int coarse = cell * candidate(finest.cells, k) / finest.cells;
    cells |= static_cast<Fields>(coarse) << (k * kFieldBits);
  }
  cells_of[row] = cells;
}

}  // namespace

std::array<int, kCandidates> most_hops(const SweepInput& input, const Runs& finest, cudaStream_t stream) {
  std::array<int, kCandidates> result{};
  if (finest.rows == 0) return result;
  const auto rows = static_cast<std::size_t>(finest.rows);
  const ScratchArray<Fields> cells_of(rows, stream);
  const ScratchArray<Fields> hops(rows, stream);
  const ScratchArray<int> state(kCandidates + 1, stream);  // the most hops of each candidate, then the ticket
  cuda::check(cudaMemsetAsync(hops.data(), 0xFF, rows * sizeof(Fields), stream), "resetting hops");
  cuda::check(cudaMemsetAsync(state.data(), 0, state.size() * sizeof(int), stream), "resetting hops");
  list_cells<<<element_blocks(finest.rows), kElementBlock, 0, stream>>>(finest, cells_of.data());
  cuda::check_launch("list_cells");
  find_longest_paths(input.pattern, *input.ranges, input.triangle, HopsPath{cells_of.data(), state.data()}, hops.data(),
                     state.data() + kCandidates, stream);
  cuda::copy_to_host(result.data(), state.data(), kCandidates, stream);
  cuda::synchronize(stream);
  return result;
}

}  // namespace taskdag::kernels::cells
