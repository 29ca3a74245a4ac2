/// \file
/// How stages run that work on a rank's rows by colours.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/engine/loop/host.hpp"
#include "taskdag/engine/memory.hpp"
#if defined(__CUDACC__)
#include "taskdag/engine/cuda/owners.cuh"
#include "taskdag/engine/loop/cuda.cuh"
#endif

namespace taskdag::krylov {

class RankStages {
 public:
  RankStages(const Context& context, Index rows)
      : context_(context), tiles_(context, most_tiles), arrivals_(context, 1) {
    const int threads = rows < least_of_a_thread * context.threads() ? 1 : context.threads();
    cut_.assign(static_cast<std::size_t>(threads) + 1, 0);
  }
  /// Calls work(flow), on CUDA for a flow on `stream`.
  template <class Work>
  void run(engine::RankLinks* links, Stream stream, const Work& work) const {
#if defined(__CUDACC__)
    if (context_.backend() == Backend::cuda) {
      const engine::detail::CurrentDevice current(context_.device());
      const engine::LoopScratch scratch{tiles_.data(), arrivals_.data(), links};
      engine::StreamFlow flow(static_cast<cudaStream_t>(stream.handle), scratch, 1);
      return work(flow);
    }
#endif
    static_cast<void>(stream);
    engine::HostFlow flow(context_, cut_, links);
    work(flow);
  }
  /// Waits for what has been launched.
  void wait([[maybe_unused]] Stream stream) const {
#if defined(__CUDACC__)
    if (context_.backend() != Backend::cuda) return;
    const engine::detail::CurrentDevice current(context_.device());
    engine::detail::check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream.handle)), "waiting for stages");
#endif
  }

 private:
  static constexpr Index least_of_a_thread = 2000;  ///< rows
  static constexpr std::size_t most_tiles = 1056;   ///< of a stage

  Context context_;
  engine::Array<double> tiles_;
  engine::Array<std::uint32_t> arrivals_;
  std::vector<std::uint32_t> cut_;
};

}  // namespace taskdag::krylov
