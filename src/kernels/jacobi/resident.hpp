/// \file
/// Jacobi sweeps whose rows stay where they are: consecutive rows belong to one block of a GPU, or to one thread, for
/// all sweeps, and only values that others need are handed over.
#pragma once

#include <cstdint>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// Consecutive rows of about equal work, with what they share with others.
struct ResidentBlock {
  Index first_row;
  Index rows;
  Offset first_entry;
  Offset entries;
  std::uint32_t halo_begin;  ///< values of others that the block takes, in ResidentLayout::halo
  std::uint32_t halo_end;
  std::uint32_t slot_begin;  ///< values of its own that others take, in ResidentLayout::row_of_slot
  std::uint32_t slot_end;
};

/// Blocks that exchange values in both directions or not at all: where one has only to give, the receiver gives a value
/// back that nobody uses. So when a value of the sweep before has come from a neighbour, the neighbour has taken all
/// values of the sweep before that, and two places for each value are enough.
struct ResidentLayout {
  /// pattern: square, columns in range, in host memory. @pre blocks >= 1
  ResidentLayout(const CsrPattern& pattern, Index blocks);

  /// Bytes of the largest block in shared memory: entries (value and place), rows, values of two iterates.
  [[nodiscard]] std::size_t shared_bytes() const;
  /// Whether places fit the type they have.
  [[nodiscard]] bool fits() const { return most_places <= 0xFFFF && most_entries <= 0xFFFF; }

  std::vector<ResidentBlock> block;
  std::vector<std::uint16_t> place;        ///< of each entry's operand: a row of the block, then its halo; if fits()
  std::vector<std::uint32_t> halo;         ///< slots
  std::vector<std::uint16_t> row_of_slot;  ///< in its block
  Index most_rows = 0;
  Index most_places = 0;  ///< rows and halo
  Offset most_entries = 0;
};

/// First rows of `blocks` runs of rows of about equal work, and the end.
std::vector<Index> equal_rows(const CsrPattern& pattern, Index blocks);

}  // namespace taskdag::kernels
