/// \file
/// Rows of the form `registers`.
#pragma once

#include "kernels/factor/cuda/row.cuh"

namespace taskdag::kernels::elimination {

/// Pivot rows that a row of the form `registers` waits for at once: those of a word of its list.
inline constexpr int kRegisterBatch = kPivotsPerWord;

/// Element `which` of registers; the same in the whole warp.
template <int kHeld, class T>
__device__ T chosen(const T (&held)[kHeld], int which) {
  T result = held[0];
#pragma unroll
  for (int h = 1; h < kHeld; ++h) result = which == h ? held[h] : result;
  return result;
}

/// What the next pivot rows of a row bring to this lane's entries.
template <int kHeld>
struct RegisterBatch {
  unsigned offsets[kHeld];
  Index first_slot[kRegisterBatch];
  double value[kRegisterBatch][kHeld];

  /// list: of the batch, where this lane's word is. slots: by pivot row, in this lane; first: that of the batch.
  __device__ void take(const unsigned* list, Index slots, int first) {
#pragma unroll
    for (int h = 0; h < kHeld; ++h) offsets[h] = __ldg(list + h * kWarpSize);
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) first_slot[i] = __shfl_sync(kFullWarp, slots, (first + i) % kWarpSize);
  }
  __device__ ValueReference reference(int i, int h) const {
    const unsigned offset = offsets[h] >> (8 * i) & kNoOffset;
    return offset == kNoOffset ? kNoValue : first_slot[i] + static_cast<Index>(offset);
  }
  __device__ void peek(const Parameters& p) {
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) {
#pragma unroll
      for (int h = 0; h < kHeld; ++h) value[i][h] = p.peek(reference(i, h));
    }
  }
  __device__ bool missing() const {
    bool any = false;
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) {
#pragma unroll
      for (int h = 0; h < kHeld; ++h) any = any | Parameters::missing(reference(i, h), value[i][h]);
    }
    return any;
  }
  __device__ void look_again(const Parameters& p) {
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) {
#pragma unroll
      for (int h = 0; h < kHeld; ++h) p.look_again(reference(i, h), value[i][h]);
    }
  }
};

