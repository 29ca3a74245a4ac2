/// \file
/// The warps around the compute warp of a pencil.
#pragma once

#include <cuda/ptx>

#include "kernels/sptrsv/schedules/cells/pencils/shared.cuh"

namespace taskdag::kernels::cells {

/// The next ticket that has pencils, or a number past the last one.
template <class Points>
__device__ inline Index take_ticket(const PencilArguments<Points>& a) {
  const PencilTickets<Points> tickets{a.pencils, a.blocks};
  for (;;) {
    const unsigned taken = cuda::DeviceAtomic<unsigned>(*a.ticket).fetch_add(1, ::cuda::memory_order_relaxed);
    const auto ticket = static_cast<Index>(taken - a.before);
    if (Points::kShear == 0 || ticket >= tickets.count() || tickets.has_pencils(ticket)) return ticket;
  }
}

/// Streams the entries of the pencil in. `reports`: tells the block below in the cluster what is done.
template <class Points>
__device__ inline void load_pencil(PencilShared<Points>& s, const PencilArguments<Points>& a, Index pencil, int steps,
                                   bool reports, int rank, int lane, int& stage) {
  namespace ptx = ::cuda::ptx;
  using Bytes = PencilBytes<Points>;
  if (lane == 0) {
    const SharedAddress below_done = reports ? in_block(address_of(&s.above_done), rank - 1) : 0;
    const auto* from = reinterpret_cast<const std::byte*>(a.entry) + std::int64_t{pencil} * steps * Bytes::kStep;
    for (int step = 0; step < steps; step += Points::kGroup) {
      const int done = step - (Points::kStages - 1) * Points::kGroup;
      if (reports && done > 0 && done <= steps - kBelowRing) {
        while (load_done(address_of(&s.done[0])) < done) __nanosleep(kPencilPause);
        report_done(below_done, done);
      }
      wait_for_compute_warps(s, done);
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &s.arrived[stage],
                                     Bytes::kGroup);
      ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, s.stage[stage],
                         from + std::int64_t{step} * Bytes::kStep, Bytes::kGroup, &s.arrived[stage]);
      if (++stage == Points::kStages) stage = 0;
    }
  }
  __syncwarp();
}

/// Chunks `first`, first + kMovers, … of a plane: writes its results out and puts the starts of the chunk that
/// takes their slots there. A half of the warp has 16 columns of every second lane, from lane half_ on.
template <class Points, bool kMapped>
class PencilMover {
 public:
  __device__ PencilMover(PencilShared<Points>& s, const PencilArguments<Points>& a, const PencilLocation<Points>& at,
                         int mover, int lane)
      : s_(s),
        a_(a),
        half_(lane / kPencilChunk),
        plane_(mover % Points::kPlanes),
        first_step_(lane % kPencilChunk),
        sign_(a.lower ? 1 : -1),
        stride_(sign_ * kUnknowns * (a.pencils.columns - kBehind)),
        fed_(address_of(&s.fed[mover])),
        lane_(lane) {
    const Index z = at.slab * Points::kPlanes + plane_;
    const Index line = at.first_line(z);
    first_ = max(-line, Points::kPassing);
    last_ = z < a.pencils.planes ? min(a.pencils.lines - line, Pencils<Points>::kPlaces) : 0;
    const Index r = ((z * a.pencils.lines + line) * a.pencils.columns + first_step_) * kUnknowns;
    row_ = a.lower ? r : a.rows - 1 - r;
  }

