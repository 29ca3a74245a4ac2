/// \file
/// Cutting into steps and packing of cells on the device.
#pragma once

#include "kernels/sptrsv/schedules/cells/cut/cut.hpp"
#include "kernels/sptrsv/schedules/cells/layout.hpp"
#include "kernels/sptrsv/sweep.hpp"

namespace taskdag::kernels::cells {

/// Cuts the rows into cells and these into steps. Synchronises `stream`.
/// @throws Unsupported where 32-bit positions do not suffice
Layout make_layout(const SweepInput& input, const Cut& cut, cudaStream_t stream);

/// The entries of a layout, in the order in which kernels read them. A source is the entry of Sweep::load_values() that
/// a value comes from, −1 for an absent entry.
struct Storage {
  cuda::DeviceArray<std::byte> stream;        ///< pair rows, see layout.hpp
  cuda::DeviceArray<Offset> inside_source;    ///< for each value of `stream`
  cuda::DeviceArray<Index> outside_position;  ///< of the operand; the number of positions for an absent entry
  cuda::DeviceArray<double> outside_value;
  cuda::DeviceArray<Offset> outside_source;
  cuda::DeviceArray<Index> outside_matrix_row;  ///< whose entry it is
  [[nodiscard]] std::int64_t bytes() const {
    return stream.bytes() + inside_source.bytes() + outside_position.bytes() + outside_value.bytes() +
           outside_source.bytes() + outside_matrix_row.bytes();
  }
};

/// Makes the storage of a layout: operands, positions and sources; values are 0. Asynchronous.
Storage pack(const SweepInput& input, const Layout& layout, cudaStream_t stream);

/// Loads values: that of the source times the row's pivot (null: 1). Where `target` is not null, also the pivots of
/// positions and of the layout's outside rows. Asynchronous.
void load_values(const Layout& layout, const Storage& storage, const double* source, const double* pivot,
                 Target* target, cudaStream_t stream);
/// Loads products as values. @pre pivots are 1: they are not loaded. Asynchronous.
void load_products(const Layout& layout, const Storage& storage, const ValueProducts& products, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
