#include <bit>
#include <chrono>
#include <utility>

#include "backends/cuda/reduce.hpp"
#include "backends/cuda/scan.cuh"
#include "backends/cuda/scan.hpp"
#include "backends/cuda/seam.cuh"
#include "backends/cuda/sort.hpp"
#include "base/index.hpp"
#include "csr/gather.hpp"
#include "kernels/sptrsv/analysis/sweep_order.hpp"
#include "papers/helal/aggregation.hpp"

namespace taskdag::kernels {
namespace {

using cuda::element;
using cuda::element_blocks;
using cuda::kElementBlock;
using cuda::kFullWarp;
using cuda::kWarpSize;
using cuda::ScratchArray;

constexpr int kLaneBits = 3;  // of log2 of a row's lanes, 0 to 5

int bits_of(Index count) { return std::bit_width(static_cast<std::uint32_t>(count)); }

/// What rows are sorted by: adaptive task (where the levels do not say it), level, lanes. Rows are listed in the order
/// of the sweep, which a stable sort keeps inside a key. piece: rows of a task that are neighbours; 0: levels say it.
template <class Key>
__global__ void make_keys(SweepOrder sweep, const Index* level, const std::uint8_t* lanes, Index piece, int level_bits,
                          Key* key, Index* row_of_step) {
  const auto step = static_cast<Index>(element());
  if (step >= sweep.rows) return;
  const Index row = sweep(step);
  Key mine = piece > 0 ? static_cast<Key>(step / piece) << level_bits : 0;
  mine |= static_cast<Key>(level[row]);
  key[step] = mine << kLaneBits | lanes[row];
  row_of_step[step] = row;
}

__global__ void list_sweep(SweepOrder sweep, Index* order) {
  const auto step = static_cast<Index>(element());
  if (step < sweep.rows) order[step] = sweep(step);
}

/// The adaptive task of the row at each position.
struct TaskOf {
  Aggregation aggregation;
  Index granularity;
  SweepOrder sweep;
  const Index* level;
  const Index* task_of_level;  // concurrency

  __device__ Index operator()(Index position, Index row) const {
    switch (aggregation) {
      case Aggregation::sweep_order:
        return 0;
      case Aggregation::by_level:
        return level[row];
      case Aggregation::concurrency:
        return task_of_level[level[row]];
      case Aggregation::locality:
        return sweep(row) / granularity;
      case Aggregation::greedy:
        return position / granularity;
    }
    return 0;
  }
};

__global__ void assign_tasks(Index rows, TaskOf task_of, const Index* order, Index* task_of_row) {
  const auto p = static_cast<Index>(element());
  if (p < rows) task_of_row[order[p]] = task_of(p, order[p]);
}

/// pairs: bit `from` of row `to`, of `words` words: task `to` waits for task `from`; null: not wanted. A warp a row.
__global__ void find_edges(Index rows, EdgeList operands, const Index* task_of_row, Index* inside, char* tracked,
                           std::uint32_t* pairs, Index words) {
  const auto row = static_cast<Index>(element() / kWarpSize);
  if (row >= rows) return;  // a warp as a whole
  const Index task = task_of_row[row];
  const Index lane = static_cast<Index>(threadIdx.x) % kWarpSize;
  const Index count = operands.count[row];
  const Index* const column = operands.column + operands.first[row];
  int mine = 0;
  for (Index k = lane; k < count; k += kWarpSize) {
    const Index other = task_of_row[column[k]];
    if (other == task) {
      ++mine;
    } else if (pairs) {
      const cuda::DeviceAtomic<std::uint32_t> word(pairs[static_cast<std::size_t>(task) * words + other / 32]);
      const std::uint32_t bit = 1U << other % 32;
      // Mostly there already. The kernel's end orders it before who reads it.
      if (!(word.load(::cuda::memory_order_relaxed) & bit)) word.fetch_or(bit, ::cuda::memory_order_relaxed);
    }
  }
  mine = __reduce_add_sync(kFullWarp, mine);
  if (lane == 0) {
    inside[row] = mine;
    if (mine > 0) tracked[task] = 1;
  }
}

/// Rows that may share a warp: neighbours of one task, level and number of lanes.
struct Runs {
  Index rows;
  const Index* order;
  const Index* task_of_row;
  const Index* level;
  const std::uint8_t* lanes;

