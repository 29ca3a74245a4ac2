/// \file
/// Where the values of bands' and pencils' entries come from.
#pragma once

#include <utility>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"

namespace taskdag::kernels::cells {

/// As kernels read it.
struct SourceView {
  const Offset* noted = nullptr;  ///< entry by entry, each of all rows in the order of the sweep; null: looked up
  DevicePattern pattern{};        ///< in the rows of this one
};

/// Noted when a sweep is made; forgotten where the pattern stays, since a row's few entries are soon found in it.
class Sources {
 public:
  Sources() = default;
  /// Room for `entries` of each of `rows`.
  Sources(std::size_t entries, std::size_t rows, cudaStream_t stream) : noted_(entries * rows, stream) {}

  /// Of find_entries(), which writes there.
  [[nodiscard]] Offset* noted() const { return noted_.data(); }
  [[nodiscard]] SourceView view() const { return {noted_.data(), pattern_}; }
  /// Waits for the device.
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
