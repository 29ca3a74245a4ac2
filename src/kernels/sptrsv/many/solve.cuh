/// \file
/// The kernels of a sweep over several right-hand sides.
#pragma once

#include "backends/cuda/seam.cuh"
#include "kernels/sptrsv/many/layout.hpp"

namespace taskdag::kernels::many {

using cuda::DeviceAtomic;
using cuda::kFullWarp;
using cuda::kWarpSize;

struct SolveParameters {
  const Place* place;
  const Index* column;
  const double* value;
  const double* pivot;  ///< by place, or null for 1
  const Index* gate;
  Index places;
  Index rows;
  Index count;
  double* in;
  double* out;
  int* non_finite;
  int* counter;       ///< one a warp of a block, kCounterStride apart
  int* next_counter;  ///< reset for the next solve
};

__device__ inline Place load_place(const Place* place) {
  const int4 raw = __ldg(reinterpret_cast<const int4*>(place));
  return {raw.x, raw.y, raw.z, raw.w};
}

/// One warp's work on one place. Lane = group · Stride + column; group g takes the entries g, g + groups, ….
template <int Stride>
class Row {
 public:
  static constexpr int kGroups = kWarpSize / Stride;

  explicit __device__ Row(const SolveParameters& p)
      : p_(p),
        lane_(static_cast<int>(threadIdx.x) % kWarpSize),
        column_(lane_ % Stride),
        group_(lane_ / Stride),
        active_(column_ < p.count) {}

  /// Fetches what depends on no other row: a place's first entries, a lane each, and its right-hand side.
  __device__ void fetch(const Place& place, Index number) {
    place_ = place;
    load_entries(0);
    gate_ = __ldg(p_.gate + number);
    rhs_ = 0.0;
    pivot_ = 1.0;
    if (place.slot < p_.rows) {
      if (p_.pivot) pivot_ = __ldg(p_.pivot + number);
      if (group_ == 0 && active_) {
        // Not through L1: a line that is on its way there would hold up the store of not_yet, and all that follows.
        rhs_ = __ldcg(p_.in + std::int64_t{place.in} * Stride + column_);
      }
    }
  }

  /// Waits for operands, computes, publishes.
  __device__ void run() {
    double sum = 0.0;
    if (gate_ >= 0) cuda::Slots{p_.out + std::int64_t{gate_} * Stride}.wait_patiently(0, 20);
    __syncwarp();
    for (Index base = 0; base < place_.count; base += kWarpSize) {
      if (base > 0) load_entries(base);
      const int here = min(kWarpSize, place_.count - base);
      for (int e = 0; e < here;) {
        const int remaining = (here - e + kGroups - 1) / kGroups;  // of a group
        if (remaining > 2) {
          e += add<4>(e, here, sum);
        } else if (remaining > 1) {
          e += add<2>(e, here, sum);
        } else {
          e += add<1>(e, here, sum);
        }
      }
    }
#pragma unroll
    for (int offset = kWarpSize / 2; offset >= Stride; offset /= 2) sum += __shfl_xor_sync(kFullWarp, sum, offset);
    const bool part = place_.slot >= p_.rows;
    const double result = publishable(part ? sum : (rhs_ - sum) * pivot_);
    if (group_ == 0 && active_) {
      if (!part) p_.in[std::int64_t{place_.in} * Stride + column_] = not_yet();
      DeviceAtomic<double>(p_.out[std::int64_t{place_.slot} * Stride + column_])
          .store(result, ::cuda::memory_order_relaxed);
      if (!is_finite(result)) *p_.non_finite = 1;
    }
  }

  /// Takes over what `other` has fetched.
  __device__ void take(const Row& other) {
    place_ = other.place_;
    entry_column_ = other.entry_column_;
    entry_value_ = other.entry_value_;
    rhs_ = other.rhs_;
    pivot_ = other.pivot_;
    gate_ = other.gate_;
  }

