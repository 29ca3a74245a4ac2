/// \file
/// The numeric factorisation by point blocks on the device, a warp for a row of blocks.
#include <algorithm>

#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/check.hpp"
#include "backends/cuda/copy_async.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.hpp"
#include "backends/cuda/seam.cuh"
#include "kernels/factor/cuda/reporter.cuh"
#include "kernels/factor/point_block/cuda/invert.cuh"
#include "kernels/factor/point_block/cuda/launches.hpp"
#include "kernels/factor/point_block/task.hpp"

namespace taskdag::kernels::point_block {

namespace {

using cuda::DeviceAtomic;
using cuda::kFullWarp;
using cuda::kWarpSize;

constexpr int kWarps = 4;
/// Of a multiprocessor, as far as registers go: rows that wait keep others from beginning.
constexpr int kBlocksAtOnce = 6;

/// Between two looks at a row that others are at work on, nanoseconds.
constexpr unsigned kPause = 40;
/// Most columns of a row at work that stand in shared memory, too.
constexpr Offset kListed = 64;
/// Most updates of a row that are listed before it waits.
constexpr int kUpdates = 256;

/// What a warp has in shared memory beside blocks.
struct WarpLists {
  /// Updates of rows that are subtracted, one after the other; the last 32 are for a row that is listed late.
  Offset target[kUpdates + kWarpSize];         ///< block of the row at work
  unsigned char factor[kUpdates + kWarpSize];  ///< block of the other row, counted from where its list begins
  Index columns[kListed];                      ///< of the row at work
  int pivot_rows[kLargestBlock];
};

/// Doubles of a warp in shared memory: the row at work, a block, blocks of rows that are subtracted.
__host__ __device__ constexpr int stage_of_warp(const FactorArguments& a) {
  return a.staged + a.block_size * a.block_size + a.ahead * a.fetched +
         static_cast<int>((sizeof(WarpLists) + sizeof(double) - 1) / sizeof(double));
}

/// Until none are under way but those before the last `after` ends of copies.
__device__ inline void wait_for_copies(int after) {
  switch (after) {
    case 0:
      return cuda::wait_for_copies<0>();
    case 1:
      return cuda::wait_for_copies<1>();
    case 2:
      return cuda::wait_for_copies<2>();
    default:
      cuda::wait_for_copies<3>();
  }
}

/// The Worker of the task: a warp. Rows that it waits for have smaller tickets (see factor.hpp).
///
/// What can be found without them it finds before it waits: which blocks of theirs it needs, and where these go. Their
/// blocks it copies to shared memory, of some rows ahead where these are done. A lane is in charge of each of 32 rows.
template <class Size>
class Warp {
 public:
  __device__ Warp(const FactorArguments& a, Size size, int lane, double* stage)
      : a_(a),
        size_(size),
        lane_(lane),
        stage_(stage),
        scratch_(stage + a.staged),
        fetched_(scratch_ + size.rows() * size.rows()),
        lists_(reinterpret_cast<WarpLists*>(fetched_ + a.ahead * a.fetched)),
        row_of_lane_(lane % size.rows()),
        column_of_lane_(lane / size.rows() % size.rows()),
        block_of_lane_(lane / (size.rows() * size.rows())) {}

  /// The row at work from now on.
  __device__ void take(const RowEntries& row) {
    first_ = row.first;
    end_ = row.end;
    diagonal_ = row.diagonal;
    const bool fits = elements_of(size_, end_ - first_) <= a_.staged;
    row_ = fits ? stage_ : a_.values + elements_of(size_, first_);
    columns_ = a_.columns + first_;
    if (end_ - first_ > kListed) return;
    for (Offset k = lane_; k < end_ - first_; k += kWarpSize) lists_->columns[k] = __ldg(columns_ + k);
    columns_ = lists_->columns;
    __syncwarp();
  }
  /// The row is complete: puts what remains of it where others read it, and says so.
  __device__ void publish(Index i) {
    store(diagonal_, diagonal_ + 1);
    __syncwarp();  // what the other lanes have stored is released with what lane 0 has
    if (lane_ == 0) DeviceAtomic<int>(a_.done[i]).store(1, ::cuda::memory_order_release);
  }
  __device__ bool row_is_finite() const {
    const std::int64_t count = elements_of(size_, end_ - first_);
    bool finite = true;
    for (std::int64_t k = lane_; k < count; k += kWarpSize) finite = finite && is_finite(row_[k]);
    return __all_sync(kFullWarp, finite);
  }

