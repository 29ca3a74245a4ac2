/// \file
/// Rows of the form `registers`: a warp has one, an entry or a few a lane.
#pragma once

#include <type_traits>

#include "kernels/factor/cuda/row.cuh"

namespace taskdag::kernels::elimination {

/// Pivot rows that a row waits for at once: those of a word of its list.
inline constexpr int kRegisterBatch = kPivotsPerWord;

/// Element `which` of registers; the same in the whole warp.
template <int kHeld, class T>
__device__ T chosen(const T (&held)[kHeld], int which) {
  T result = held[0];
#pragma unroll
  for (int h = 1; h < kHeld; ++h) result = which == h ? held[h] : result;
  return result;
}

/// What is known of a row beforehand, in shared memory.
struct KnownRow {
  const EliminationRow& row;
  Index position;
  const PivotRow* pivots;  ///< padding, then the pivot rows
  const double* values;    ///< to factorise, by entry
};

/// Words of a batch in the list of a row, which may need fewer registers than there are.
template <int kHeld>
__device__ int batch_words(const EliminationRow& row) {
  return kHeld == 1 ? kWarpSize : registers_of(row.entries, row.pivot_count) * kWarpSize;
}

/// The list of a row, batch by batch, where nothing of it travels while it is read.
class WholeList {
 public:
  /// first: this lane's.
  __device__ WholeList(const unsigned* first, int words) : first_(first), words_(words) {}
  /// This lane's first word of a batch, `words` long.
  [[nodiscard]] __device__ const unsigned* at(int batch) const { return first_ + batch * words_; }
  [[nodiscard]] __device__ int words() const { return words_; }

 private:
  const unsigned* first_;
  int words_;
};

/// What the pivot rows of a batch bring to this lane's entries, 0 where they do not meet them: a factor by which 0 is
/// multiplied is not finite only in a row that is reported for it.
template <int kHeld>
struct RegisterBatch {
  unsigned offsets[kHeld];
  double value[kRegisterBatch][kHeld];

  /// pivots: the batch's.
  __device__ void look(const Parameters& p, const PivotRow* pivots, const unsigned* list, int words) {
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      offsets[h] = h == 0 || h * kWarpSize < words ? list[h * kWarpSize] : ~0U;
#pragma unroll
      for (int i = 0; i < kRegisterBatch; ++i)
        value[i][h] = offset(i, h) != kNoOffset ? p.slots.peek(slot(i, h, pivots)) : 0.0;
    }
  }
  /// Of pivot rows kFrom to kTo − 1.
  template <int kFrom, int kTo = kRegisterBatch>
  [[nodiscard]] __device__ bool missing() const {
    bool any = false;
#pragma unroll
    for (int i = kFrom; i < kTo; ++i) {
#pragma unroll
      for (int h = 0; h < kHeld; ++h) any = any | !is_ready(value[i][h]);
    }
    return any;
  }
  template <int kFrom>
  __device__ void look_again(const Parameters& p, const PivotRow* pivots) {
#pragma unroll
    for (int i = kFrom; i < kRegisterBatch; ++i) {
#pragma unroll
      for (int h = 0; h < kHeld; ++h) {
        if (!is_ready(value[i][h])) value[i][h] = p.slots.peek(slot(i, h, pivots));
      }
    }
  }

 private:
  /// Byte i of the list's word; one instruction, unlike shifts and masks.
  [[nodiscard]] __device__ unsigned offset(int i, int h) const { return __byte_perm(offsets[h], 0, 0x4440U + i); }
  [[nodiscard]] __device__ Index slot(int i, int h, const PivotRow* pivots) const {
    return pivots[i].mirrored + static_cast<Index>(offset(i, h));
  }
};

/// A row that others wait for no more.
template <int kHeld>
struct EliminatedRow {
  Index entry[kHeld];
  double value[kHeld];
  double pivot;  ///< this and the next one in the lane of the diagonal entry
  double inverse;
};

/// Entry or pivot row r is in lane r % 32, register r / 32. Batches end with the last pivot row, so there may be
/// padding before the first one; ilu has its entries left of the diagonal with their pivot rows. kAhead: whether the
/// next batch is looked at before one is waited for.
template <FactorKind Kind, int kHeld, bool kAhead>
class RegisterRow {
 public:
  __device__ RegisterRow(const Parameters& p, int lane) : p_(p), lane_(lane) {}