  __device__ void move(int first, int steps) {
    constexpr int kStride = Points::kMovers * kPencilChunk;
#pragma unroll 1
    for (int step = first * kPencilChunk; step < kPencilRing; step += kStride) {
      read(step);
      write_starts(step);
    }
#pragma unroll 1
    for (int step = first * kPencilChunk; step < steps; step += kStride) {
      const bool more = step + kPencilRing < steps;
      if (more) read(step + kPencilRing);
      while (load_done(address_of(&s_.done[plane_])) < step + kPencilChunk) __nanosleep(kPencilPause);
      const SharedAddress slot = slot_of(s_, plane_, step + first_step_, half_);
      double result[kLanes / 2];
#pragma unroll
      for (int i = 0; i < kLanes / 2; ++i) result[i] = load_double(slot + static_cast<unsigned>(i) * 16);
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
  static constexpr int kBehind = Points::kBehind;
  static constexpr int kUnknowns = Points::kUnknowns;
  /// The place of lane half_ + 2 i.
  [[nodiscard]] __device__ int place(int i) const { return (half_ + 2 * i) / kUnknowns; }
  [[nodiscard]] __device__ bool has(int step, int i) const {
    return static_cast<unsigned>(step + first_step_ - kBehind * place(i)) < static_cast<unsigned>(a_.pencils.columns) &&
           place(i) >= first_ && place(i) < last_;
  }
  /// Whether a fetcher brings what lanes 2 i and 2 i + 1 start from.
  __device__ static constexpr bool passes(int i) { return !kPassesBelow<Points> && 2 * i < kPassingLanes<Points>; }
  [[nodiscard]] __device__ Index row_of(int step, int i) const {
    return row_ + sign_ * (kUnknowns * step + (half_ + 2 * i) % kUnknowns) + place(i) * stride_;
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
    const SharedAddress slot = slot_of(s_, plane_, step + first_step_, half_);
#pragma unroll
    for (int i = 0; i < kLanes / 2; ++i) {
      if (!passes(i)) store_double(slot + static_cast<unsigned>(i) * 16, start_[i]);
    }
    __syncwarp();
    if (lane_ == 0) store_done(fed_, step + kPencilChunk);
  }

  PencilShared<Points>& s_;
  const PencilArguments<Points>& a_;
  int half_;
  int plane_;
  int first_step_;
  Index first_;  ///< first place that has a line
  Index last_;   ///< first place after those that have lines
  Index sign_;
  Index stride_;
  SharedAddress fed_;
  int lane_;
  Index row_;  ///< that of lane 0 of the compute warp at step first_step_, if it had one
  double start_[kLanes / 2];
  bool non_finite_ = false;
};

/// Steps that a fetcher takes at once.
template <class Points>
inline constexpr int kFetchSteps = kLineValues<Points> <= 8 ? 4 : 2;

/// Leaves the values that have come from the pencil below, of steps first, …, where the compute warps look for them.
/// @returns whether one is still open
template <class Points>
__device__ __forceinline__ bool keep_below(PencilShared<Points>& s, int first, int lane,
                                           const double (&of_plane)[kFetchSteps<Points>],
                                           bool (&open)[kFetchSteps<Points>]) {
  bool any = false;
#pragma unroll
  for (int k = 0; k < kFetchSteps<Points>; ++k) {
    if (is_ready(of_plane[k])) {
      store_double(below_of(s, 0, first + k, lane), of_plane[k]);
      open[k] = false;
    }
    any = any || open[k];
  }
  return any;
}

/// Groups fetcher, fetcher + kPencilFetchers, …: what the pencil before and, where has_below, the one below hand on by
/// way of the device's memory, each value as soon as it has come.
template <class Points>
__device__ inline void fetch_pencil(PencilShared<Points>& s, const PencilArguments<Points>& a, Index pencil,
                                    const PencilLocation<Points>& at, bool has_below, int steps, int fetcher,
                                    int lane) {
  constexpr int kFetchGroup = kFetchSteps<Points>;
  constexpr int kPassing = kPassingLanes<Points>;
  constexpr int kLineValues = cells::kLineValues<Points>;
  static_assert(kFetchGroup * kLineValues <= kLanes && kPencilChunk % kFetchGroup == 0);
  const bool has_before = at.has_before(a.pencils);
  if (!has_below && !has_before) return;
  const std::int64_t below = PencilLocation<Points>{at.slab - 1, at.band}.number(a.pencils);
  double* const planes = a.planes + below * steps * kLanes;
  double* const next_planes = a.next_planes + below * steps * kLanes;
  double* const lines = a.lines + std::int64_t{pencil - 1} * steps * kLineValues;
  double* const next_lines = a.next_lines + std::int64_t{pencil - 1} * steps * kLineValues;
  const int line_lane = lane % (kFetchGroup * kLineValues);
  const int plane = line_lane % kLineValues / kPassing;
  const int passing = line_lane % kPassing;
  for (int first = fetcher * kFetchGroup; first < steps; first += kPencilFetchers * kFetchGroup) {
    wait_for_compute_warps(s, first + kFetchGroup - kBelowRing);
    // The last lines of the band before have the same column so many steps later.
    const int line_step = first + line_lane / kLineValues;
    const int from_step = line_step + Points::kBehind * Pencils<Points>::kLines;
    const std::int64_t line_at = std::int64_t{from_step} * kLineValues + line_lane % kLineValues;
    const bool has_line = has_before && lane == line_lane && from_step < steps;
    if (has_before && lane == line_lane && !has_line) store_double(passed_of(s, plane, line_step, passing), 0.0);
    bool line_open = has_line;
    bool open[kFetchGroup];
#pragma unroll
    for (bool& each : open) each = has_below && (!kPassesBelow<Points> || lane >= kPassing);
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
      if (is_ready(of_line)) {
        store_double(passed_of(s, plane, line_step, passing), of_line);
        line_open = false;
      }
      const bool any = keep_below(s, first, lane, of_plane, open);
      if (!__any_sync(cuda::kFullWarp, any || line_open)) break;
    }
    if (has_line) next_lines[line_at] = not_yet();
#pragma unroll
    for (int k = 0; k < kFetchGroup; ++k) {
      if (has_below) next_planes[(first + k) * kLanes + lane] = not_yet();
    }
  }
}

}  // namespace taskdag::kernels::cells
