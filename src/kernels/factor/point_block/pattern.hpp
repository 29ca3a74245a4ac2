/// \file
/// Symbolic phase of factorisations by point blocks: the pattern of the factor's blocks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/host/thread_pool.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels::point_block {

/// Blocks of a factor by rows: L, the diagonal, U. All numbers are those of blocks.
struct Pattern {
  Index rows = 0;
  std::vector<Offset> row_offsets;
  std::vector<Index> columns;    ///< ascending in a row
  std::vector<Offset> diagonal;  ///< by row: its entry
  std::vector<Offset> source;  ///< by entry: the matrix' block, −1: fill. ic: below the diagonal −1, not looked at
  std::vector<Offset> mirror;  ///< ic: by entry below the diagonal its mirror image above; else −1. ilu: empty

  [[nodiscard]] CsrPattern view() const { return {rows, rows, row_offsets.data(), columns.data()}; }
  [[nodiscard]] bool symmetric() const { return !mirror.empty(); }
  [[nodiscard]] std::int64_t bytes() const {
    return static_cast<std::int64_t>(
        sizeof(Index) * (row_offsets.size() + columns.size() + diagonal.size() + source.size() + mirror.size()));
  }
};

/// @returns the elements of so many blocks of n rows. @throws InvalidInput where 32-bit offsets cannot address them
Offset checked_elements(std::int64_t blocks, int n);

/// Of B(i, j) = A(row_order[i], col_order[j]), empty: natural. ic: of B's upper triangle, mirrored.
/// @throws InvalidInput "block row R has no diagonal entry" (of `blocks`); where the factor has more values than 32-bit
///         offsets can address
Pattern make_pattern(const CsrPattern& blocks, std::span<const Index> row_order, std::span<const Index> col_order,
                     const FactorOptions& options, host::ThreadPool& pool);

}  // namespace taskdag::kernels::point_block
