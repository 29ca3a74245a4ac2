// Copies in double precision of floats in device memory.
#include "backends/cuda/algorithm.cuh"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "solver/cuda/input.hpp"
#include "solver/double_copy_impl.hpp"

namespace taskdag::cuda {

namespace {

/// A thread a number. Columns of `to` and `from` begin as far apart as said.
template <class To, class From>
__global__ void convert_kernel(std::int64_t count, std::int64_t rows, To* to, std::int64_t to_distance,
                               const From* from, std::int64_t from_distance) {
  const std::int64_t e = element();
  if (e >= count) return;
  const std::int64_t column = e / rows;
  const std::int64_t row = e - column * rows;
  to[column * to_distance + row] = static_cast<To>(from[column * from_distance + row]);
}

class DeviceDoubles final : public DoubleCopy::Impl {
 public:
  DeviceDoubles(std::int64_t count, cudaStream_t stream)
      : device_(current_device()), values_(static_cast<std::size_t>(count), stream) {}
  [[nodiscard]] bool holds(std::int64_t count, MemorySpace space) const override {
    return space == MemorySpace::device && static_cast<std::size_t>(count) <= values_.size() &&
           device_ == current_device();
  }
  [[nodiscard]] double* data() override { return values_.data(); }
  void widen(const float* from, const FloatColumns& shape, Stream stream) override {
    convert(values_.data(), shape.rows, from, shape.distance, shape, stream);
  }
  void narrow(float* to, const FloatColumns& shape, Stream stream) const override {
    convert(to, shape.distance, values_.data(), shape.rows, shape, stream);
  }

 private:
  template <class To, class From>
  static void convert(To* to, std::int64_t to_distance, const From* from, std::int64_t from_distance,
                      const FloatColumns& shape, Stream stream) {
    const std::int64_t count = shape.rows * shape.columns;
    convert_kernel<<<element_blocks(count), kElementBlock, 0, native(stream)>>>(count, shape.rows, to, to_distance,
                                                                                from, from_distance);
    check_launch("convert_kernel");
  }

  int device_;
  DeviceArray<double> values_;
};

}  // namespace

std::unique_ptr<DoubleCopy::Impl> double_copy(std::int64_t count, Stream stream) {
  return std::make_unique<DeviceDoubles>(count, native(stream));
}

}  // namespace taskdag::cuda