 private:
  __device__ void load_entries(Index base) {
    const Index e = base + lane_;
    const bool present = e < place_.count;
    entry_column_ = present ? __ldg(p_.column + place_.first + e) : 0;
    entry_value_ = present ? __ldg(p_.value + place_.first + e) : 0.0;
  }

  __device__ double peek(Index slot) const {
    return DeviceAtomic<double>(p_.out[std::int64_t{slot} * Stride + column_]).load(::cuda::memory_order_relaxed);
  }

  /// Adds Batch entries a group, from entry e of the `here` that the lanes hold. @returns how many that are
  template <int Batch>
  __device__ int add(int e, int here, double& sum) const {
    double operand[Batch];
    unsigned missing = 0;
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const int at = e + k * kGroups + group_;
      const Index from = __shfl_sync(kFullWarp, entry_column_, at % kWarpSize);
      operand[k] = 0.0;
      if (at < here && active_) {
        operand[k] = peek(from);
        missing |= 1U << k;
      }
    }
    bool again = false;
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      if ((missing >> k & 1U) && is_ready(operand[k])) missing &= ~(1U << k);
    }
    again = __any_sync(kFullWarp, missing != 0);
    while (again) {
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        const int at = e + k * kGroups + group_;
        const Index from = __shfl_sync(kFullWarp, entry_column_, at % kWarpSize);
        if (missing >> k & 1U) operand[k] = peek(from);
      }
#pragma unroll
      for (int k = 0; k < Batch; ++k) {
        if ((missing >> k & 1U) && is_ready(operand[k])) missing &= ~(1U << k);
      }
      again = __any_sync(kFullWarp, missing != 0);
    }
#pragma unroll
    for (int k = 0; k < Batch; ++k) {
      const int at = e + k * kGroups + group_;
      const double value = __shfl_sync(kFullWarp, entry_value_, at % kWarpSize);
      const Index from = __shfl_sync(kFullWarp, entry_column_, at % kWarpSize);
      if (at < here && active_) {
        sum += value * operand[k];
        // No other task reads a part's sum: its slot is ready for the next solve from here on.
        if (from >= p_.rows) p_.out[std::int64_t{from} * Stride + column_] = not_yet();
      }
    }
    return Batch * kGroups;
  }

  const SolveParameters& p_;
  int lane_;
  int column_;
  int group_;
  bool active_;
  Place place_;
  Index entry_column_;
  double entry_value_;
  double rhs_;
  double pivot_;
  Index gate_ = -1;
};

/// By levels: warp w of a block draws tickets from counter w and takes the places ticket · kLevelWarps + w, so that one
/// counter is not what everybody waits for. (Of the smallest unfinished place's counter some resident warp is always
/// free to draw: every block has a warp for each counter.) The next place's entries travel while a place waits for its
/// operands, and so does the ticket after that.
inline constexpr int kLevelWarps = 8;
inline constexpr int kCounterStride = 64;  ///< in ints: counters lie in different parts of the L2 cache

template <int Stride>
__global__ void __launch_bounds__(kLevelWarps* kWarpSize, 4) level_kernel(const SolveParameters p) {
  using cuda::TicketCounter;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  if (blockIdx.x == 0 && lane == 0) p.next_counter[warp * kCounterStride] = 0;
  const TicketCounter tickets{p.counter + warp * kCounterStride};
  const auto receive = [warp](int request) { return TicketCounter::receive(request) * kLevelWarps + warp; };
  Row<Stride> row(p);
  Row<Stride> next(p);
  Index number = receive(tickets.request(lane));
  Index following = receive(tickets.request(lane));
  int requested = tickets.request(lane);
  Place ahead{};
  if (number < p.places) row.fetch(load_place(p.place + number), number);
  if (following < p.places) ahead = load_place(p.place + following);
  while (number < p.places) {
    const bool more = following < p.places;
    if (more) next.fetch(ahead, following);
    const Index third = receive(requested);
    requested = tickets.request(lane);
    if (third < p.places) ahead = load_place(p.place + third);
    row.run();
    if (more) row.take(next);
    number = following;
    following = third;
  }
}

}  // namespace taskdag::kernels::many