  __device__ Offset begin(Index) const { return first_; }
  __device__ Offset diagonal(Index) const { return diagonal_; }
  __device__ Offset end(Index) const { return end_; }
  __device__ double* mine(Offset e) const { return row_ + elements_of(size_, e - first_); }
  __device__ bool row_is_symmetric() const { return a_.mirror != nullptr; }
  __device__ double input(Offset e, int r, int c) const {
    const Offset from = __ldg(a_.source + e);
    return from < 0 ? 0.0 : __ldg(a_.input + elements_of(size_, from) + c * size_.rows() + r);
  }
  __device__ Inversion invert_block(Size size, double* block, double amount) const {
    if constexpr (Size::known > 0 && Size::known <= kLargestInRegisters) {
      return invert_in_registers(size, lane_, block, amount);
    } else {
      return invert(size, *this, block, lists_->pivot_rows, amount);
    }
  }
  __device__ void sync() const { __syncwarp(); }

  __device__ void take_finished(Size, Index, Offset e) {
    current_ = e;
    if ((e - first_) % kWarpSize == 0) look_at(e);
    if (fetched_to_ == e) {
      while (!is_known_done(e)) {
        look();
        __nanosleep(kPause);  // many that look without a pause hold up those that write
      }
      fetch(e);
    }
    if (may_fetch()) {
      if (!is_known_done(fetched_to_)) look();  // takes as long as the copies
      while (may_fetch() && is_known_done(fetched_to_)) fetch(fetched_to_);
    }
    now_ = subtrahend(e);
    wait_for_copies(fetched_to_ - e - 1);
    __syncwarp();
  }
  __device__ const double* inverse() const { return a_.fetched > 0 ? now_.stage : finished(now_.diagonal); }
  __device__ const double* above() const {
    return a_.fetched > 0 ? now_.stage + size_.rows() * size_.rows() : finished(now_.mirror);
  }
  __device__ void finish_beside_diagonal(Size, Index) {
    store(first_, diagonal_);
    store(diagonal_ + 1, end_);
  }