  /// First of all, at what others have done. The next row may be looked at before the last one is stored.
  template <class List>
  __device__ void look(const KnownRow& known, const List& list) {
    const int empty = padding_of(known.row.pivot_count);
    const int padded = known.row.pivot_count + empty;
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int r = h * kWarpSize + lane_;
      inverse_slot_[h] = r >= empty && r < padded ? known.pivots[r].inverse : kNoValue;
      inverse_[h] = inverse_slot_[h] >= 0 ? p_.slots.peek(inverse_slot_[h]) : 0.0;
    }
    if (padded > 0) now_.look(p_, known.pivots, list.at(0), list.words());
    if constexpr (kAhead) {
      if (padded > kRegisterBatch) next_.look(p_, known.pivots + kRegisterBatch, list.at(1), list.words());
    }
  }

  /// Then at its own entries.
  __device__ void take(const KnownRow& known) {
    const int shift = kIlu ? padding_of(known.row.pivot_count) : 0;
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int r = h * kWarpSize + lane_;
      entry_[h] = r >= shift && r < known.row.entries + shift ? r - shift : -1;
      if (kIlu && inverse_slot_[h] >= 0) entry_[h] = known.pivots[r].index;
      own_[h] = entry_[h] >= 0 ? known.values[entry_[h]] : 0.0;
      if (entry_[h] == known.row.diagonal) own_[h] = p_.input.shift.applied_to(own_[h]);
    }
  }

  /// Waits for pivot rows, publishes what others wait for.
  template <class List>
  __device__ EliminatedRow<kHeld> eliminate(const KnownRow& known, const List& list) {
    const PivotRow* pivots = known.pivots;
    const int last = known.row.pivot_count + padding_of(known.row.pivot_count) - kRegisterBatch;
    first_ = 0;
    if constexpr (kAhead) {
      // Two batches alternate, so that none is copied.
      while (first_ < last) {
        eliminate_early(now_, list, last, pivots);
        if (first_ == last) {
          now_ = next_;
          break;
        }
        eliminate_early(next_, list, last, pivots);
      }
    } else {
      while (first_ < last) eliminate_early(now_, list, last, pivots);
    }
    if (last >= 0) eliminate_last(pivots);
    return publish(known);
  }

  /// The rest of what eliminate() was given, whatever has been looked at since.
  __device__ void store(const KnownRow& known, const EliminatedRow<kHeld>& done) const {
    const EliminationRow& row = known.row;
    double absolute_sum = 0.0;
    bool has_diagonal = false;
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      if (done.entry[h] < 0) continue;
      p_.entries[row.begin + done.entry[h]] = done.value[h];
      if (done.entry[h] == row.diagonal) {
        has_diagonal = true;
        p_.inverse_pivots[row.row] = done.inverse;
        p_.next_slots[known.position] = not_yet();
      } else {
        absolute_sum += magnitude(done.value[h]);
        if (done.entry[h] > row.diagonal) p_.next_slots[first_slot(row) + done.entry[h]] = not_yet();
      }
    }
    // A sum of numbers less than this one is finite, which is all that other rules ask.
    const bool asked = p_.rule.shift == ShiftType::nonzero || p_.rule.shift == ShiftType::positive_definite;
    if (asked || __any_sync(kFullWarp, !(absolute_sum < 0x1p1000))) {
      absolute_sum = LaneGroup(lane_, kWarpSize).sum(absolute_sum);
    }
    if (!has_diagonal) return;
    const DiagonalEntry diagonal = p_.input.diagonal(p_.rule, row.begin + row.diagonal);
    static_cast<void>(check_pivot(p_.rule, row.row, done.pivot, absolute_sum, diagonal, p_.reporter));
  }

 private:
  static constexpr bool kIlu = Kind == FactorKind::ilu;
  /// Nanoseconds between two looks at inverse pivots of early pivot rows. Where a row has one register, many warps
  /// look.
  static constexpr unsigned kPause = kHeld == 1 ? 200 : 40;

  /// Of its entry 0, if that is right of the diagonal.
  [[nodiscard]] __device__ Index first_slot(const EliminationRow& row) const {
    return p_.lists.tasks.rows + row.first_changed - row.diagonal - 1;
  }

  /// The batch from pivot row first_ on, padding counted: its register, the lane of pivot row i.
  [[nodiscard]] __device__ int batch_register() const { return kHeld == 1 ? 0 : first_ / kWarpSize; }
  [[nodiscard]] __device__ int lane_of(int i) const { return (kHeld == 1 ? first_ : first_ % kWarpSize) + i; }
  __device__ void begin_batch() {
    const bool mine = lane_ / kRegisterBatch == lane_of(0) / kRegisterBatch;
    batch_slot_ = mine ? chosen(inverse_slot_, batch_register()) : kNoValue;
    batch_inverse_ = chosen(inverse_, batch_register());
  }
  __device__ void end_batch() {
#pragma unroll
    for (int h = 0; h < kHeld; ++h) inverse_[h] = batch_register() == h ? batch_inverse_ : inverse_[h];
  }

  /// All of a batch that is not the last one, and the first look at the one that replaces it.
  template <class List>
  __device__ void eliminate_early(RegisterBatch<kHeld>& batch, const List& list, int last, const PivotRow*& pivots) {
    constexpr int kNext = kAhead ? 2 : 1;
    begin_batch();
    wait_for_inverses(waits<0>());
    wait<0, kRegisterBatch>(batch, pivots);
#pragma unroll
    for (int i = 0; i < kRegisterBatch; ++i) apply(batch, i, factor(batch, i));
    end_batch();
    const int number = first_ / kRegisterBatch;
    if constexpr (kAhead) list.done_with(number);
    if (!kAhead || first_ + kRegisterBatch < last) {
      batch.look(p_, pivots + kNext * kRegisterBatch, list.at(number + kNext), list.words());
    }
    first_ += kRegisterBatch;
    pivots += kRegisterBatch;
  }

  /// Whether this lane waits for the inverse pivot of pivot row kFrom of the batch or of a later one.
  template <int kFrom>
  [[nodiscard]] __device__ bool waits() const {
    return batch_slot_ >= 0 && lane_ >= lane_of(kFrom) && !is_ready(batch_inverse_);
  }
  /// Early pivot rows are waited for politely, by one look a row.
  __device__ void wait_for_inverses(bool waits) {
    while (__any_sync(kFullWarp, waits)) {
      __nanosleep(kPause);
      if (waits) batch_inverse_ = p_.slots.peek(batch_slot_);
      waits = waits && !is_ready(batch_inverse_);
    }
  }
  /// For pivot rows kFrom to kTo − 1 of the batch, by looking at all that is missing of these and later ones.
  template <int kFrom, int kTo>
  __device__ void wait(RegisterBatch<kHeld>& batch, const PivotRow* pivots) {
    while (__any_sync(kFullWarp, (waits<kFrom>() && lane_ < lane_of(kTo)) | batch.template missing<kFrom, kTo>())) {
      if (waits<kFrom>()) batch_inverse_ = p_.slots.peek(batch_slot_);
      batch.template look_again<kFrom>(p_, pivots);
    }
  }

  /// The multiplier of pivot row i of the batch.
  [[nodiscard]] __device__ double factor(const RegisterBatch<kHeld>& batch, int i) const {
    if constexpr (kIlu) {
      const double own = multiplier<Kind>(chosen(own_, batch_register()), 0.0, batch_inverse_);
      return __shfl_sync(kFullWarp, own, lane_of(i));
    } else {  // the pivot row's entry in the column of the row, its diagonal entry, is in the first lane
      const double mirrored = __shfl_sync(kFullWarp, batch.value[i][0], 0);
      return multiplier<Kind>(0.0, mirrored, __shfl_sync(kFullWarp, batch_inverse_, lane_of(i)));
    }
  }
  __device__ void apply(const RegisterBatch<kHeld>& batch, int i, double factor) {
#pragma unroll
    for (int h = 0; h < kHeld; ++h) own_[h] -= factor * batch.value[i][h];
  }

  /// The last batch is what the row's successors wait for. Its first pivot row is taken as soon as it is there; so is
  /// each of the others, if one of them needs another one, else they are taken at once.
  __device__ void eliminate_last(const PivotRow* pivots) {
    begin_batch();
    bool needs = false;
    if constexpr (kIlu) needs = batch_slot_ >= 0 && (chosen(now_.offsets, batch_register()) | kNoOffset) != ~0U;
    const bool one_by_one = __any_sync(kFullWarp, needs);
    const auto take = [&](auto i) {
      constexpr int kWhich = decltype(i)::value;
      wait<kWhich, kWhich + 1>(now_, pivots);
      apply(now_, kWhich, factor(now_, kWhich));
    };
    wait_for_inverses(waits<0>() && lane_ == lane_of(0));
    take(std::integral_constant<int, 0>{});
    if (one_by_one) {
      take(std::integral_constant<int, 1>{});
      take(std::integral_constant<int, 2>{});
      take(std::integral_constant<int, 3>{});
    } else {
      wait<1, kRegisterBatch>(now_, pivots);
      double factors[kRegisterBatch];
#pragma unroll
      for (int i = 1; i < kRegisterBatch; ++i) factors[i] = factor(now_, i);
#pragma unroll
      for (int i = 1; i < kRegisterBatch; ++i) apply(now_, i, factors[i]);
    }
    end_batch();
  }

  __device__ EliminatedRow<kHeld> publish(const KnownRow& known) {
    EliminatedRow<kHeld> done{};
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      done.entry[h] = entry_[h];
      double published = own_[h];
      Index slot = first_slot(known.row) + entry_[h];
      if (entry_[h] == known.row.diagonal) {
        done.pivot = own_[h];
        own_[h] = shifted_pivot(p_.rule, done.pivot);
        published = done.inverse = 1.0 / own_[h];
        slot = known.position;
      }
      if (entry_[h] >= known.row.diagonal) p_.slots.publish(slot, published);
    }
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const bool is_multiplier = kIlu && inverse_slot_[h] >= 0;
      done.value[h] = is_multiplier ? multiplier<Kind>(own_[h], 0.0, inverse_[h]) : own_[h];
    }
    return done;
  }

  const Parameters& p_;
  int lane_;
  RegisterBatch<kHeld> now_;
  RegisterBatch<kHeld> next_;
  ValueReference inverse_slot_[kHeld];
  double inverse_[kHeld];
  Index entry_[kHeld];
  double own_[kHeld];
  int first_;
  ValueReference batch_slot_;
  double batch_inverse_;
};
static_assert(kRegisterBatch == 4);

