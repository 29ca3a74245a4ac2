#include <utility>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/stream.hpp"
#include "kernels/sptrsv/schedules/blocks/layout_sweep.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.cuh"

namespace taskdag::kernels::supersteps {
namespace {

constexpr int kListThreads = 128;

/// A block a portion: its rows in ascending order, where they are consecutive ones; else as they are.
__global__ void __launch_bounds__(kListThreads)
    order_by_row(const Portion* portion, const Index* row, std::uint16_t* local) {
  const Portion mine = portion[blockIdx.x];
  __shared__ Index least;
  __shared__ Index most;
  const auto t = static_cast<Index>(threadIdx.x);
  if (t == 0) least = most = row[mine.first];
  __syncthreads();
  for (Index r = t; r < mine.rows; r += kListThreads) {
    atomicMin(&least, row[mine.first + r]);
    atomicMax(&most, row[mine.first + r]);
  }
  __syncthreads();
  const bool consecutive = most - least + 1 == mine.rows;
  for (Index r = t; r < mine.rows; r += kListThreads) {
    const Index rank = consecutive ? row[mine.first + r] - least : r;
    local[mine.first + rank] = static_cast<std::uint16_t>(r);
  }
}

/// Place of a portion's rows in the order of `local`, or in that of the places.
__device__ Index place_of(const Portion& portion, const std::uint16_t* local, Index r) {
  return portion.first + (local ? Index{local[portion.first + r]} : r);
}

__device__ Index element_of(const Index* vector_index, Index row) { return vector_index ? vector_index[row] : row; }

/// A block a portion: adds to neighbours[0] how many neighbours in the order of the places are neighbours in the
/// vector, to neighbours[1] how many are in the order of `local`.
__global__ void __launch_bounds__(kListThreads)
    count_neighbours(const Portion* portion, const Index* row, const std::uint16_t* local, const Index* vector_index,
                     unsigned long long* neighbours) {
  const Portion mine = portion[blockIdx.x];
  __shared__ unsigned count[2];
  if (threadIdx.x < 2) count[threadIdx.x] = 0;
  __syncthreads();
  for (auto r = static_cast<Index>(threadIdx.x); r + 1 < mine.rows; r += kListThreads) {
    for (int by_row = 0; by_row < 2; ++by_row) {
      const auto element = [&](Index k) {
        return element_of(vector_index, row[place_of(mine, by_row != 0 ? local : nullptr, k)]);
      };
      if (abs(element(r + 1) - element(r)) == 1) atomicAdd(&count[by_row], 1U);
    }
  }
  __syncthreads();
  if (threadIdx.x < 2) atomicAdd(&neighbours[threadIdx.x], static_cast<unsigned long long>(count[threadIdx.x]));
}

/// A block a portion: where its rows are in a vector, counted from the first one of the list, which is its `base`.
__global__ void __launch_bounds__(kListThreads)
    list_elements(Portion* portion, bool of_x, const Index* row, const std::uint16_t* local, const Index* vector_index,
                  Index* index) {
  const Portion mine = portion[blockIdx.x];
  const Index first = element_of(vector_index, row[place_of(mine, local, 0)]);
  if (threadIdx.x == 0) (of_x ? portion[blockIdx.x].x_base : portion[blockIdx.x].rhs_base) = first;
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    index[mine.first + r] = element_of(vector_index, row[place_of(mine, local, r)]) - first;
  }
}

/// A block a portion: the first index of each kRun, or kNone in the first place if one is not followed by kRun - 1
/// neighbours.
__global__ void __launch_bounds__(kListThreads) list_runs(const Portion* portion, const Index* index, Index* run) {
  const Portion mine = portion[blockIdx.x];
  Index* const its_run = run + mine.first / kRun;
  bool breaks = false;
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    const Index of = index[mine.first + r];
    if (r % kRun == 0) {
      its_run[r / kRun] = of;
    } else {
      breaks = breaks || of != index[mine.first + r - 1] + 1;
    }
  }
  if (__syncthreads_or(breaks ? 1 : 0) != 0 && threadIdx.x == 0) its_run[0] = kNone;
}

