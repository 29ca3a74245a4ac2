#include <algorithm>
#include <vector>

#include "backends/cuda/device.hpp"
#include "backends/cuda/scan.hpp"
#include "kernels/factor/fill/blocks.cuh"
#include "kernels/factor/fill/blocks.hpp"

namespace taskdag::kernels {
namespace {

using namespace block_fill;
using cuda::ScratchArray;

/// Blocks of rows, and where their words begin.
struct Blocks {
  const Index* first;           ///< row; one more than there are blocks
  const std::int64_t* pattern;  ///< word of the filled pattern: bitmaps, one behind the other
  const std::int64_t* work;     ///< word of the work space in device memory
  __device__ Rows rows(Index block) const {
    const Index count = first[block + 1] - first[block];
    return {first[block], count, words_of(count)};
  }
};

/// Bits of word w that stand for row i and those behind it.
__device__ Word from(Index i, Index w) { return ~before(i, w); }

/// Entries of `row` before and behind its block, as a range of each.
struct Outside {
  Offset begin, inside, behind, end;
  __device__ Outside(const DevicePattern& a, const Rows& rows, Index row)
      : begin(a.row_offsets[row]),
        inside(cuda::first_not_below(a.col_indices, begin, a.row_offsets[row + 1], rows.first)),
        behind(cuda::first_not_below(a.col_indices, inside, a.row_offsets[row + 1], rows.first + rows.count)),
        end(a.row_offsets[row + 1]) {}
  [[nodiscard]] __device__ Offset entries() const { return inside - begin + end - behind; }
};

/// The filled pattern inside a block of rows.
__device__ void fill_block(const Graph& graph, const Rows& rows, Index levels, Word* space, Word* result) {
  const Couplings couplings{space, space + bitmap_words(rows.count)};
  Word* const kept = space + 2 * bitmap_words(rows.count);
  couple(graph, rows, false, couplings);
  search(rows, couplings, levels, kept, [&](Index i, Index w, Word reached) {
    const std::int64_t at = std::int64_t{i} * rows.words + w;
    result[at] = (reached & from(i, w)) | (graph.upper ? 0 : couplings.by_entry[at] & before(i, w));
  });
  if (!graph.upper) {
    couple(graph, rows, true, couplings);
    search(rows, couplings, levels, kept, [&](Index j, Index w, Word reached) {
      const Word fill = reached & from(j, w) & ~couplings.by_entry[std::int64_t{j} * rows.words + w];
      for (Word bits = fill; bits != 0; bits &= bits - 1) {
        set_bit(result, rows, w * kBits + __ffs(static_cast<int>(bits)) - 1, j);
      }
    });
  }
}

/// A thread block a block of rows: the filled pattern inside the block as a bitmap, and the lengths of its rows.
/// `work`: null where shared memory does.
__global__ void __launch_bounds__(kThreads)
    fill_kernel(Graph graph, Blocks blocks, Index levels, Word* work, Word* pattern, std::int64_t* length) {
  extern __shared__ Word shared[];
  const auto block = static_cast<Index>(blockIdx.x);
  const Rows rows = blocks.rows(block);
  Word* const space = work != nullptr ? work + blocks.work[block] : shared;
  Word* const result = pattern + blocks.pattern[block];
  if (rows.count > 1) {
    fill_block(graph, rows, levels, space, result);
  } else if (threadIdx.x == 0) {
    *result = 1;  // the diagonal: a row by itself, which may be a long one
  }
  for (auto i = static_cast<Index>(threadIdx.x); i < rows.count; i += kThreads) {
    std::int64_t entries = Outside(graph.entries, rows, rows.first + i).entries();
    for (Index w = 0; w < rows.words; ++w) entries += __popc(result[std::int64_t{i} * rows.words + w]);
    length[rows.first + i] = entries;
  }
}

__global__ void narrow_kernel(std::int64_t n, const std::int64_t* in, Offset* out) {
  const std::int64_t k = cuda::element();
  if (k < n) out[k] = static_cast<Offset>(in[k]);
}

/// Entry e of the input becomes entry `to` of the result.
struct Copy {
  const Offset* source;  ///< of the input; null: entry e is its own
  Index* col_indices;
  Offset* sources;
  __device__ void operator()(Offset e, Index column, Offset to) const {
    col_indices[to] = column;
    sources[to] = e < 0 || source == nullptr ? e : source[e];
  }
};

/// The rows' entries: those before the block, those of the bitmap, those behind the block.
__global__ void __launch_bounds__(kThreads)
    write_kernel(DevicePattern a, Blocks blocks, const Word* pattern, const Offset* row_offsets, Copy copy) {
  const auto block = static_cast<Index>(blockIdx.x);
  const Rows rows = blocks.rows(block);
  const Word* const bitmap = pattern + blocks.pattern[block];
  // A row by itself may be long: all threads copy it, and each group of lanes writes its one bit.
  const Index sharers = rows.count == 1 ? kThreads : kLanes;
  const auto thread = static_cast<Index>(threadIdx.x);
  const Index lane = thread % kLanes;
  for (Index first = 0; first < rows.count; first += kRows) {  // the same for all lanes of a warp
    const Index i = first + thread / sharers;
    const bool active = i < rows.count;
    const Index row = rows.first + (active ? i : 0);
    const Outside outside(a, rows, row);
    Offset to = row_offsets[row];
    for (Offset e = outside.begin + thread % sharers; active && e < outside.inside; e += sharers) {
      copy(e, a.col_indices[e], to + e - outside.begin);
    }
    to += outside.inside - outside.begin;
    for (Index start = 0; start < rows.words; start += kLanes) {
      const Index w = start + lane;
      const Word mine = active && w < rows.words ? bitmap[std::int64_t{i} * rows.words + w] : 0;
      Offset sum = __popc(mine);
      for (int distance = 1; distance < kLanes; distance *= 2) {
        const Offset other = __shfl_up_sync(kWarp, sum, static_cast<unsigned>(distance), kLanes);
        if (lane >= distance) sum += other;
      }
      Offset next = to + sum - __popc(mine);
      for (Word bits = mine; bits != 0; bits &= bits - 1) {
        const Index column = rows.first + w * kBits + __ffs(static_cast<int>(bits)) - 1;
        const Offset e = cuda::first_not_below(a.col_indices, outside.inside, outside.behind, column);
        copy(e < outside.behind && a.col_indices[e] == column ? e : -1, column, next++);
      }
      to += __shfl_sync(kWarp, sum, kLanes - 1, kLanes);
    }
    for (Offset e = outside.behind + thread % sharers; active && e < outside.end; e += sharers) {
      copy(e, a.col_indices[e], to + e - outside.behind);
    }
  }
}

/// The blocks that have rows, and their words, in device memory.
class DeviceBlocks {
 public:
  DeviceBlocks(const RowBlocks& blocks, cudaStream_t stream) : DeviceBlocks(measure(blocks), stream) {}

