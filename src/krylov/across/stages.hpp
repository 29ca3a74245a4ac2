/// \file
/// How stages run that work on a rank's rows by colours.
#pragma once

#include <cstdint>
#include <span>
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

/// Units of rows by colours: a unit is what one worker does, row after row. A colour has whole groups of `lanes` units,
/// the last ones without rows.
struct ColourUnits {
  std::vector<Index> unit;           ///< place of each unit's first row, and the end
  std::vector<std::uint32_t> first;  ///< unit of each colour
  std::vector<std::uint32_t> count;  ///< of units with rows

  /// `colours`: RankOrder's.
  ColourUnits(const RankRows& rows, std::span<const Index> colours, std::uint32_t lanes) {
    std::size_t next = 0;
    const auto place_of = [&](std::size_t block) {
      return rows.blocks.empty() ? static_cast<Index>(block) : rows.blocks[block];
    };
    for (std::size_t c = 0; c + 1 < colours.size(); ++c) {
      first.push_back(static_cast<std::uint32_t>(unit.size()));
      for (; place_of(next) < colours[c + 1]; ++next) unit.push_back(place_of(next));
      count.push_back(static_cast<std::uint32_t>(unit.size()) - first.back());
      while (unit.size() % lanes != 0) unit.push_back(colours[c + 1]);
    }
    unit.push_back(rows.rows);
  }
};

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