/// A block a portion: where results of its rows are.
__global__ void __launch_bounds__(kListThreads)
    list_results(const Portion* portion, const Index* row, const std::uint16_t* local, Index* result_index) {
  const Portion mine = portion[blockIdx.x];
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    result_index[row[place_of(mine, local, r)]] = mine.first + r;
  }
}

/// A block a portion: where its operands in other portions are in x, counted from its base there, and among the results
/// (in place of the operands' places), counted from its first one.
__global__ void __launch_bounds__(kListThreads)
    list_outer(const Portion* portion, const Index* row, const Index* result_index, const Index* x_index, Index* place,
               Index* element) {
  const Portion mine = portion[blockIdx.x];
  for (auto e = static_cast<Index>(threadIdx.x); e < mine.outer_entries; e += kListThreads) {
    const Index operand = place[mine.outer + e] < 0 ? -1 : row[place[mine.outer + e]];
    element[mine.outer + e] = operand < 0 ? kNone : element_of(x_index, operand) - mine.x_base;
    place[mine.outer + e] = operand < 0 ? kNone : result_index[operand] - mine.first;
  }
}

// Of portions whose rows are consecutive ones: a block a portion. local: as UserRows::local.

__global__ void __launch_bounds__(kListThreads)
    find_first_rows(const Portion* portion, const Index* row, Index* first_row) {
  const Portion mine = portion[blockIdx.x];
  __shared__ Index least;
  if (threadIdx.x == 0) least = row[mine.first];
  __syncthreads();
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    atomicMin(&least, row[mine.first + r]);
  }
  __syncthreads();
  if (threadIdx.x == 0) first_row[blockIdx.x] = least;
}

__global__ void __launch_bounds__(kListThreads)
    list_rows(const Portion* portion, const Index* first_row, const std::uint16_t* local, Index* row) {
  const Portion mine = portion[blockIdx.x];
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    row[mine.first + local[mine.inner_pattern + r]] = first_row[blockIdx.x] + r;
  }
}

__global__ void __launch_bounds__(kListThreads)
    list_consecutive_results(const Portion* portion, const Index* first_row, Index* result_index) {
  const Portion mine = portion[blockIdx.x];
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    result_index[first_row[blockIdx.x] + r] = mine.first + r;
  }
}

__global__ void __launch_bounds__(kListThreads)
    take_pivots_of_portions(const Portion* portion, const Index* first_row, const std::uint16_t* local,
                            const double* pivot, double* by_place) {
  const Portion mine = portion[blockIdx.x];
  for (auto r = static_cast<Index>(threadIdx.x); r < mine.rows; r += kListThreads) {
    by_place[mine.first + local[mine.inner_pattern + r]] = pivot[first_row[blockIdx.x] + r];
  }
}

__global__ void take_pivots(Index places, const Index* row, const double* pivot, double* by_place) {
  const std::int64_t p = cuda::element();
  if (p < places) by_place[p] = row[p] < 0 ? 1.0 : pivot[row[p]];
}

}  // namespace

