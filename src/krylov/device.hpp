/// \file
/// What the facade asks of the device; a build without CUDA has stand-ins.
#pragma once

#include <cstdint>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::krylov {

/// Entries of a matrix in device memory. Synchronises `stream`.
std::int64_t count_entries(const CsrPattern& pattern, Stream stream);

/// Sets a bit for each row of a matrix in device memory, from the lowest of each word on: whether it has entries.
/// Asynchronous.
void mark_rows(const CsrPattern& pattern, std::uint32_t* words, Stream stream);

/// How far the entries of a matrix are from its diagonal (Columns::distance).
class DiagonalDistances {
 public:
  /// A product with fewer entries takes as long as a launch, whatever it reads.
  static constexpr std::int64_t least_entries = 1000000;

  DiagonalDistances() = default;
  /// Of a matrix in device memory. Synchronises `stream`.
  DiagonalDistances(const Context& context, const CsrPattern& pattern, std::int64_t entries, Stream stream);
  /// Null where the matrix is smaller, not square, or has an entry that is too far.
  [[nodiscard]] const std::int16_t* data() const { return fit_ ? distances_.data() : nullptr; }

 private:
  engine::Array<std::int16_t> distances_;
  bool fit_ = false;
};

/// As rows_together() of shape.hpp, of a matrix in device memory; 1 where they are done one by one faster, too.
/// Synchronises `stream` where there are many entries.
std::uint32_t rows_together(const Context& context, const CsrPattern& pattern, std::int64_t entries, Stream stream);

/// @throws InvalidInput where `stream` is being captured: a solve waits for its outcome
void require_not_captured(const Context& context, Stream stream);

}  // namespace taskdag::krylov