  template <class Body>
  __device__ void each(int count, const Body& body) const {
    for (int k = lane_; k < count; k += kWarpSize) body(k);
  }
  template <class Body>
  __device__ void each_element(Size size, const Body& body) const {
    const int n = size.rows();
    for (int k = lane_; k < n * n; k += kWarpSize) body(k % n, k / n);
  }
  template <class Body>
  __device__ void each_in_row(Size size, Index, Offset from, const Body& body) const {
    const int n = size.rows();
    const int count = (end_ - from) * n * n;
#pragma unroll 4
    for (int k = lane_; k < count; k += kWarpSize) body(from + k / (n * n), k % n, k / n % n);
  }
  template <class Amount>
  __device__ double sum_of(Offset from, Offset to, const Amount& amount) const {
    double sum = 0.0;
    for (Offset e = from + lane_; e < to; e += kWarpSize) sum += amount(e);
    for (int lanes = kWarpSize / 2; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(kFullWarp, sum, lanes);
    return sum;
  }
  template <class Left>
  __device__ void multiply(Size size, double* block, const Left& left, const double* right) const {
    const int n = size.rows();
    if constexpr (kHasOwnElement) {
      double sum = 0.0;
#pragma unroll
      for (int k = 0; k < Size::known; ++k) sum += left(row_of_lane_, k) * right[column_of_lane_ * n + k];
      __syncwarp();  // all have read what is overwritten
      if (block_of_lane_ == 0) block[column_of_lane_ * n + row_of_lane_] = sum;
    } else {
      each_element(size, [&](int r, int c) { scratch_[c * n + r] = left(r, c); });
      __syncwarp();
      each_element(size, [&](int r, int c) { block[c * n + r] = product(size, scratch_, right, r, c); });
    }
  }
  template <class Amount>
  __device__ void subtract(Size, Index, Offset, const Amount& amount) const {
    int list = now_.list;
    int count = now_.count;
    int fetched = blocks_fetched(count);
    for (Offset base = now_.diagonal + 1;;) {
      subtract_listed(base, list, count, fetched, amount);
      base += kWarpSize;
      if (base >= now_.end) return;
      __syncwarp();  // before the list is written again
      list = kUpdates;
      count = make_list(column_at(base, now_.end), list);
      fetched = 0;
    }
  }

 private:
  static constexpr int kTogether = 4;
  /// Whether a lane always has the same element of a block, the blocks of a warp side by side: where at least one fits.
  static constexpr bool kHasOwnElement = Size::known > 0 && Size::known* Size::known <= kWarpSize;

  /// An element of a listed block.
  struct Element {
    int update;
    int row;
    int column;
  };
  /// Some at a time, all of them computed before the first is subtracted: each is on its way for a while.
  template <class Amount>
  __device__ void subtract_listed(Offset base, int list, int count, int fetched, const Amount& amount) const {
    const int n = size_.rows();
    // By blocks where lanes have elements of their own, else by rounds of 32 elements.
    const auto subtract_some = [&](const auto& element_of) {
      double amounts[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const Element to = element_of(t);
        if (to.update >= count) continue;
        const double* const block = to.update < fetched ? now_.stage + (to.update + blocks_before()) * n * n
                                                        : finished(base + lists_->factor[list + to.update]);
        amounts[t] = amount(block, to.row, to.column);
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const Element to = element_of(t);
        if (to.update >= count) continue;
        mine(lists_->target[list + to.update])[to.column * n + to.row] -= amounts[t];
      }
    };
    if constexpr (kHasOwnElement) {
      constexpr int kSideBySide = kWarpSize / (Size::known * Size::known);
      for (int first = 0; first < count; first += kTogether * kSideBySide) {
        subtract_some([&](int t) {
          const int update = first + t * kSideBySide + block_of_lane_;
          return Element{block_of_lane_ < kSideBySide ? update : count, row_of_lane_, column_of_lane_};
        });
      }
    } else {
      for (int first = lane_; first < count * n * n; first += kTogether * kWarpSize) {
        subtract_some([&](int t) {
          const int m = first + t * kWarpSize;
          return Element{m / (n * n), m % n, m / n % n};
        });
      }
    }
  }

  /// A row that is subtracted for an entry of the row at work.
  struct Subtrahend {
    Offset diagonal;
    Offset end;
    Offset mirror;
    int list;   ///< of the updates by its first 32 entries right of the diagonal
    int count;  ///< of them; −1: not listed yet
    const double* stage;
  };
  /// What a lane knows of the one that it is in charge of.
  struct Known {
    Index row = -1;  ///< −1: it is in charge of none
    Offset diagonal = -1;
    Offset end = 0;
    Offset mirror = -1;
    int list = 0;
    int count = -1;
  };

  __device__ const double* finished(Offset e) const { return a_.values + elements_of(size_, e); }
  /// Blocks that stand before those of the list.
  __device__ int blocks_before() const { return row_is_symmetric() ? 2 : 1; }
  __device__ int blocks_fetched(int listed) const {
    return min(listed, a_.fetched / (size_.rows() * size_.rows()) - blocks_before());
  }

  /// Blocks [from, to) of the row to where others read them.
  __device__ void store(Offset from, Offset to) const {
    if (row_ != stage_) return;
    double* const values = a_.values + elements_of(size_, first_);
    const std::int64_t last = elements_of(size_, to - first_);
    for (std::int64_t k = elements_of(size_, from - first_) + lane_; k < last; k += kWarpSize) values[k] = row_[k];
  }

  /// This lane's of the columns of entries [base, base + 32), before `end`; −1: none.
  __device__ Index column_at(Offset base, Offset end) const {
    const Offset f = base + lane_;
    return f < end ? __ldg(a_.columns + f) : -1;
  }
  /// Where entries of this column go; −1: nowhere.
  __device__ Offset target_of(Index column) const {
    const Offset from = row_is_symmetric() ? diagonal_ - first_ : 0;
    const Offset target = cuda::first_not_below(columns_, from, end_ - first_, column);
    const bool found = target < end_ - first_ && columns_[target] == column;
    return found && (!a_.pivoting.diagonal_only || first_ + target == diagonal_) ? first_ + target : -1;
  }
  /// Lists the updates by 32 entries, of which each lane has the column. @returns how many
  __device__ int make_list(Index column, int list) const {
    const Offset target = column >= 0 ? target_of(column) : -1;
    const unsigned hits = __ballot_sync(kFullWarp, target >= 0);
    const int at = list + __popc(hits & ((1U << lane_) - 1U));
    if (target >= 0) {
      lists_->factor[at] = static_cast<unsigned char>(lane_);
      lists_->target[at] = target;
    }
    __syncwarp();
    return __popc(hits);
  }

  /// Puts each lane in charge of one of the entries [first, first + 32), and lists their updates as far as there is
  /// room.
  __device__ void look_at(Offset first) {
    looked_at_ = fetched_to_ = first;
    known_done_ = 0;
    known_ = {};
    const Offset e = first + lane_;
    if (e < diagonal_) {
      known_.row = columns_[e - first_];
      known_.diagonal = __ldg(a_.diagonal + known_.row);
      known_.end = __ldg(a_.offsets + known_.row + 1);
      known_.mirror = row_is_symmetric() ? __ldg(a_.mirror + e) : -1;
    }
    look();
    int list = 0;
    const int rows = min(diagonal_ - first, kWarpSize);
    for (int k = 0; k < rows; k += kTogether) {
      Index columns[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const Offset base = __shfl_sync(kFullWarp, known_.diagonal, k + t) + 1;
        columns[t] = column_at(base, __shfl_sync(kFullWarp, known_.end, k + t));
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        if (list + kWarpSize > kUpdates) return;
        const int count = make_list(columns[t], list);
        if (lane_ == k + t) {
          known_.list = list;
          known_.count = count;
        }
        list += count;
      }
    }
  }

  __device__ Subtrahend subtrahend(Offset e) const {
    const int k = e - looked_at_;
    return {__shfl_sync(kFullWarp, known_.diagonal, k), __shfl_sync(kFullWarp, known_.end, k),
            __shfl_sync(kFullWarp, known_.mirror, k),   __shfl_sync(kFullWarp, known_.list, k),
            __shfl_sync(kFullWarp, known_.count, k),    fetched_ + k % a_.ahead * a_.fetched};
  }

  /// The next row whose blocks can be copied before it is its turn.
  __device__ bool may_fetch() const {
    const int k = fetched_to_ - looked_at_;
    return k < kWarpSize && fetched_to_ < diagonal_ && fetched_to_ < current_ + a_.ahead &&
           __shfl_sync(kFullWarp, known_.count, k) >= 0;
  }
  /// Begins to copy blocks of the row of entry e, which is done; with an end of copies of their own.
  __device__ void fetch(Offset e) {
    Subtrahend row = subtrahend(e);
    if (row.count < 0) {  // it is e's turn
      row.list = kUpdates;
      row.count = make_list(column_at(row.diagonal + 1, row.end), row.list);
      if (lane_ == e - looked_at_) {
        known_.list = row.list;
        known_.count = row.count;
      }
    }
    if (a_.fetched > 0) {
      const int n2 = size_.rows() * size_.rows();
      const int before = blocks_before();
      const int count = (before + blocks_fetched(row.count)) * n2;
      double* const to = const_cast<double*>(row.stage);
      for (int m = lane_; m < count; m += kWarpSize) {
        const int block = m / n2;
        const Offset from = block >= before ? row.diagonal + 1 + lists_->factor[row.list + block - before]
                            : block == 0    ? row.diagonal
                                            : row.mirror;
        cuda::copy_async<sizeof(double)>(to + m, finished(from) + m % n2);
      }
    }
    cuda::end_of_copies();
    fetched_to_ = e + 1;
  }

  /// Entry e's row is done, as far as the last look has told.
  __device__ bool is_known_done(Offset e) const { return (known_done_ >> (e - looked_at_) & 1U) != 0; }
  /// Looks for those that are next to be fetched, no others. An acquiring load empties the cache that the blocks of
  /// this multiprocessor share with their shared memory, so it comes only after one that has seen something.
  __device__ void look() {
    const Offset e = looked_at_ + lane_;
    const bool looks = known_.row >= 0 && e >= fetched_to_ && e < fetched_to_ + a_.ahead && !is_known_done(e);
    const bool done = looks && DeviceAtomic<int>(a_.done[known_.row]).load(::cuda::memory_order_relaxed) != 0;
    const unsigned seen = __ballot_sync(kFullWarp, done);
    if (seen == 0) return;
    if (done) static_cast<void>(DeviceAtomic<int>(a_.done[known_.row]).load(::cuda::memory_order_acquire));
    known_done_ |= seen;
    __syncwarp();  // what a lane has acquired is there for all
  }

  const FactorArguments& a_;
  Size size_;
  int lane_;
  double* stage_;
  double* scratch_;
  double* fetched_;
  WarpLists* lists_;
  int row_of_lane_;  ///< the element that it has, in blocks side by side
  int column_of_lane_;
  int block_of_lane_;
  Offset first_ = 0;
  Offset end_ = 0;
  Offset diagonal_ = 0;
  double* row_ = nullptr;
  const Index* columns_ = nullptr;  ///< of the row at work, from first_ on
  Offset current_ = 0;              ///< the entry whose row is being subtracted
  Subtrahend now_;                  ///< that row
  Offset looked_at_ = 0;            ///< the first entry that a lane is in charge of
  Offset fetched_to_ = 0;           ///< the first entry whose row's blocks are not on their way
  unsigned known_done_ = 0;         ///< by lane
  Known known_;
};

template <class Size>
__global__ void __launch_bounds__(kWarps* kWarpSize, kBlocksAtOnce)
    point_block_factor_kernel(const __grid_constant__ FactorArguments a) {
  extern __shared__ double shared[];
  const Size size(a.block_size);
  const int n = size.rows();
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  Warp<Size> worker(a, size, lane, shared + warp * stage_of_warp(a));
  const cuda::TicketCounter tickets{a.ticket};
  const Index ticket = cuda::TicketCounter::receive(tickets.request(lane));
  if (ticket >= a.rows) return;
  const int4 raw = __ldg(reinterpret_cast<const int4*>(a.order) + ticket);
  const RowEntries row{raw.x, raw.y, raw.z, raw.w};
  const Index i = row.row;
  worker.take(row);
  const Inversion found = eliminate_row(size, worker, i, a.pivoting);
  worker.publish(i);
  const bool finite = worker.row_is_finite() && found.finite;
  if (lane != 0) return;
  const elimination::Reporter reporter{a.report};
  if (found.first_zero >= 0) {
    reporter.zero_pivot(i * n + found.first_zero, 0.0);
    reporter.zero_pivot(i * n + found.last_zero, 0.0);
    return;
  }
  if (found.shifted > 0) atomicAdd(&a.report->shifted, found.shifted);
  if (!finite) reporter.non_finite(i * n);
}

/// One warp a row.
__global__ void number_dominance_kernel(Index rows, const Offset* offsets, const Index* columns, const double* values,
                                        double* out) {
  const auto row = static_cast<Index>(cuda::element() / kWarpSize);
  if (row >= rows) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  double sum = 0.0;
  for (Offset e = offsets[row] + lane; e < offsets[row + 1]; e += kWarpSize) {
    const double* const number = values + elements_of(BlockSize<2>(2), e);
    sum += columns[e] == row ? -number[0] : magnitude(number);
  }
  sum = cuda::LaneGroup(lane, kWarpSize).sum(sum);
  if (lane == 0) out[row] = sum;
}

}  // namespace

double dominance_of_numbers(Index rows, const Offset* offsets, const Index* columns, const double* values,
                            cudaStream_t stream) {
  if (rows == 0) return 0.0;
  const cuda::ScratchArray<double> dominance(static_cast<std::size_t>(rows), stream);
  number_dominance_kernel<<<cuda::element_blocks(std::int64_t{rows} * kWarpSize), cuda::kElementBlock, 0, stream>>>(
      rows, offsets, columns, values, dominance.data());
  cuda::check_launch("number_dominance_kernel");
  return cuda::largest(dominance.data(), rows, stream);
}

void launch_factor(const FactorArguments& arguments, cudaStream_t stream) {
  if (arguments.rows == 0) return;
  with_block_size(arguments.block_size, [&](auto size) {
    const auto kernel = point_block_factor_kernel<decltype(size)>;
    const std::size_t bytes = sizeof(double) * kWarps * static_cast<std::size_t>(stage_of_warp(arguments));
    // The limit is the kernel's, for all factors, so always the same.
    cuda::check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(cuda::most_shared_bytes())),
                "asking for shared memory");
    const int blocks = (arguments.rows - 1) / kWarps + 1;
    kernel<<<blocks, kWarps * kWarpSize, bytes, stream>>>(arguments);
    cuda::check_launch("point_block_factor_kernel");
  });
}

}  // namespace taskdag::kernels::point_block
