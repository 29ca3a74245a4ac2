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

/// Entries by layout. `source`s name entries of the value array of Sweep::load_values, −1 where there is none.
struct Storage {
  cuda::DeviceArray<std::byte> stream;        ///< pair rows, see layout.hpp
  cuda::DeviceArray<Offset> inside_source;    ///< per value of `stream`
  cuda::DeviceArray<Index> outside_position;  ///< of the operand; the number of positions for an absent entry
  cuda::DeviceArray<double> outside_value;
  cuda::DeviceArray<Offset> outside_source;
  cuda::DeviceArray<Index> outside_matrix_row;  ///< of the matrix
  [[nodiscard]] std::int64_t bytes() const {
    return stream.bytes() + inside_source.bytes() + outside_position.bytes() + outside_value.bytes() +
           outside_source.bytes() + outside_matrix_row.bytes();
  }
};

/// Fills places, positions and sources. Asynchronous.
Storage pack(const SweepInput& input, const Layout& layout, cudaStream_t stream);

/// Fills the values: source value times the row's pivot (null: 1); and, where `target` is not null, the pivots of
/// positions and of the layout's outside rows. Asynchronous.
void load_values(const Layout& layout, const Storage& storage, const double* source, const double* pivot,
                 Target* target, cudaStream_t stream);
/// The same with products and pivots 1, which positions and outside rows must have already. Asynchronous.
void load_products(const Layout& layout, const Storage& storage, const ValueProducts& products, cudaStream_t stream);

}  // namespace taskdag::kernels::cells
