/// \file
/// A CSR pattern in device memory.
#pragma once

#include "taskdag/csr.hpp"

namespace taskdag::kernels {

/// A square CSR pattern in device memory that it does not own.
struct DevicePattern {
  Index rows = 0;
  Offset entries = 0;
  const Offset* row_offsets = nullptr;
  const Index* col_indices = nullptr;
};

}  // namespace taskdag::kernels
