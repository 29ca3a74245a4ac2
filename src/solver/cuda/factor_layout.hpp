/// \file
/// Where the entries of a factor on CUDA stand and where they come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "csr/device_csr.hpp"
#include "csr/permuted_values.hpp"

namespace taskdag::cuda {

/// The pattern of a factor, and the way from the caller's matrix and vectors to it. B is the caller's matrix, its rows
/// and columns in the factor's order, with the fill of its level.
struct FactorLayout {
  std::size_t input_entries = 0;  ///< of the caller's matrix
  DeviceArray<Index> row_order;   ///< empty: natural
  DeviceArray<Index> col_order;   ///< empty: that of the rows
  kernels::DeviceCsr pattern;     ///< of the factor: all of B (ilu), its upper triangle (ic)
  kernels::DeviceCsr full;        ///< all of B, for ic with a positive definite shift
  DeviceArray<Offset> diagonal;   ///< entry of each row's diagonal
  bool source_dropped = false;    ///< drop_source() without restore_source()

  /// Entry of the factor's pattern → entry of the input; null: the same.
  [[nodiscard]] const Offset* source() const { return pattern.source.size() > 0 ? pattern.source.data() : nullptr; }
  /// Row of the factor's columns → entry of the caller's vectors; null: the same.
  [[nodiscard]] const Index* column_order() const { return col_order.size() > 0 ? col_order.data() : row_order.data(); }
  /// The caller's number of a row. Synchronises where there is an order.
  [[nodiscard]] Index callers_row(Index row, cudaStream_t s) const {
    return row_order.size() > 0 ? fetch(row_order.data() + row, s) : row;
  }
  /// @returns a row without a diagonal entry, −1: there is none
  Index find_diagonal(cudaStream_t s) { return kernels::find_diagonal(pattern.pattern(), diagonal.data(), s); }

  /// What source() is without fill, into `found`.
  void find_sources(Offset* found, cudaStream_t s) const {
    kernels::find_sources(pattern.pattern(), row_order.data(), column_order(), found, s);
  }
  /// Forgets source(), which is as large as the columns.
  void drop_source() {
    pattern.source = {};
    source_dropped = true;
  }
  void restore_source(cudaStream_t s) {
    if (!source_dropped) return;
    DeviceArray<Offset> found(static_cast<std::size_t>(pattern.entries), s);
    find_sources(found.data(), s);
    pattern.source = std::move(found);
    source_dropped = false;
  }

  [[nodiscard]] std::int64_t pattern_bytes() const { return pattern.bytes() + full.bytes() + diagonal.bytes(); }
  [[nodiscard]] std::int64_t order_bytes() const { return row_order.bytes() + col_order.bytes(); }
};

}  // namespace taskdag::cuda
