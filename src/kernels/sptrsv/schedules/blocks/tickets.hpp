/// \file
/// Launches whose blocks take portions in their order until there are no more.
#pragma once

#include <array>

#include "backends/cuda/launch.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "base/first_number.hpp"
#include "base/index.hpp"
#include "kernels/sptrsv/schedules/blocks/pack.cuh"

namespace taskdag::kernels::supersteps {

/// What a block needs to take portions and to say that one is done.
struct PortionTickets {
  unsigned long long* ticket;
  unsigned long long before;  ///< tickets that earlier launches have taken
  unsigned* done;             ///< by portion: the last solve that has run it
  unsigned solve;
  Index portions;
};

class Tickets {
 public:
  Tickets(Index portions, cudaStream_t stream)
      : portions_(portions), ticket_(kCounters, stream), done_(at(portions), stream) {}

  /// Values have been loaded: the next launch waits for all that comes before it on its stream.
  void wait_for_values() { overlaps_ = false; }
  /// Whether the next launch may begin while the kernel before it runs, where launches overlap.
  [[nodiscard]] bool overlaps() const { return overlaps_; }
  [[nodiscard]] unsigned* done() const { return done_.data(); }
  [[nodiscard]] unsigned solve() const { return solve_; }

  /// Of the next launch, which launch() has to follow.
  [[nodiscard]] PortionTickets next(cudaStream_t stream) {
    if (start_.must_reset(stream)) reset(stream);
    const unsigned counter = (solve_ + 1) % kCounters;
    return {ticket_.data() + counter, taken_[counter], done_.data(), solve_ + 1, portions_};
  }
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), Index grid, int threads, std::size_t shared_bytes, cudaStream_t stream,
              const Arguments&... arguments) {
    cuda::Launch(grid, threads, shared_bytes, stream)
        .overlapping(overlaps_)
        .run("launching blocks", kernel, arguments...);
    ++solve_;
    taken_[solve_ % kCounters] += static_cast<unsigned long long>(portions_) + static_cast<unsigned long long>(grid);
    overlaps_ = true;
    start_.launched();
  }

  [[nodiscard]] std::int64_t bytes() const { return ticket_.bytes() + done_.bytes(); }

 private:
  void reset(cudaStream_t stream) {
    set_bytes(ticket_, 0, stream);
    set_bytes(done_, 0, stream);
    taken_ = {};
    solve_ = first_number;
    overlaps_ = false;
  }

  /// Two launches in a row may overlap, so they take tickets of two counters.
  static constexpr unsigned kCounters = 2;
  Index portions_;
  bool overlaps_ = false;
  unsigned solve_ = 0;  ///< the last one's number
  std::array<unsigned long long, kCounters> taken_{};
  cuda::StartState start_;  ///< of tickets and flags
  cuda::DeviceArray<unsigned long long> ticket_;
  cuda::DeviceArray<unsigned> done_;
};

}  // namespace taskdag::kernels::supersteps