  [[nodiscard]] Blocks view() const { return {first_.data(), pattern_.data(), work_.data()}; }
  [[nodiscard]] Index count() const { return count_; }
  [[nodiscard]] std::int64_t pattern_words() const { return sizes_.pattern.back(); }
  [[nodiscard]] std::int64_t work_words() const { return sizes_.work.back(); }
  /// The work space of the largest block.
  [[nodiscard]] std::int64_t most_work_words() const { return sizes_.most_work; }

 private:
  struct Sizes {
    std::vector<Index> first{0};
    std::vector<std::int64_t> pattern{0};
    std::vector<std::int64_t> work{0};
    std::int64_t most_work = 0;
  };

  static Sizes measure(const RowBlocks& blocks) {
    Sizes sizes;
    for (std::size_t b = 1; b < blocks.block_offsets.size(); ++b) {
      const Index rows = blocks.block_offsets[b] - blocks.block_offsets[b - 1];
      if (rows == 0) continue;
      const std::int64_t work = block_fill::work_words(rows);
      sizes.first.push_back(blocks.block_offsets[b]);
      sizes.pattern.push_back(sizes.pattern.back() + bitmap_words(rows));
      sizes.work.push_back(sizes.work.back() + work);
      sizes.most_work = std::max(sizes.most_work, work);
    }
    return sizes;
  }

