/// \file
/// An order of rows, from the host.
#pragma once

#include <span>
#include <vector>

#include "backends/cuda/memory.hpp"
#include "csr/gather.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::cuda {

/// order[new] = old of `rows` rows in device memory; empty: the identity. Synchronises `stream`.
/// @throws InvalidInput where it is no permutation; the message names the fault
inline DeviceArray<Index> upload_order(std::span<const Index> order, std::size_t rows, cudaStream_t stream) {
  std::vector<Index> identity;
  if (order.empty()) {
    identity.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) identity[i] = static_cast<Index>(i);
    order = identity;
  }
  DeviceArray<Index> device(rows, stream);
  copy_to_device(device.data(), order.data(), rows, stream);
  const bool permutes = kernels::is_permutation(static_cast<Index>(rows), device.data(), stream);
  if (!permutes) static_cast<void>(invert_permutation(order));  // finds and names the fault
  return device;
}

}  // namespace taskdag::cuda
