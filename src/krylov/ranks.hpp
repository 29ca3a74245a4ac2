/// \file
/// What a system needs where its rows are on several ranks: who sends what to whom, and the memory that they share.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backends/ranks/watch.hpp"
#include "backends/ranks/window.hpp"
#include "krylov/system.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/loop/ranks.hpp"
#include "taskdag/engine/memory.hpp"
#include "taskdag/krylov.hpp"

namespace taskdag::krylov {

/// What a rank knows of all.
struct RankPlan {
  std::int64_t rows = 0;        ///< of all ranks
  std::uint32_t most_rows = 0;  ///< of the rank with most
  std::uint32_t most_ghosts = 0;
  struct Sent {
    Index row;            ///< of this rank
    int to;               ///< the rank
    std::uint32_t ghost;  ///< there
  };
  std::vector<Sent> sent;

  /// Collective. @throws InvalidInput where a ghost is a row of its own rank or of none, or ghosts do not ascend
  static RankPlan of(const KrylovRanks& ranks, Index rows);
};

/// What a rank sends row by row, in memory of the backend.
struct SentOfRows {
  struct One {
    Index row;
    engine::RankSlot* target;
  };
  SentOfRows() = default;
  /// `sent`: by ascending rows, of which there are so many.
  SentOfRows(const Context& context, const std::vector<One>& sent, std::size_t rows);

  engine::Array<std::uint32_t> any;  ///< a bit a row: whether something of it is sent
  engine::Array<Index> begin;        ///< of each row: where its targets begin, and the end
  engine::Array<engine::RankSlot*> targets;
};

/// The memory that a rank's loops have in common with those of the others. It outlives the loops.
class RankMemory {
 public:
  /// widest: numbers that a stage adds up, in all its slices. sets: of slots for elements. Collective. @throws
  /// Unsupported where the ranks' memory cannot be reached
  RankMemory(const Context& context, const KrylovRanks& ranks, const RankPlan& plan, std::uint32_t widest,
             std::uint32_t sets = 2);
  /// For elements that are sent ahead of a product, which has sets of slots of its own: of a rank with so many rows.
  void list_ahead(const Context& context, const RankPlan& plan, std::size_t rows);
  RankMemory(const RankMemory&) = delete;
  RankMemory& operator=(const RankMemory&) = delete;
  ~RankMemory() = default;

  /// Without its entries.
  [[nodiscard]] Halo halo() const;
  [[nodiscard]] int rank() const { return rank_; }
  /// Those for elements of a rank's ghosts, in one of the sets.
  [[nodiscard]] engine::RankSlot* slots_of(int rank, std::uint32_t set) const {
    return reinterpret_cast<engine::RankSlot*>(base(rank) + layout_.ghosts) + std::size_t{set} * stride_;
  }
  /// Whether another rank has been lost. Waits for the device.
  [[nodiscard]] bool has_lost() const;
  /// Tells all ranks that one is lost: those that wait for it wait no more.
  void lose() const noexcept { lose(0, ranks_); }

 private:
  struct Layout {
    std::size_t sums;    ///< where slots for sums begin, in bytes
    std::size_t ghosts;  ///< and those for elements
    std::size_t end;
  };
  static std::unique_ptr<ranks::Window> open_window(const Context& context, const KrylovRanks& ranks,
                                                    std::size_t bytes);
  [[nodiscard]] char* base(int rank) const { return static_cast<char*>(window_->of(rank)); }
  void lose(int begin, int end) const noexcept;
  void empty_slots();
  void upload_links(const Context& context, const KrylovRanks& ranks, std::uint32_t widest);
  void upload_sent(const Context& context, const RankPlan& plan);

  std::uint32_t stride_;  ///< slots of a set of elements
  Layout layout_;
  std::unique_ptr<ranks::Window> window_;
  std::uint32_t ghosts_;
  std::uint32_t sends_;
  int rank_;
  int ranks_;
  engine::Array<engine::RankSlot*> sums_;
  engine::Array<std::uint32_t*> lost_;
  engine::Array<engine::RankLinks> links_;
  engine::Array<Index> sent_rows_;
  engine::Array<engine::RankSlot*> targets_;
  SentOfRows ahead_;
  std::unique_ptr<ranks::Watch> watch_;
};

/// Halo::any of these entries.
engine::Array<std::uint32_t> mark_outer_rows(const Context& context, const CsrPattern& outer, Stream stream);

}  // namespace taskdag::krylov
