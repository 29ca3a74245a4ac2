/// \file
/// The warps around the runner of a pencil.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/pencils/shared.cuh"

namespace taskdag::kernels::cells {

/// Streams the entries of the pencil in.
__device__ inline void load_pencil(PencilShared& s, const PencilArguments& a, Index pencil, int steps, int lane,
                                   int& stage) {
  namespace ptx = ::cuda::ptx;
  if (lane == 0) {
    const auto* from = reinterpret_cast<const std::byte*>(a.entry) + std::int64_t{pencil} * steps * kPencilStepBytes;
    for (int step = 0; step < steps; step += kPencilGroup) {
      wait_for_runners(s, step - (kPencilStages - 1) * kPencilGroup);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.arrived[stage],
                                     kPencilGroupBytes);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s.stage[stage],
                         from + std::int64_t{step} * kPencilStepBytes, kPencilGroupBytes, &s.arrived[stage]);
      if (++stage == kPencilStages) stage = 0;
    }
  }
  __syncwarp();
}

/// Every second chunk of a plane, from chunk `parity` on: writes its results out and puts the starts of the chunk that
/// takes their places there. A half of the warp has 16 columns of every second lane.
template <bool kMapped>
class PencilMover {
 public:
  __device__ PencilMover(PencilShared& s, const PencilArguments& a, const PencilPlace& at, int mover, int lane)
      : s_(s),
        a_(a),
        half_(lane / kPencilChunk),
        plane_(mover % kPencilPlanes),
        first_step_(lane % kPencilChunk),
        lines_(at.slab * kPencilPlanes + plane_ < a.pencils.planes
                   ? a.pencils.lines - at.band * kPencilLines + 1 - half_
                   : 0),
        stride_(2 * (a.lower ? a.pencils.columns - 1 : 1 - a.pencils.columns)),
        fed_(address_of(&s.fed[mover])),
        lane_(lane) {
    const Index line = (at.slab * kPencilPlanes + plane_) * a.pencils.lines + at.band * kPencilLines + half_ - 1;
    const Index r = line * a.pencils.columns + first_step_ - half_;
    row_ = a.lower ? r : a.rows - 1 - r;
  }

  __device__ void move(int parity, int steps) {
    constexpr int kTurn = 2 * kPencilChunk;
#pragma unroll 1
    for (int step = parity * kPencilChunk; step < kPencilRing; step += kTurn) {
      read(step);
      write_starts(step);
    }
#pragma unroll 1
    for (int step = parity * kPencilChunk; step < steps; step += kTurn) {
      const bool more = step + kPencilRing < steps;
      if (more) read(step + kPencilRing);
      while (load_done(address_of(&s_.done[plane_])) < step + kPencilChunk) __nanosleep(kPencilPause);
      const SharedAddress place = place_of(s_, plane_, step + first_step_, half_);
      double result[kLanes / 2];
#pragma unroll
      for (int i = 0; i < kLanes / 2; ++i) result[i] = load_double(place + static_cast<unsigned>(i) * 16);
      if (more) write_starts(step + kPencilRing);
#pragma unroll
      for (int i = 0; i < kLanes / 2; ++i) {
        if (!has(step, i)) continue;
        const Index row = row_of(step, i);
        a_.x[kMapped && a_.x_index != nullptr ? __ldg(a_.x_index + row) : row] = result[i];
        non_finite_ = non_finite_ || !is_finite(result[i]);
      }
    }
    if (non_finite_) *a_.non_finite = 1;
  }

