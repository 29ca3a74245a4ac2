/// \file
/// The growth of a factor on the device.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/device.hpp"
#include "backends/cuda/reduce.hpp"
#include "kernels/factor/growth.hpp"
#include "solver/cuda/factorization.hpp"
#include "solver/cuda/input.hpp"

namespace taskdag::cuda {

namespace {

/// The factored matrix's diagonal and where its rows and columns are in the caller's vectors; null orders: the same.
struct GrowthArguments {
  Index rows;
  const double* values;  ///< null: all weights are 1
  const Offset* source;
  const Offset* diagonal;
  const Index* row_order;
  const Index* col_order;

  __device__ double weight(Index i) const {
    return values ? kernels::growth_weight(kernels::FactorInput{values, source, {}}.value(diagonal[i])) : 1.0;
  }
};

__global__ void weights_kernel(const GrowthArguments a, double* b) {
  const auto i = static_cast<Index>(element());
  if (i < a.rows) b[a.row_order ? a.row_order[i] : i] = a.weight(i) * kernels::growth_element(i);
}

__global__ void sizes_kernel(const GrowthArguments a, const double* x, double* size) {
  const auto i = static_cast<Index>(element());
  if (i < a.rows) size[i] = kernels::weighted_size(a.weight(i), x[a.col_order ? a.col_order[i] : i]);
}

}  // namespace

double CudaFactorization::growth(const double* values, MemorySpace space, Stream stream) {
  const DeviceGuard guard(device_);
  const cudaStream_t s = native(stream);
  if (info.rows == 0) return 0.0;
  StreamOrder::Call call(order_, s);
  // What factor() was given in host memory it has copied.
  if (values != nullptr && space == MemorySpace::host) values = host_.values.data();
  const auto rows = static_cast<std::size_t>(info.rows);
  const ScratchArray<Offset> found(layout_.source_dropped ? static_cast<std::size_t>(layout_.pattern.entries) : 0, s);
  if (layout_.source_dropped) layout_.find_sources(found.data(), s);
  const GrowthArguments arguments{info.rows,
                                  values,
                                  layout_.source_dropped ? found.data() : layout_.source(),
                                  layout_.diagonal.data(),
                                  layout_.row_order.data(),
                                  layout_.column_order()};
  ScratchArray<double> b(rows, s);
  ScratchArray<double> x(rows, s);
  weights_kernel<<<element_blocks(info.rows), kElementBlock, 0, s>>>(arguments, b.data());
  check_launch("weights_kernel");
  run(Apply::full, b.data(), x.data(), s);
  sizes_kernel<<<element_blocks(info.rows), kElementBlock, 0, s>>>(arguments, x.data(), b.data());
  check_launch("sizes_kernel");
  const double result = largest_size(b.data(), info.rows, s);
  call.waited();
  return result;
}

}  // namespace taskdag::cuda
