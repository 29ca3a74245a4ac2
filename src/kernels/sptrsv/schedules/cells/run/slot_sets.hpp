/// \file
/// Slots and tickets of a sweep whose solves alternate between two sets of them.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"

namespace taskdag::kernels::cells {

/// A solve leaves ready what the next one starts from, and may begin while the one before is still at work: so there
/// are two sets of slots and two counters of tickets.
class SlotSets {
 public:
  /// What a solve gets.
  struct ForSolve {
    double* slots;       ///< all are not_yet
    double* next_slots;  ///< to be reset to that
    unsigned* ticket;    ///< not that of the last solve
    unsigned before;     ///< tickets that earlier solves have taken of it
    bool overlaps;       ///< it may begin before the kernel before it ends
  };

  /// zero_last: the last slot is 0, and no solve changes it.
  SlotSets(std::size_t slots, bool zero_last, cudaStream_t stream)
      : zero_last_(zero_last), slots_(slots, stream), spare_(slots, stream), tickets_(2, stream) {}

  /// launch(for_solve): launches a solve on `stream`. @returns how many tickets it takes
  template <class Launch>
  void take(cudaStream_t stream, const Launch& launch) {
    if (start_.must_reset(stream)) reset(stream);
    taken_[parity_] +=
        launch(ForSolve{slots_.data(), spare_.data(), tickets_.data() + parity_, taken_[parity_], overlaps_});
    overlaps_ = true;
    start_.launched();
    std::swap(slots_, spare_);
    parity_ = 1 - parity_;
  }
  /// Values are on their way that the next solve must not begin before.
  void wait_for_values() { overlaps_ = false; }

  /// Slots of the last solve.
  [[nodiscard]] const double* last() const { return spare_.data(); }
  [[nodiscard]] std::int64_t bytes() const { return slots_.bytes() + spare_.bytes() + tickets_.bytes(); }

 private:
  void reset(cudaStream_t stream);

  bool zero_last_;
  cuda::DeviceArray<double> slots_;
  cuda::DeviceArray<double> spare_;
  cuda::DeviceArray<unsigned> tickets_;
  std::array<unsigned, 2> taken_{};
  cuda::StartState start_;
  std::size_t parity_ = 0;  ///< of the next solve: which counter it takes tickets of
  bool overlaps_ = false;
};

}  // namespace taskdag::kernels::cells