LayoutSweep::LayoutSweep(Layout layout, const SweepInput& input, cudaStream_t stream) : layout_(std::move(layout)) {
  const auto places = static_cast<std::size_t>(layout_.places);
  layout_.place = {};
  if (layout_.portions() > 0) {
    const auto portions = static_cast<unsigned>(layout_.portions());
    by_row_ = {places, stream};
    order_by_row<<<portions, kListThreads, 0, stream>>>(layout_.portion.data(), layout_.row.data(), by_row_.data());
    cuda::check_launch("order_by_row");
    const cuda::ScratchArray<unsigned long long> neighbours(4, stream);
    cuda::check(cudaMemsetAsync(neighbours.data(), 0, 4 * sizeof(unsigned long long), stream), "clearing counters");
    for (const int of_x : {0, 1}) {
      count_neighbours<<<portions, kListThreads, 0, stream>>>(
          layout_.portion.data(), layout_.row.data(), by_row_.data(), of_x != 0 ? input.x_index : input.rhs_index,
          neighbours.data() + 2 * of_x);
      cuda::check_launch("count_neighbours");
    }
    const std::vector<unsigned long long> counts = cuda::fetch_array(neighbours.data(), 4, stream);
    rhs_rows_ = list(false, input.rhs_index, counts[1] > counts[0], stream);
    x_rows_ = list(true, input.x_index, counts[3] > counts[2], stream);
    outer_element_ = {static_cast<std::size_t>(layout_.outer_entries), stream};
    result_index_ = {static_cast<std::size_t>(layout_.rows), stream};
    list_results<<<portions, kListThreads, 0, stream>>>(layout_.portion.data(), layout_.row.data(), by_row_.data(),
                                                        result_index_.data());
    cuda::check_launch("list_results");
    list_outer<<<portions, kListThreads, 0, stream>>>(layout_.portion.data(), layout_.row.data(), result_index_.data(),
                                                      input.x_index, layout_.outer_place.data(), outer_element_.data());
    cuda::check_launch("list_outer");
    if (layout_.row_entries > 0) {  // then lists of rows are in shared memory
      find_runs(rhs_rows_, stream);
      find_runs(x_rows_, stream);
    }
    share_patterns(layout_, {rhs_rows_.index.data(), x_rows_.index.data(), by_row_.data(), outer_element_.data()},
                   stream);
    keep_patterns(stream);
  }
  cuda::synchronize(stream);  // the input's arrays may go
}

void LayoutSweep::keep_patterns(cudaStream_t stream) {
  const KeptPatterns kept(layout_, stream);
  kept.move_by_place(by_row_, stream);
  kept.move_by_outer_entry(outer_element_, stream);
  for (Elements* const of : {&rhs_rows_, &x_rows_}) {
    kept.move_by_place(of->index, stream);
    kept.move_by_run(of->run, stream);
  }
}

void LayoutSweep::rely_on(const DevicePattern& pattern, Triangle triangle) {
  if (layout_.portions() == 0) return;
  const cuda::UniqueStream own;
  if (!consecutive_) {
    ConsecutiveRows rows{pattern, triangle, {static_cast<std::size_t>(layout_.portions()), own.get()}, by_row_.data()};
    find_first_rows<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, own.get()>>>(
        layout_.portion.data(), layout_.row.data(), rows.first.data());
    cuda::check_launch("find_first_rows");
    cuda::synchronize(own.get());
    consecutive_ = std::move(rows);
  }
  layout_.row = {};
  layout_.inner_source = {};
  layout_.outer_source = {};
  result_index_ = {};
}

const Index* LayoutSweep::rows_by_place(cudaStream_t stream) {
  if (layout_.row.size() == 0 && layout_.places > 0) {
    cuda::DeviceArray<Index> rows(static_cast<std::size_t>(layout_.places), stream);
    set_bytes(rows, 0xff, stream);
    list_rows<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, stream>>>(
        layout_.portion.data(), consecutive_->first.data(), by_row_.data(), rows.data());
    cuda::check_launch("list_rows");
    layout_.row = std::move(rows);  // not before: after a failure the next call makes them anew
  }
  return layout_.row.data();
}

const Index* LayoutSweep::result_index() const {
  if (result_index_.size() == 0 && layout_.rows > 0) {
    const cuda::RelaxedCapture relaxed;
    const cuda::UniqueStream own;
    cuda::DeviceArray<Index> index(static_cast<std::size_t>(layout_.rows), own.get());
    list_consecutive_results<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, own.get()>>>(
        layout_.portion.data(), consecutive_->first.data(), index.data());
    cuda::check_launch("list_consecutive_results");
    cuda::synchronize(own.get());
    result_index_ = std::move(index);  // not before: after a failure the next call makes it anew
  }
  return result_index_.data();
}