 private:
  [[nodiscard]] __device__ bool has(int step, int i) const {
    return static_cast<unsigned>(step + first_step_ - half_ - 2 * i) < static_cast<unsigned>(a_.pencils.columns) &&
           2 * i < lines_ && 2 * i + half_ > 0;
  }
  [[nodiscard]] __device__ Index row_of(int step, int i) const {
    return row_ + (a_.lower ? step : -step) + i * stride_;
  }
  __device__ void read(int step) {
    double pivot[kLanes / 2];  // all loads are on their way at once
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      start_[i] = i == 0 && half_ == 0 ? 0.0 : a_.idle_rhs;  // lane 0 passes on what comes to it
      pivot[i] = 1.0;
      if (!has(step, i)) continue;
      const Index row = row_of(step, i);
      // Not __ldg: the kernel before may have written it.
      start_[i] = a_.rhs[kMapped && a_.rhs_index != nullptr ? __ldg(a_.rhs_index + row) : row];
      if (a_.pivot != nullptr) pivot[i] = __ldg(a_.pivot + row);
    }
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) start_[i] = with_plain_nan(start_[i] * pivot[i]);
  }
  __device__ void write_starts(int step) const {
    const SharedAddress place = place_of(s_, plane_, step + first_step_, half_);
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) store_double(place + static_cast<unsigned>(i) * 16, start_[i]);
    __syncwarp();
    if (lane_ == 0) store_done(fed_, step + kPencilChunk);
  }

  PencilShared& s_;
  const PencilArguments& a_;
  int half_;
  int plane_;
  int first_step_;
  Index lines_;
  Index stride_;
  SharedAddress fed_;
  int lane_;
  Index row_;  ///< that of lane half_ of the runner at step first_step_
  double start_[kLanes / 2];
  bool non_finite_ = false;
};

/// Steps that a fetcher takes at once.
inline constexpr int kFetchGroup = 4;

/// Groups fetcher, fetcher + kPencilFetchers, …: what the pencil below and the one before it hand on, each value as
/// soon as it has come.
__device__ inline void fetch_pencil(PencilShared& s, const PencilArguments& a, Index pencil, const PencilPlace& at,
                                    int steps, int fetcher, int lane) {
  if (at.slab == 0 && at.band == 0) return;
  double* const planes = a.planes + std::int64_t{pencil - a.pencils.in_slab()} * steps * kLanes;
  double* const next_planes = a.next_planes + std::int64_t{pencil - a.pencils.in_slab()} * steps * kLanes;
  double* const lines = a.lines + std::int64_t{pencil - 1} * steps * kPencilPlanes;
  double* const next_lines = a.next_lines + std::int64_t{pencil - 1} * steps * kPencilPlanes;
  const int line_lane = lane % (kFetchGroup * kPencilPlanes);
  const int plane = line_lane % kPencilPlanes;
  for (int first = fetcher * kFetchGroup; first < steps; first += kPencilFetchers * kFetchGroup) {
    wait_for_runners(s, first + kFetchGroup - kBelowRing);
    // The last line of the pencil before is kPencilLines steps behind its lane 0.
    const int line_step = first + line_lane / kPencilPlanes;
    const int from_step = line_step + kPencilLines;
    const std::int64_t line_at = std::int64_t{from_step} * kPencilPlanes + plane;
    const bool has_line = at.band > 0 && lane == line_lane && from_step < steps;
    if (at.band > 0 && lane == line_lane && !has_line) store_double(below_of(s, plane, line_step, 0), 0.0);
    bool line_open = has_line;
    bool open[kFetchGroup];
#pragma unroll
    for (bool& each : open) each = at.slab > 0 && lane > 0;
    for (;;) {
      double of_line = not_yet();
      double of_plane[kFetchGroup];
      if (line_open) of_line = cuda::DeviceAtomic<double>(lines[line_at]).load(::cuda::memory_order_relaxed);
#pragma unroll
      for (int k = 0; k < kFetchGroup; ++k) {
        of_plane[k] = not_yet();
        if (open[k])
          of_plane[k] =
              cuda::DeviceAtomic<double>(planes[(first + k) * kLanes + lane]).load(::cuda::memory_order_relaxed);
      }
      bool any = false;
      if (is_ready(of_line)) {
        store_double(below_of(s, plane, line_step, 0), of_line);
        line_open = false;
      }
#pragma unroll
      for (int k = 0; k < kFetchGroup; ++k) {
        if (is_ready(of_plane[k])) {
          store_double(below_of(s, 0, first + k, lane), of_plane[k]);
          open[k] = false;
        }
        any = any || open[k];
      }
      if (!__any_sync(cuda::kFullWarp, any || line_open)) break;
    }
    if (has_line) next_lines[line_at] = not_yet();
#pragma unroll
    for (int k = 0; k < kFetchGroup; ++k) {
      if (at.slab > 0) next_planes[(first + k) * kLanes + lane] = not_yet();
    }
  }
}

}  // namespace taskdag::kernels::cells