/// A whole warp for the row. Entry or pivot row r is in lane r % 32, register r / 32. Batches end with the last pivot
/// row, so the first places of pivot rows may be empty; ilu has its entries left of the diagonal with their pivot rows.
template <FactorKind Kind, int kHeld>
__device__ void eliminate_in_registers(const Parameters& p, const LaneGroup& group, int lane, const GroupRow& row) {
  constexpr bool kIlu = Kind == FactorKind::ilu;
  constexpr bool kAhead = kHeld == 1;  // there is room for two batches
  const int empty = empty_places(row.pivot_count);
  const int places = row.pivot_count + empty;
  const int shift = kIlu ? empty : 0;  // of the entries
  const unsigned* const list = reinterpret_cast<const unsigned*>(p.lists.updates + row.first_update) + lane;
  Index entry[kHeld];
  ValueReference inverse_slot[kHeld];
  Index first_slot[kHeld];
  double own[kHeld];
  double inverse[kHeld];
#pragma unroll
  for (int h = 0; h < kHeld; ++h) {
    const Index r = h * kWarpSize + lane;
    entry[h] = r >= shift && r < row.entries + shift ? r - shift : -1;
    inverse_slot[h] = kNoValue;
    first_slot[h] = 0;
    if (r >= empty && r < places) {
      const PivotRow pivot = load(p.lists.pivots + row.first_pivot + r - empty);
      inverse_slot[h] = pivot.inverse;
      first_slot[h] = pivot.meeting;
      if (kIlu) entry[h] = pivot.place;
    }
    inverse[h] = p.peek(inverse_slot[h]);
    own[h] = entry[h] >= 0 ? p.input.value(row.begin + entry[h]) : 0.0;
    if (entry[h] == row.diagonal) own[h] = p.input.shift.applied_to(own[h]);
  }
  RegisterBatch<kHeld> now;
  RegisterBatch<kHeld> next;  // if kAhead
  const auto take = [&](RegisterBatch<kHeld>& batch, int first) {
    batch.take(list + first / kRegisterBatch * kHeld * kWarpSize, chosen(first_slot, first / kWarpSize), first);
  };
  if (places > 0) take(now, 0);
  if (kAhead && places > 0) now.peek(p);
  if (kAhead && places > kRegisterBatch) take(next, kRegisterBatch);
  for (int first = 0; first < places; first += kRegisterBatch) {
    const int which = first / kWarpSize;
    const bool is_last = first + kRegisterBatch == places;
    if (!kAhead) now.peek(p);
    if (kAhead && !is_last) next.peek(p);
    const bool in_batch = lane / kRegisterBatch == first % kWarpSize / kRegisterBatch;
    const ValueReference slot = in_batch ? chosen(inverse_slot, which) : kNoValue;
    double batch_inverse = chosen(inverse, which);
    // Early pivot rows are waited for politely, by one look a row; what the last of them bring is looked at all at
    // once.
    while (!is_last && __any_sync(kFullWarp, Parameters::missing(slot, batch_inverse)))
      p.look_again(slot, batch_inverse);
    while (__any_sync(kFullWarp, Parameters::missing(slot, batch_inverse) | now.missing())) {
      p.look_again(slot, batch_inverse);
      now.look_again(p);
    }
#pragma unroll
    for (int h = 0; h < kHeld; ++h) inverse[h] = which == h ? batch_inverse : inverse[h];
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) {
      const int from = first % kWarpSize + i;
      double factor;
      if constexpr (kIlu) {
        factor = __shfl_sync(kFullWarp, multiplier<Kind>(chosen(own, which), 0.0, batch_inverse), from);
      } else {  // the pivot row's entry in the column of the row, its diagonal entry, is in the first lane
        factor = multiplier<Kind>(0.0, __shfl_sync(kFullWarp, now.value[i][0], 0),
                                  __shfl_sync(kFullWarp, batch_inverse, from));
      }
#pragma unroll
      for (int h = 0; h < kHeld; ++h) {
        if (now.reference(i, h) != kNoValue) own[h] -= factor * now.value[i][h];
      }
    }
    if (kAhead) now = next;
    const int after = first + (kAhead ? 2 : 1) * kRegisterBatch;
    if (after < places) take(kAhead ? next : now, after);
  }
  const Index slots = p.lists.tasks.rows + row.first_changed - row.diagonal - 1;
#pragma unroll
  for (int h = 0; h < kHeld; ++h) {
    if (entry[h] > row.diagonal) p.slots.publish(slots + entry[h], own[h]);
  }
  const int at = row.diagonal + shift;
  const double diagonal = __shfl_sync(kFullWarp, chosen(own, at / kWarpSize), at % kWarpSize);
  const double result = publish_pivot(p, group, lane, row, 1, diagonal, 0.0);
  double absolute_sum = 0.0;  // from here on nobody waits
#pragma unroll
  for (int h = 0; h < kHeld; ++h) {
    if (entry[h] < 0 || entry[h] == row.diagonal) continue;
    if (kIlu && inverse_slot[h] != kNoValue) own[h] = multiplier<Kind>(own[h], 0.0, inverse[h]);
    p.entries[row.begin + entry[h]] = own[h];
    absolute_sum += magnitude(own[h]);
    if (entry[h] > row.diagonal) p.next_slots[slots + entry[h]] = not_yet();
  }
  check_row(p, group, row, result, absolute_sum);
}

/// A row of more than one register, by how many it needs.
template <FactorKind Kind>
__device__ void eliminate_in_more_registers(const Parameters& p, const LaneGroup& group, int lane,
                                            const GroupRow& row) {
  static_assert(kMostRegisters == 3);
  if (registers_of(row.entries, row.pivot_count) == 2) return eliminate_in_registers<Kind, 2>(p, group, lane, row);
  eliminate_in_registers<Kind, 3>(p, group, lane, row);
}

}  // namespace taskdag::kernels::elimination
