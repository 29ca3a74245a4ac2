/// \file
/// Where the values of bands' and pencils' entries come from.
#pragma once

#include <utility>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"

namespace taskdag::kernels::cells {

/// Sources as kernels read them.
struct SourceView {
  const Offset* noted = nullptr;  ///< entry by entry, each of all rows in the order of the sweep; null: looked up
  DevicePattern pattern{};        ///< in the rows of this one
};

/// Sources are noted when a sweep is made and forgotten where the pattern stays, since a row's few entries are soon
/// found in it.
class Sources {
 public:
  Sources() = default;
  /// Takes room for `entries` sources of each of `rows` rows.
  Sources(std::size_t entries, std::size_t rows, cudaStream_t stream) : noted_(entries * rows, stream) {}

  /// Where find_entries() writes them.
  [[nodiscard]] Offset* noted() const { return noted_.data(); }
  [[nodiscard]] SourceView view() const { return {noted_.data(), pattern_}; }
  /// Forgets what was noted: from now on sources are looked up in `pattern`. Waits for the device.
  void rely_on(const DevicePattern& pattern) {
    pattern_ = pattern;
    noted_ = {};
  }
  [[nodiscard]] std::int64_t bytes() const { return noted_.bytes(); }

 private:
  cuda::DeviceArray<Offset> noted_;
  DevicePattern pattern_{};
};

}  // namespace taskdag::kernels::cells
