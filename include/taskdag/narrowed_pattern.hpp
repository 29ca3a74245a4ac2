/// \file
/// CSR patterns whose indices have 64 bits.
#pragma once

#include <cstdint>
#include <memory>

#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

/// A copy of a CSR pattern, in device memory, with indices of 32 bits instead of 64. For matrices that lie there: it
/// costs a pass over the pattern and 4 bytes an entry and a row, and nothing goes by way of the host.
class TASKDAG_API NarrowedPattern {
 public:
  /// Of no rows.
  NarrowedPattern();
  /// `rows` x `rows`; row_offsets has rows + 1 elements, col_indices row_offsets[rows]: memory of the current CUDA
  /// device, where the copy lies, too. Synchronises `stream`.
  /// @throws InvalidInput where there are 2³¹ entries or more, or an offset or a column is no number of an entry or a
  ///         column; DeviceError in a build without CUDA; OutOfMemory
  NarrowedPattern(Index rows, const std::int64_t* row_offsets, const std::int64_t* col_indices, Stream stream);
  NarrowedPattern(NarrowedPattern&&) noexcept;
  NarrowedPattern& operator=(NarrowedPattern&&) noexcept;
  ~NarrowedPattern();

  /// Valid as long as this is.
  [[nodiscard]] CsrPattern view() const;
  [[nodiscard]] std::int64_t bytes() const;

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace taskdag
