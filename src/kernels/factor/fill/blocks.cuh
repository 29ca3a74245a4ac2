/// \file
/// What a thread block does to fill a block of rows: blocks.hpp. Bitmaps have a row of `words` words for
/// each row of the block.
#pragma once

#include <cstdint>

#include "backends/cuda/algorithm.cuh"
#include "base/index.hpp"
#include "csr/pattern.hpp"

namespace taskdag::kernels::block_fill {

using Word = std::uint32_t;
inline constexpr Index kBits = 32;
inline constexpr int kThreads = 512;
inline constexpr int kLanes = 8;                 ///< that share a row
inline constexpr int kRows = kThreads / kLanes;  ///< in flight
inline constexpr int kLevelsKept = 3;            ///< of what a row has reached: in the last two levels, and in this one
inline constexpr unsigned kWarp = 0xFFFFFFFFU;

/// The block of rows of the calling thread block.
struct Rows {
  Index first;
  Index count;
  Index words;
  __device__ bool holds(Index row) const { return first <= row && row < first + count; }
};

inline __host__ __device__ Index words_of(Index rows) { return pieces_of(rows, kBits); }
inline __host__ __device__ std::int64_t bitmap_words(Index rows) { return std::int64_t{rows} * words_of(rows); }
/// Of both bitmaps and of what the rows in flight have reached.
inline __host__ __device__ std::int64_t work_words(Index rows) {
  return 2 * bitmap_words(rows) + std::int64_t{kLevelsKept} * kRows * words_of(rows);
}

/// Couplings inside the block. Bit (i, j) stands for a step from i to j.
struct Couplings {
  Word* by_entry;
  Word* by_detour;
};

/// The rows' entries, and where a row's entries of earlier blocks are found: in the row itself, or for an upper
/// triangle in the same row of its transposed.
struct Graph {
  DevicePattern entries;
  DevicePattern earlier;
  bool upper;  ///< entries stand for a symmetric matrix
};

inline __device__ void set_bit(Word* bitmap, const Rows& rows, Index i, Index j) {
  atomicOr(bitmap + std::int64_t{i} * rows.words + j / kBits, Word{1} << (j % kBits));
}

/// Bits of word w that stand for rows before `row`.
inline __device__ Word before(Index row, Index w) {
  if (w < row / kBits) return ~Word{0};
  return w == row / kBits ? (Word{1} << (row % kBits)) - 1 : Word{0};
}

/// Fills both bitmaps, of the transposed matrix if `transposed`.
inline __device__ void couple(const Graph& graph, const Rows& rows, bool transposed, const Couplings& couplings) {
  for (std::int64_t w = threadIdx.x; w < bitmap_words(rows.count); w += blockDim.x) {
    couplings.by_entry[w] = 0;
    couplings.by_detour[w] = 0;
  }
  __syncthreads();
  const auto step = [&](Word* bitmap, Index i, Index j) {
    if (transposed) {
      set_bit(bitmap, rows, j, i);
    } else {
      set_bit(bitmap, rows, i, j);
    }
  };
  const DevicePattern& a = graph.entries;
  const DevicePattern& back = graph.earlier;
  const auto lane = static_cast<Offset>(threadIdx.x % kLanes);
  for (Index i = static_cast<Index>(threadIdx.x / kLanes); i < rows.count; i += kRows) {
    const Index row = rows.first + i;
    for (Offset e = a.row_offsets[row] + lane; e < a.row_offsets[row + 1]; e += kLanes) {
      const Index j = a.col_indices[e];
      if (!rows.holds(j)) continue;
      step(couplings.by_entry, i, j - rows.first);
      if (graph.upper) step(couplings.by_entry, j - rows.first, i);
    }
    for (Offset e = back.row_offsets[row] + lane; e < back.row_offsets[row + 1]; e += kLanes) {
      const Index other = back.col_indices[e];
      if (other >= rows.first) break;
      const Offset end = a.row_offsets[other + 1];
      for (Offset f = cuda::first_not_below(a.col_indices, a.row_offsets[other], end, rows.first);
           f < end && rows.holds(a.col_indices[f]); ++f) {
        step(couplings.by_detour, i, a.col_indices[f] - rows.first);
      }
    }
  }
  __syncthreads();
}

/// Word w of what is one step from those rows of `from` that come before row i.
inline __device__ Word joined(const Word* bitmap, const Rows& rows, const Word* from, Index i, Index w) {
  Word all = 0;
  for (Index v = 0; v <= i / kBits; ++v) {
    for (Word bits = from[v] & before(i, v); bits != 0; bits &= bits - 1) {
      const Index row = v * kBits + __ffs(static_cast<int>(bits)) - 1;
      all |= bitmap[std::int64_t{row} * rows.words + w];
    }
  }
  return all;
}

/// Calls found(i, w, reached) with word w of all rows that row i of the block reaches by paths of at most levels + 1
/// entries through rows before it. `reached`: kLevelsKept · kRows rows of words.
template <class Found>
__device__ void search(const Rows& rows, const Couplings& couplings, Index levels, Word* reached, const Found& found) {
  const auto lane = static_cast<Index>(threadIdx.x % kLanes);
  const auto group = static_cast<Index>(threadIdx.x / kLanes);
  Word* const mine = reached + std::int64_t{kLevelsKept} * group * rows.words;
  for (Index first = 0; first < rows.count;
       first += kRows) {  // the same for all lanes of a warp: they wait for each other
    const Index i = first + group;
    const bool active = i < rows.count;
    const Word* last = couplings.by_entry + std::int64_t{i} * rows.words;
    const Word* last_but_one = nullptr;
    int unchanged = 0;
    for (Index level = 1; level <= levels && unchanged < 2; ++level) {
      Word* const now = mine + (level % kLevelsKept) * rows.words;
      bool changed = false;
      for (Index w = lane; active && w < rows.words; w += kLanes) {
        Word all = last[w] | joined(couplings.by_entry, rows, last, i, w);
        all |= last_but_one == nullptr ? couplings.by_detour[std::int64_t{i} * rows.words + w]
                                       : joined(couplings.by_detour, rows, last_but_one, i, w);
        changed |= all != last[w];
        now[w] = all;
      }
      unchanged = __any_sync(kWarp, changed) ? 0 : unchanged + 1;
      __syncwarp();
      last_but_one = last;
      last = now;
    }
    for (Index w = lane; active && w < rows.words; w += kLanes) found(i, w, last[w]);
    __syncwarp();
  }
  __syncthreads();
}

}  // namespace taskdag::kernels::block_fill
