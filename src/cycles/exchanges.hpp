/// \file
/// What the matrices of a hierarchy exchange where its fine levels are dealt out to ranks.
///
/// All elements that an application sends have slots of their own, in one piece of memory that the ranks share. There
/// are two sets of it, which take turns; a product empties its slots of the application before. The ranks meet where
/// they gather the first level that each has as a whole: who is past that knows that all others have emptied what it
/// sends into next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cycles/stages.hpp"
#include "krylov/ranks.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::cycles {

class Exchanges {
 public:
  /// One of them, in the order in which they were added.
  using Number = std::size_t;
  struct Gathered {
    Number number;
    std::uint32_t first;  ///< element that this rank makes
  };

  explicit Exchanges(const CycleRanks& ranks) : ranks_(ranks) {}

  /// Of a product whose operand has so many elements on this rank. Collective. @throws as RankPlan::of()
  Number add_product(const std::vector<std::int64_t>& ghosts, Index own);
  /// Of a level of which this rank makes so many elements, and needs all. Collective.
  Gathered add_gather(Index own);
  /// Slots that one such exchange takes, on all ranks.
  [[nodiscard]] std::uint32_t slots_of(Number number) const { return plans_[number].most_ghosts; }

  /// After all have been added. slots: of an application, as many on all ranks; sums: that a stage adds up over them.
  /// Collective.
  void open(const Context& context, std::size_t slots, std::uint32_t sums);
  // After open():
  /// Without entries; its slots are the first ones.
  [[nodiscard]] krylov::Halo halo(Number number) const;
  [[nodiscard]] const krylov::RankMemory& memory() const { return *memory_; }

 private:
  [[nodiscard]] krylov::RankPlan gather_plan(const std::vector<std::uint32_t>& first, Index own) const;
  [[nodiscard]] krylov::RankPlan put_together(std::size_t slots);

  CycleRanks ranks_;
  std::vector<krylov::RankPlan> plans_;
  std::vector<std::uint32_t> ghosts_;
  std::vector<std::size_t> begins_;  ///< of what each sends, and the end
  std::optional<krylov::RankMemory> memory_;
};

}  // namespace taskdag::cycles
