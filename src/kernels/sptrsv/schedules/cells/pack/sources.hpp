/// \file
/// Where the values of bands' and pencils' entries come from.
#pragma once

#include <utility>

#include "backends/cuda/memory.hpp"
#include "csr/pattern.hpp"

namespace taskdag::kernels::cells {

/// Sources of entries, as kernels read them.
struct SourceView {
  const Offset* noted = nullptr;  ///< [entry · rows + row in the order of the sweep]; null: they are searched for
  DevicePattern pattern{};        ///< whose rows are searched then
};

/// The sources of all entries. They are noted when a sweep is made. Where the pattern outlives the sweep they are
/// forgotten, and searched for in the pattern when values are loaded: rows are short.
class Sources {
 public:
  Sources() = default;
  /// Room for `entries` sources of each of `rows` rows.
  Sources(std::size_t entries, std::size_t rows, cudaStream_t stream) : noted_(entries * rows, stream) {}

  /// For find_entries() to write to.
  [[nodiscard]] Offset* noted() const { return noted_.data(); }
  [[nodiscard]] SourceView view() const { return {noted_.data(), pattern_}; }
  /// Frees the noted sources: from now on they are searched for in `pattern`. Waits for the device.
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