/// Where a warp that has rows of other forms, too, puts what it knows of one.
struct RegisterStage {
  PivotRow pivots[kMostRegisters * kWarpSize];
  double values[kMostRegisters * kWarpSize];
};

/// A whole warp for the row.
template <FactorKind Kind, int kHeld>
__device__ void eliminate_in_registers(const Parameters& p, int lane, const GroupRow& row, RegisterStage& stage) {
  const int empty = padding_of(row.pivot_count);
  for (int r = lane; r < row.pivot_count; r += kWarpSize) {
    stage.pivots[empty + r] = load(p.lists.pivots + row.first_pivot + r);
  }
  for (int e = lane; e < row.entries; e += kWarpSize) stage.values[e] = p.input.value(row.begin + e);
  __syncwarp();
  const KnownRow known{row, row.position, stage.pivots, stage.values};
  const WholeList list(reinterpret_cast<const unsigned*>(p.lists.updates + row.first_update) + lane,
                       batch_words<kHeld>(row));
  RegisterRow<Kind, kHeld, false> work(p, lane);
  work.look(known, list);
  work.take(known);
  const EliminatedRow<kHeld> done = work.eliminate(known, list);
  work.store(known, done);
  __syncwarp();
}

/// By how many registers the row needs.
template <FactorKind Kind>
__device__ void eliminate_in_registers(const Parameters& p, int lane, const GroupRow& row, RowForm form,
                                       RegisterStage& stage) {
  if (form == RowForm::registers) return eliminate_in_registers<Kind, 1>(p, lane, row, stage);
  if (form == RowForm::two_registers) return eliminate_in_registers<Kind, 2>(p, lane, row, stage);
  eliminate_in_registers<Kind, 3>(p, lane, row, stage);
}

}  // namespace taskdag::kernels::elimination