  __device__ bool begins(Index p) const {
    if (p == 0) return true;
    const Index row = order[p];
    const Index before = order[p - 1];
    return task_of_row[row] != task_of_row[before] || level[row] != level[before] || lanes[row] != lanes[before];
  }
};

__global__ void mark_runs(Runs runs, Index* begin) {
  const auto p = static_cast<Index>(element());
  if (p < runs.rows) begin[p] = runs.begins(p) ? p : 0;
}

/// begin: of the run of each position. One more element, for the sum's total.
__global__ void mark_row_tasks(Runs runs, const Index* begin, Index* starts) {
  const auto p = static_cast<Index>(element());
  if (p > runs.rows) return;
  starts[p] = p < runs.rows && (p - begin[p]) % (kWarpSize >> runs.lanes[runs.order[p]]) == 0 ? 1 : 0;
}

/// number[p]: row tasks that start before p.
__global__ void place_row_tasks(Index rows, const Index* number, Index* first) {
  const auto p = static_cast<Index>(element());
  if (p < rows && number[p + 1] > number[p]) first[number[p]] = p;
  if (p == rows) first[number[p]] = rows;
}

__global__ void fill_row_tasks(Index tasks, Runs runs, const Index* first, RowTask* task) {
  const auto k = static_cast<Index>(element());
  if (k >= tasks) return;
  task[k] = {first[k], static_cast<std::uint16_t>(first[k + 1] - first[k]), runs.lanes[runs.order[first[k]]]};
}

template <class Key>
void sort_rows(const FineDag& dag, SweepOrder sweep, const std::uint8_t* lanes, Index piece, int task_bits,
               Index* order, cudaStream_t stream) {
  const ScratchArray<Key> key(at(dag.rows), stream);
  const ScratchArray<Key> sorted_key(at(dag.rows), stream);
  const ScratchArray<Index> row_of_step(at(dag.rows), stream);
  const int level_bits = bits_of(dag.levels());
  make_keys<<<element_blocks(dag.rows), kElementBlock, 0, stream>>>(sweep, dag.level, lanes, piece, level_bits,
                                                                    key.data(), row_of_step.data());
  cuda::check_launch("make_keys");
  cuda::sort_pairs(key.data(), sorted_key.data(), row_of_step.data(), order, dag.rows,
                   task_bits + level_bits + kLaneBits, stream);
}

/// `tasks`: how many there are at most.
void order_rows(const FineDag& dag, Aggregation aggregation, Index granularity, const std::uint8_t* lanes, Index tasks,
                Index* order, cudaStream_t stream) {
  const SweepOrder sweep{dag.rows, dag.triangle == Triangle::lower};
  if (aggregation == Aggregation::sweep_order) {
    list_sweep<<<element_blocks(dag.rows), kElementBlock, 0, stream>>>(sweep, order);
    cuda::check_launch("list_sweep");
    return;
  }
  const Index piece = aggregation == Aggregation::locality ? granularity : 0;
  const int task_bits = piece > 0 ? bits_of(tasks) : 0;
  const bool narrow = task_bits + bits_of(dag.levels()) + kLaneBits <= 32;
  const auto sort = narrow ? sort_rows<std::uint32_t> : sort_rows<std::uint64_t>;
  sort(dag, sweep, lanes, piece, task_bits, order, stream);
}

/// The tasks that each waits for, from the bits of pairs.
void add_coarse_edges(const std::vector<std::uint32_t>& pairs, Index words, CoarseDag& coarse) {
  CoarseEdges edges(coarse);
  std::vector<Index> found;
  for (Index t = 0; t < coarse.tasks(); ++t) {
    found.clear();
    for (Index w = 0; w < words; ++w) {
      for (std::uint32_t remaining = pairs[at(t) * at(words) + at(w)]; remaining != 0; remaining &= remaining - 1) {
        found.push_back(32 * w + std::countr_zero(remaining));
      }
    }
    edges.add(found);
  }
}

/// Where tasks are runs of levels: each waits for the one before it, whose last level its first one waits for.
void add_chain(CoarseDag& coarse) {
  CoarseEdges edges(coarse);
  edges.add({});
  for (Index t = 1; t < coarse.tasks(); ++t) {
    const Index before = t - 1;
    edges.add({&before, 1});
  }
}

void add_row_tasks(const Runs& runs, const CoarseDag& coarse, SetOrder& result, cudaStream_t stream) {
  const std::size_t rows = at(runs.rows);
  const ScratchArray<Index> begin(rows, stream);
  const ScratchArray<Index> number(rows + 1, stream);
  mark_runs<<<element_blocks(runs.rows), kElementBlock, 0, stream>>>(runs, number.data());
  cuda::check_launch("mark_runs");
  cuda::inclusive_maximum_over(number.data(), begin.data(), runs.rows, stream);
  const int one_more = element_blocks(std::int64_t{runs.rows} + 1);
  mark_row_tasks<<<one_more, kElementBlock, 0, stream>>>(runs, begin.data(), number.data());
  cuda::check_launch("mark_row_tasks");
  cuda::exclusive_sum(number.data(), number.data(), std::int64_t{runs.rows} + 1, stream);
  const Index tasks = cuda::fetch(number.data() + rows, stream);
  const ScratchArray<Index> first(at(tasks) + 1, stream);
  place_row_tasks<<<one_more, kElementBlock, 0, stream>>>(runs.rows, number.data(), first.data());
  cuda::check_launch("place_row_tasks");
  result.task = {at(tasks), stream};
  fill_row_tasks<<<element_blocks(tasks), kElementBlock, 0, stream>>>(tasks, runs, first.data(), result.task.data());
  cuda::check_launch("fill_row_tasks");
  const auto position = cuda::upload<ScratchArray>(coarse.first, stream);
  result.first = {position.size(), stream};
  gather(static_cast<Index>(position.size()), number.data(), position.data(), result.first.data(), stream);
}

/// Without row tasks.
HierarchicalDag group(const FineDag& dag, Aggregation aggregation, Index granularity, const std::uint8_t* lanes,
                      cudaStream_t stream) {
  const std::size_t rows = at(dag.rows);
  // Made before: in braces within braces GCC 12 destroys a part twice where a later one throws.
  cuda::DeviceArray<Index> order_of_rows(rows, stream);
  ScratchArray<Index> task_of_row(rows, stream);
  ScratchArray<Index> inside(rows, stream);
  HierarchicalDag result{{}, {std::move(order_of_rows), {}, {}}, std::move(task_of_row), std::move(inside)};
  CoarseDag& coarse = result.coarse;
  Index* const order = result.rows.order.data();
  std::vector<Index> task_of_level;
  if (aggregation == Aggregation::concurrency) task_of_level = join_levels(dag.rows_of_level, granularity);
  coarse.first = first_positions(aggregation, granularity, dag.rows, dag.rows_of_level, task_of_level);
  const std::size_t tasks = at(coarse.tasks());

  order_rows(dag, aggregation, granularity, lanes, coarse.tasks(), order, stream);
  const auto device_task_of_level = cuda::upload<ScratchArray>(task_of_level, stream);
  assign_tasks<<<element_blocks(dag.rows), kElementBlock, 0, stream>>>(
      dag.rows,
      {aggregation, granularity, {dag.rows, dag.triangle == Triangle::lower}, dag.level, device_task_of_level.data()},
      order, result.task_of_row.data());
  cuda::check_launch("assign_tasks");

  const bool chain = aggregation == Aggregation::by_level || aggregation == Aggregation::concurrency;
  const Index words = chain ? 0 : pieces_of(coarse.tasks(), 32);
  const ScratchArray<std::uint32_t> pairs(tasks * at(words), stream);
  const ScratchArray<char> tracked(tasks, stream);
  cuda::check(cudaMemsetAsync(tracked.data(), 0, tasks, stream), "clearing marks");
  if (!chain) {
    cuda::check(cudaMemsetAsync(pairs.data(), 0, pairs.size() * sizeof(std::uint32_t), stream), "clearing pairs");
  }
  find_edges<<<element_blocks(std::int64_t{dag.rows} * kWarpSize), kElementBlock, 0, stream>>>(
      dag.rows, operands(dag), result.task_of_row.data(), result.inside.data(), tracked.data(),
      chain ? nullptr : pairs.data(), words);
  cuda::check_launch("find_edges");
  coarse.tracked = cuda::fetch_array(tracked.data(), tasks, stream);
  coarse.fine_edges = cuda::sum(result.inside.data(), dag.rows, stream);
  if (chain) {
    add_chain(coarse);
  } else {
    add_coarse_edges(cuda::fetch_array(pairs.data(), pairs.size(), stream), words, coarse);
  }
  return result;
}

HierarchicalDag within_limits(const FineDag& dag, Aggregation aggregation, Index granularity, const std::uint8_t* lanes,
                              cudaStream_t stream) {
  const bool sized = aggregation != Aggregation::by_level && aggregation != Aggregation::sweep_order;
  if (!sized) return group(dag, aggregation, granularity, lanes, stream);
  granularity = within_most_tasks(aggregation, granularity, dag.rows, dag.levels());
  for (;;) {
    HierarchicalDag result = group(dag, aggregation, granularity, lanes, stream);
    result.coarse.granularity = granularity;
    if (static_cast<std::int64_t>(result.coarse.predecessors.size()) <= kMaxCoarseEdges) return result;
    granularity = next_granularity(granularity, dag.rows);
  }
}

}  // namespace

HierarchicalDag aggregate(const FineDag& dag, Aggregation aggregation, Index granularity, const std::uint8_t* lanes,
                          cudaStream_t stream) {
  if (dag.rows == 0) return {{}, {}, {0, stream}, {0, stream}};
  const auto start = std::chrono::steady_clock::now();
  HierarchicalDag result = within_limits(dag, aggregation, granularity, lanes, stream);
  const Runs runs{dag.rows, result.rows.order.data(), result.task_of_row.data(), dag.level, lanes};
  add_row_tasks(runs, result.coarse, result.rows, stream);
  cuda::synchronize(stream);
  result.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace taskdag::kernels
