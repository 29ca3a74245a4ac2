/// \file
/// Argument checks that the facades and the host classes share.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/memory_errors.hpp"
#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/error.hpp"
#include "taskdag/factorization.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {

inline void require_host_memory(MemorySpace space) {
  if (space == MemorySpace::device) {
    throw InvalidInput("an array in device memory was given to the host backend, which reads host memory only");
  }
}

/// `size`: how many elements will be read or written; an array of none may be null.
inline void require_array(const void* array, Index size, const char* name) {
  if (size > 0 && array == nullptr) throw InvalidInput(std::string("the array ") + name + " is null");
}

/// Vectors of `rows` doubles, `count` right-hand sides from b on and as many solutions from x on.
inline void require_columns(Index count, Index rows, const double* b, std::int64_t ldb, const double* x,
                            std::int64_t ldx) {
  if (count < 0) throw InvalidInput("the number of vectors is negative");
  if (count > 1 && (ldb < rows || ldx < rows)) {
    throw InvalidInput("the distance between vectors is smaller than their length");
  }
  if (count == 0) return;
  require_array(b, rows, "b");
  require_array(x, rows, "x");
}

/// That a pattern is square and has row offsets. `subject` begins the message for one that is not square.
inline void check_shape(const CsrPattern& pattern, const char* subject) {
  if (pattern.rows != pattern.cols) {
    throw InvalidInput(std::string(subject) + " needs a square matrix, not one of " + std::to_string(pattern.rows) +
                       " x " + std::to_string(pattern.cols));
  }
  if (pattern.rows < 0) throw InvalidInput("the number of rows is negative");
  require_array(pattern.row_offsets, pattern.rows, "row_offsets");
}

/// What can be checked of a square pattern: all of it in host memory, its shape in device memory.
inline void check_pattern(const CsrPattern& pattern, MemorySpace space, bool diagonal, const char* subject) {
  check_shape(pattern, subject);
  if (space == MemorySpace::host) validate(pattern, {.square = true, .diagonal = diagonal});
}

/// CUDA looks for faults inside an order on the device.
inline void check_order(std::span<const Index> order, Index rows, Backend backend, const char* name) {
  if (order.empty()) return;
  if (order.size() != static_cast<std::size_t>(rows)) {
    throw InvalidInput(std::string("the ") + name + " order has " + std::to_string(order.size()) + " entries for " +
                       std::to_string(rows) + " rows");
  }
  if (backend == Backend::host) static_cast<void>(invert_permutation(order));
}

/// The blocks of a factor if those of one colour are independent in it; null where fill couples them, and without any.
inline const RowBlocks* independent_blocks(const FactorOptions& options) {
  return options.levels == 0 || options.fill == FillScope::blocks ? options.blocks.get() : nullptr;
}

/// The blocks that fill has to stay inside; null: none.
inline const RowBlocks* blocks_of_fill(const FactorOptions& options) {
  return options.fill == FillScope::blocks ? options.blocks.get() : nullptr;
}

/// Where the arrays of a matrix are taken from: one without rows has none that could be read.
inline MemorySpace space_of(const CsrPattern& pattern, MemorySpace space) {
  return pattern.rows == 0 ? MemorySpace::host : space;
}

/// Symmetric scaling takes square roots of pivots.
[[noreturn]] inline void refuse_pivot(Index row, double pivot) {
  throw InvalidInput("symmetric scaling needs pivots above 0; that of row " + std::to_string(row) + " is " +
                     std::to_string(pivot));
}

}  // namespace taskdag