  DeviceBlocks(Sizes sizes, cudaStream_t stream)
      : sizes_(std::move(sizes)),
        count_(static_cast<Index>(sizes_.first.size()) - 1),
        first_(cuda::upload<ScratchArray>(sizes_.first, stream)),
        pattern_(cuda::upload<ScratchArray>(sizes_.pattern, stream)),
        work_(cuda::upload<ScratchArray>(sizes_.work, stream)) {}

  Sizes sizes_;
  Index count_;
  ScratchArray<Index> first_;
  ScratchArray<std::int64_t> pattern_;
  ScratchArray<std::int64_t> work_;
};

/// fill_kernel in shared memory if the largest block fits into it, else in device memory.
void launch_fill(const Graph& graph, const DeviceBlocks& blocks, Index levels, Word* pattern, std::int64_t* length,
                 cudaStream_t stream) {
  const std::size_t bytes = static_cast<std::size_t>(blocks.most_work_words()) * sizeof(Word);
  const bool fits = bytes <= cuda::most_shared_bytes();
  const ScratchArray<Word> work(fits ? 0 : static_cast<std::size_t>(blocks.work_words()), stream);
  if (fits) {
    cuda::check(cudaFuncSetAttribute(fill_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
                "asking for shared memory");
  }
  fill_kernel<<<static_cast<unsigned>(blocks.count()), kThreads, fits ? bytes : 0, stream>>>(
      graph, blocks.view(), levels, work.data(), pattern, length);
  cuda::check_launch("fill_kernel");
}

}  // namespace

DeviceCsr fill_in_blocks(const DeviceCsr& pattern, FactorKind kind, const RowBlocks& blocks, Index levels,
                         cudaStream_t stream) {
  const DevicePattern a = pattern.pattern();
  const auto rows = static_cast<std::size_t>(a.rows);
  const bool upper = kind == FactorKind::ic;
  const DeviceCsr lower = upper ? transpose_pattern(a, stream) : DeviceCsr{};
  const DeviceBlocks device_blocks(blocks, stream);
  const ScratchArray<Word> bitmaps(static_cast<std::size_t>(device_blocks.pattern_words()), stream);
  const ScratchArray<std::int64_t> sum(rows + 1, stream);
  if (rows > 0) {
    launch_fill({a, upper ? lower.pattern() : a, upper}, device_blocks, levels, bitmaps.data(), sum.data(), stream);
  }
  cuda::exclusive_sum(sum.data(), sum.data(), static_cast<std::int64_t>(rows) + 1, stream);
  const Offset entries = checked_offset(cuda::fetch(sum.data() + rows, stream), "the filled pattern");
  const auto size = static_cast<std::size_t>(entries);
  DeviceCsr result{a.rows, entries, {rows + 1, stream}, {size, stream}, {size, stream}};
  narrow_kernel<<<cuda::element_blocks(std::int64_t{a.rows} + 1), cuda::kElementBlock, 0, stream>>>(
      std::int64_t{a.rows} + 1, sum.data(), result.row_offsets.data());
  cuda::check_launch("narrow_kernel");
  if (rows > 0) {
    write_kernel<<<static_cast<unsigned>(device_blocks.count()), kThreads, 0, stream>>>(
        a, device_blocks.view(), bitmaps.data(), result.row_offsets.data(),
        {pattern.source.data(), result.col_indices.data(), result.source.data()});
    cuda::check_launch("write_kernel");
  }
  return result;
}

}  // namespace taskdag::kernels
