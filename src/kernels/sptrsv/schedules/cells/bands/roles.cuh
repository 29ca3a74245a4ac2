/// \file
/// The warps around the compute warp of a band.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/bands/shared.cuh"

namespace taskdag::kernels::cells {

/// Streams the entries of the band in.
template <class Value>
__device__ inline void load_band(BandShared<Value>& s, const BandArguments<Value>& a, Index band, int lane,
                                 int& stage) {
  namespace ptx = ::cuda::ptx;
  constexpr int kChunkBytes = BandBytes<Value>::kChunk;
  if (lane == 0) {
    const auto* from = reinterpret_cast<const std::byte*>(a.entry) + std::int64_t{band} * a.chunks * kChunkBytes;
    for (int chunk = 0; chunk < a.chunks; ++chunk) {
      while (load_done(address_of(&s.done)) < (chunk + 1 - kBandStages) * kChunk) __nanosleep(kBandPause);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.arrived[stage],
                                     kChunkBytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s.stage[stage],
                         from + std::int64_t{chunk} * kChunkBytes, kChunkBytes, &s.arrived[stage]);
      if (++stage == kBandStages) stage = 0;
    }
  }
  __syncwarp();
}

/// An entry of a vector in the order of the caller. Whether there is such an order is known before the loops over rows:
/// a look at each row costs the warps around the compute warp a third of their time.
template <bool kMapped>
__device__ Index entry_of(const Index* index, Index row) {
  return kMapped ? __ldg(index + row) : row;
}

/// Chunks feeder, feeder + kBandFeeders, …: the starts of all lines but a first one that waits for another band.
template <bool kMapped, class Value>
__device__ void feed_band(BandShared<Value>& s, const BandArguments<Value>& a, Index band, int feeder, int lane) {
  for (int chunk = feeder; chunk < a.chunks; chunk += kBandFeeders) {
    const int step = chunk * kChunk + lane % kChunk;
    const HalfLines lines(a, band, step, lane);
    double rhs[kLanes / 2];  // all loads are on their way at once
    double pivot[kLanes / 2];
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      rhs[i] = a.idle_rhs;
      pivot[i] = 1.0;
      if (!lines.has(i)) continue;
      const Index row = lines.row_of(i);
      rhs[i] = a.rhs[entry_of<kMapped>(a.rhs_index, row)];  // not __ldg: the kernel before may have written it
      if (a.pivot != nullptr) pivot[i] = __ldg(a.pivot + row);
    }
    wait_for_slots(s, chunk);
    const SharedAddress slot = slot_of(s, step, lines.half);
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      if (i > 0 || lines.half > 0 || band == 0)
        store_double(slot + static_cast<unsigned>(i) * 16, with_plain_nan(rhs[i] * pivot[i]));
    }
  }
}

/// The starts of the first line, 32 columns at a time, each as soon as the result above it has come.
template <class Value>
class BandFetcher {
 public:
  /// mail: of this block's shared memory, or null where results come by way of the device's memory.
  __device__ BandFetcher(BandShared<Value>& s, const BandArguments<Value>& a, Index band, bool mail, int lane)
      : s_(s),
        a_(a),
        first_row_(band * kLanes * a.bands.columns),
        edge_(a.edge + std::int64_t{band} * a.bands.columns),
        slots_(a.slots + std::int64_t{band - 1} * a.bands.columns),
        mail_(mail),
        lane_(lane) {}

  __device__ void fetch(int fetcher) {
    const int steps = a_.chunks * kChunk;
    read(fetcher * kLanes + lane_);
    for (int first = fetcher * kLanes; first < steps; first += kBandFetchers * kLanes) {
      const int column = first + lane_;
      const double start = start_;
      const double edge = value_;
      const bool waits = column < a_.bands.columns;
      bool open = column < steps;
      double above = waits ? look(column) : 0.0;
      read(column + kBandFetchers * kLanes);
      for (int chunk = first / kChunk; chunk < min(first / kChunk + 2, a_.chunks); ++chunk) wait_for_slots(s_, chunk);
      for (;;) {
        if (open && is_ready(above)) {
          store_double(slot_of(s_, column, 0), with_plain_nan(fma(edge, above, start)));
          open = false;
        }
        if (!__any_sync(cuda::kFullWarp, open)) break;
        pause(first - load_done(address_of(&s_.done)));
        if (open) above = look(column);
      }
    }
  }

 private:
  __device__ double look(int column) const {
    return mail_ ? load_double(address_of(s_.mail + column))
                 : cuda::DeviceAtomic<double>(slots_[column]).load(::cuda::memory_order_relaxed);
  }
  /// Looks at the device's memory share the compute warp's path to shared memory.
  __device__ void pause(int steps_ahead) const {
    constexpr int kFar = 48;
    if (steps_ahead > kFar) {
      __nanosleep(2 * kBandPause);
    } else if (!mail_) {
      __nanosleep(kBandPause / 5);
    }
  }
  __device__ void read(int column) {
    start_ = a_.idle_rhs;
    value_ = 0.0;
    if (column >= a_.bands.columns) return;
    const Index r = first_row_ + column;
    const Index row = a_.lower ? r : a_.rows - 1 - r;
    start_ = a_.rhs[a_.rhs_index != nullptr ? __ldg(a_.rhs_index + row) : row];
    if (a_.pivot != nullptr) start_ *= __ldg(a_.pivot + row);
    value_ = double{__ldg(edge_ + column)};
  }

  BandShared<Value>& s_;
  const BandArguments<Value>& a_;
  Index first_row_;
  const Value* edge_;
  double* slots_;
  bool mail_;
  int lane_;
  double start_ = 0.0;
  double value_ = 0.0;
};

/// Chunks storer, storer + kBandStorers, …: writes results out and frees the slots.
template <bool kMapped, class Value>
__device__ void store_band(BandShared<Value>& s, const BandArguments<Value>& a, Index band, int storer, int lane) {
  bool non_finite = false;
  for (int chunk = storer; chunk < a.chunks; chunk += kBandStorers) {
    while (load_done(address_of(&s.done)) < (chunk + 1) * kChunk) __nanosleep(kBandPause);
    const int step = chunk * kChunk + lane % kChunk;
    const HalfLines lines(a, band, step, lane);
    const SharedAddress slot = slot_of(s, step, lines.half);
    double result[kLanes / 2];
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) result[i] = load_double(slot + static_cast<unsigned>(i) * 16);
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) store_double(slot + static_cast<unsigned>(i) * 16, not_yet());
    __syncwarp();
    if (lane == 0) store_done(stored_of(s, chunk), (chunk + 1) * kChunk);
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      if (!lines.has(i)) continue;
      const Index row = lines.row_of(i);
      a.x[entry_of<kMapped>(a.x_index, row)] = result[i];
      non_finite = non_finite || !is_finite(result[i]);
    }
    const int last_column = lines.column - (kLanes - 2);
    if (lines.half == 1 && last_column >= 0 && last_column < a.bands.columns)
      a.next_slots[std::int64_t{band} * a.bands.columns + last_column] = not_yet();
  }
  if (non_finite) *a.non_finite = 1;
}

}  // namespace taskdag::kernels::cells