void LayoutSweep::write_values(double* entries, cudaStream_t stream) const {
  if (consecutive_) {
    supersteps::return_values(layout_, *consecutive_, entries, stream);
  } else {
    supersteps::return_values(layout_, entries, stream);
  }
}

void LayoutSweep::reserve_result(cudaStream_t stream) {
  if (result_.size() == 0) result_ = {static_cast<std::size_t>(layout_.places), stream};
}

LayoutSweep::Elements LayoutSweep::list(bool of_x, const Index* vector_index, bool by_row, cudaStream_t stream) {
  Elements result{{static_cast<std::size_t>(layout_.places), stream}, by_row, {}};
  list_elements<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, stream>>>(
      layout_.portion.data(), of_x, layout_.row.data(), by_row ? by_row_.data() : nullptr, vector_index,
      result.index.data());
  cuda::check_launch("list_elements");
  return result;
}

void LayoutSweep::find_runs(Elements& of, cudaStream_t stream) {
  of.run = {static_cast<std::size_t>(layout_.places / kRun), stream};
  list_runs<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, stream>>>(layout_.portion.data(),
                                                                                    of.index.data(), of.run.data());
  cuda::check_launch("list_runs");
}

void LayoutSweep::load_values(const double* source, const double* pivot, cudaStream_t stream) {
  make_values(layout_, stream);
  if (consecutive_) {
    supersteps::load_values(layout_, *consecutive_, source, stream);
  } else {
    supersteps::load_values(layout_, source, stream);
  }
  unit_pivots_ = pivot == nullptr;
  if (unit_pivots_) reserve_result(stream);
  if (unit_pivots_ || layout_.places == 0) return;
  if (pivot_.size() == 0) {
    cuda::DeviceArray<double> zeros(static_cast<std::size_t>(layout_.places), stream);
    set_bytes(zeros, 0, stream);
    pivot_ = std::move(zeros);
  }
  if (consecutive_) {
    take_pivots_of_portions<<<static_cast<unsigned>(layout_.portions()), kListThreads, 0, stream>>>(
        layout_.portion.data(), consecutive_->first.data(), by_row_.data(), pivot, pivot_.data());
    cuda::check_launch("take_pivots_of_portions");
  } else {
    take_pivots<<<cuda::element_blocks(layout_.places), cuda::kElementBlock, 0, stream>>>(
        layout_.places, layout_.row.data(), pivot, pivot_.data());
    cuda::check_launch("take_pivots");
  }
}

PortionArguments LayoutSweep::arguments(const double* rhs, double* x, int* non_finite, cudaStream_t stream) {
  if (x == nullptr) reserve_result(stream);
  return {layout_.portion.data(),
          layout_.step.data(),
          layout_.operand.data(),
          layout_.single ? static_cast<const void*>(layout_.inner_single.data()) : layout_.inner_value.data(),
          layout_.group.data(),
          layout_.started.data(),
          x != nullptr ? x : result_.data(),
          x != nullptr ? outer_element_.data() : layout_.outer_place.data(),
          layout_.single ? static_cast<const void*>(layout_.outer_single.data()) : layout_.outer_value.data(),
          rhs_rows(),
          x_rows(),
          unit_pivots_ ? nullptr : pivot_.data(),
          rhs,
          by_row_.data(),
          x != nullptr ? nullptr : result_.data(),
          x,
          non_finite};
}

std::int64_t LayoutSweep::bytes() const {
  return layout_.bytes() + (consecutive_ ? consecutive_->first.bytes() : 0) + result_.bytes() + result_index_.bytes() +
         by_row_.bytes() + rhs_rows_.index.bytes() + x_rows_.index.bytes() + rhs_rows_.run.bytes() +
         x_rows_.run.bytes() + outer_element_.bytes() + pivot_.bytes();
}

}  // namespace taskdag::kernels::supersteps
