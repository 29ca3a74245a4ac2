/// \file
/// What a warp that works on rows in registers, one after the other, has in shared memory of them, and how it comes
/// there while the warp is at work on rows before.
#pragma once

#include "backends/cuda/copy_async.cuh"
#include "kernels/factor/cuda/registers.cuh"

namespace taskdag::kernels::elimination {

/// Batches of a row's list that are there at once: all of a row of one register.
inline constexpr int kBatchesAhead = kWarpSize / kPivotsPerWord;
/// Rows whose descriptions are.
inline constexpr int kDescriptionsAhead = 4;

template <int kHeld>
struct RowsAhead {
  alignas(16) EliminationRow rows[kDescriptionsAhead];
  alignas(16) PivotRow pivots[2][kHeld * kWarpSize];
  alignas(16) unsigned list[2][kBatchesAhead * kHeld * kWarpSize];  ///< as long as the row's batches are
  alignas(16) double values[2][kHeld * kWarpSize];
  Offset source[2][kHeld * kWarpSize];
};

/// Copies for the warp's row number k, if there is one at `position`. Asynchronous, until arrived().
template <int kHeld>
class CopyAhead {
 public:
  __device__ CopyAhead(const Parameters& p, RowsAhead<kHeld>& to, int lane) : p_(p), to_(to), lane_(lane) {}

  [[nodiscard]] __device__ KnownRow known(int k, Index position) const {
    return {to_.rows[k % kDescriptionsAhead], position, to_.pivots[k % 2], to_.values[k % 2]};
  }
  /// The first of a row's copies.
  __device__ void description(int k, Index position) const {
    constexpr int kPieces = sizeof(EliminationRow) / sizeof(int4);
    if (lane_ >= kPieces || position >= p_.lists.tasks.rows) return;
    cuda::copy_async<16>(reinterpret_cast<int4*>(&to_.rows[k % kDescriptionsAhead]) + lane_,
                         reinterpret_cast<const int4*>(p_.lists.rows + position) + lane_);
  }
  /// Where its values are, when its description has arrived.
  __device__ void source(int k, Index position) const {
    if (!p_.input.source || position >= p_.lists.tasks.rows) return;
    const EliminationRow& row = to_.rows[k % kDescriptionsAhead];
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int e = h * kWarpSize + lane_;
      if (e < row.entries) cuda::copy_async<4>(&to_.source[k % 2][e], p_.input.source + row.begin + e);
    }
  }
  /// All else, when its source has arrived.
  __device__ void data(int k, Index position) const {
    if (position >= p_.lists.tasks.rows) return;
    const EliminationRow& row = to_.rows[k % kDescriptionsAhead];
    const int empty = padding_of(row.pivot_count);
#pragma unroll
    for (int h = 0; h < kHeld; ++h) {
      const int r = h * kWarpSize + lane_;
      if (r >= empty && r < row.pivot_count + empty) {
        cuda::copy_async<16>(&to_.pivots[k % 2][r], p_.lists.pivots + row.first_pivot + r - empty);
      }
      if (r >= row.entries) continue;
      const Offset from = p_.input.source ? to_.source[k % 2][r] : row.begin + r;
      if (from >= 0) {
        cuda::copy_async<8>(&to_.values[k % 2][r], p_.input.values + from);
      } else {
        to_.values[k % 2][r] = 0.0;
      }
    }
    const int batches = min((row.pivot_count + empty) / kPivotsPerWord, kBatchesAhead);
    const int pieces = batches * batch_words<kHeld>(row) / 4;
    const auto* const from = reinterpret_cast<const int4*>(p_.lists.updates + row.first_update);
    auto* const to = reinterpret_cast<int4*>(to_.list[k % 2]);
#pragma unroll
    for (int i = 0; i < 2 * kHeld; ++i) {
      const int piece = i * kWarpSize + lane_;
      if (piece < pieces) cuda::copy_async<16>(to + piece, from + piece);
    }
  }
  /// All that the warp has asked for.
  static __device__ void arrived() {
    cuda::wait_for_all_copies();
    __syncwarp();
  }

 private:
  const Parameters& p_;
  RowsAhead<kHeld>& to_;
  int lane_;
};

/// The list of a row in RowsAhead. Batches beyond those that fit replace others, when these are done
/// with; a lane reads its own words only.
template <int kHeld>
class ListAhead {
 public:
  /// ring: to_.list of the row.
  __device__ ListAhead(const Parameters& p, const EliminationRow& row, unsigned* ring, int lane)
      : p_(p), row_(row), ring_(ring + lane), lane_(lane), words_(batch_words<kHeld>(row)) {}

  /// Of the next batch but one at most: no earlier batch needs these words any more.
  [[nodiscard]] __device__ const unsigned* at(int batch) const {
    if constexpr (kHeld == 1) return ring_ + batch * kWarpSize;
    // Batch `batch` was asked for by done_with(batch − kBatchesAhead), since when there were so many others.
    cuda::wait_for_copies<kBatchesAhead - 2>();
    return ring_ + batch % kBatchesAhead * words_;
  }
  [[nodiscard]] __device__ int words() const { return words_; }
  __device__ void done_with(int batch) const {
    if constexpr (kHeld == 1) return;
    const int next = batch + kBatchesAhead;
    if (next * kPivotsPerWord < row_.pivot_count) {
      const Index* const from = p_.lists.updates + row_.first_update + next * words_ + lane_;
#pragma unroll
      for (int h = 0; h < kHeld; ++h) {
        const int word = h * kWarpSize;
        if (word < words_) cuda::copy_async<4>(ring_ + batch % kBatchesAhead * words_ + word, from + word);
      }
    }
    cuda::end_of_copies();
  }

 private:
  const Parameters& p_;
  const EliminationRow& row_;
  unsigned* ring_;
  int lane_;
  int words_;
};

}  // namespace taskdag::kernels::elimination
