// Copies in double precision: checks, and those in host memory.
#include <algorithm>
#include <limits>
#include <vector>

#include "solver/checks.hpp"
#include "solver/double_copy_impl.hpp"

namespace taskdag {
namespace {

class HostDoubles final : public DoubleCopy::Impl {
 public:
  explicit HostDoubles(std::int64_t count) : values_(static_cast<std::size_t>(count)) {}
  [[nodiscard]] bool holds(std::int64_t count, MemorySpace space) const override {
    return space == MemorySpace::host && static_cast<std::size_t>(count) <= values_.size();
  }
  [[nodiscard]] double* data() override { return values_.data(); }
  void widen(const float* from, const FloatColumns& shape, Stream /*stream*/) override {
    for (std::int64_t k = 0; k < shape.columns; ++k)
      std::copy_n(from + k * shape.distance, shape.rows, values_.data() + k * shape.rows);
  }
  void narrow(float* to, const FloatColumns& shape, Stream /*stream*/) const override {
    for (std::int64_t k = 0; k < shape.columns; ++k)
      std::transform(values_.data() + k * shape.rows, values_.data() + (k + 1) * shape.rows, to + k * shape.distance,
                     [](double value) { return static_cast<float>(value); });
  }

 private:
  std::vector<double> values_;
};

void check(const FloatColumns& shape) {
  if (shape.rows < 0 || shape.columns < 0) throw InvalidInput("a number of rows or columns is negative");
  if (shape.columns > 1 && shape.distance < shape.rows) {
    throw InvalidInput("the distance between columns is smaller than their length");
  }
}

std::int64_t size_of(const FloatColumns& shape) { return shape.rows * shape.columns; }

}  // namespace

DoubleCopy::DoubleCopy() = default;
DoubleCopy::DoubleCopy(DoubleCopy&&) noexcept = default;
DoubleCopy& DoubleCopy::operator=(DoubleCopy&&) noexcept = default;
DoubleCopy::~DoubleCopy() = default;

double* DoubleCopy::room(const FloatColumns& shape, Stream stream) {
  check(shape);
  const std::int64_t count = size_of(shape);
  if (count > 0 && !(impl_ && impl_->holds(count, shape.space))) {
    const auto rows = static_cast<Index>(std::min<std::int64_t>(shape.rows, std::numeric_limits<Index>::max()));
    impl_.reset();  // before there is another one
    with_memory_errors("a copy in double precision", rows, [&] {
      if (shape.space == MemorySpace::device)
        impl_ = cuda::double_copy(count, stream);
      else
        impl_ = std::make_unique<HostDoubles>(count);
    });
  }
  shape_ = shape;
  return count > 0 ? impl_->data() : nullptr;
}

double* DoubleCopy::take(const float* from, const FloatColumns& shape, Stream stream) {
  double* const copy = room(shape, stream);
  if (copy) impl_->widen(from, shape, stream);
  return copy;
}

void DoubleCopy::give(float* to, Stream stream) const {
  if (size_of(shape_) > 0) impl_->narrow(to, shape_, stream);
}

}  // namespace taskdag
