/// \file
/// Triangles in device memory, for tests that call CUDA sweeps directly.
#pragma once

#include <vector>

#include "kernels/sptrsv/sweep.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::test {

/// A host vector in device memory. Synchronises.
template <class T>
cuda::DeviceArray<T> upload(const std::vector<T>& values, cudaStream_t stream) {
  cuda::DeviceArray<T> result(values.size(), stream);
  cuda::copy_to_device(result.data(), values.data(), values.size(), stream);
  cuda::synchronize(stream);
  return result;
}

/// By row; 1 where a row has no diagonal entry.
inline std::vector<double> inverse_diagonal(const CsrMatrix& a) {
  std::vector<double> result(static_cast<std::size_t>(a.rows), 1.0);
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      if (static_cast<std::size_t>(a.col_indices[e]) == i) result[i] = 1.0 / a.values[e];
    }
  }
  return result;
}

/// The analysis of a triangle that sweeps are made from, and its pattern.
class DeviceTriangle {
 public:
  DeviceTriangle(const CsrMatrix& a, Triangle triangle, cudaStream_t stream)
      : offsets_(upload(a.row_offsets, stream)),
        columns_(upload(a.col_indices, stream)),
        pattern_{a.rows, a.entries(), offsets_.data(), columns_.data()},
        triangle_(triangle),
        ranges_(kernels::find_triangle(pattern_, triangle, stream)),
        levels_(kernels::compute_levels(pattern_, ranges_, triangle, stream)) {}

  /// Without index maps. Valid as long as this object stays where it is.
  [[nodiscard]] kernels::SweepInput input() const {
    kernels::SweepInput result;
    result.pattern = pattern_;
    result.triangle = triangle_;
    result.ranges = &ranges_;
    result.levels = &levels_;
    return result;
  }

 private:
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  kernels::DevicePattern pattern_;
  Triangle triangle_;
  kernels::TriangleRanges ranges_;
  kernels::RowLevels levels_;
};

}  // namespace taskdag::test
