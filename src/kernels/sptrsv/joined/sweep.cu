#include <utility>

#include "kernels/sptrsv/joined/join.hpp"
#include "kernels/sptrsv/joined/joined.hpp"

namespace taskdag::kernels {
namespace {

std::unique_ptr<Sweep> make_inner(const SweepInput& full, const joined::JoinedTriangle& triangle, const MakeSweep& make,
                                  cudaStream_t stream) {
  SweepInput input;
  input.pattern = triangle.pattern();
  input.triangle = full.triangle;
  const TriangleRanges ranges = find_triangle(input.pattern, input.triangle, stream);
  const RowLevels levels = compute_levels(input.pattern, ranges, input.triangle, stream);
  input.ranges = &ranges;
  input.levels = &levels;
  input.x_index = full.x_index;
  return make(input);
}

class JoinedSweep final : public Sweep {
 public:
  JoinedSweep(const SweepInput& input, const MakeSweep& make, cudaStream_t stream)
      : triangle_(joined::join_levels(input, stream)),
        values_(triangle_, stream),
        reduced_(static_cast<std::size_t>(triangle_.rows), stream),
        rhs_index_(cuda::copy_of(input.rhs_index, reduced_.size(), stream)),
        sweep_(make_inner(input, triangle_, make, stream)) {
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    joined::load_values(triangle_, source, pivot, values_, stream);
    sweep_->load_values(values_.value.data(), nullptr, stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    joined::reduce(triangle_, values_, rhs, rhs_index_.data(), reduced_.data(), stream);
    sweep_->solve(reduced_.data(), x, non_finite, stream);
  }

  [[nodiscard]] const double* result() const override { return sweep_->result(); }
  [[nodiscard]] const Index* result_index() const override { return sweep_->result_index(); }

  [[nodiscard]] std::int64_t bytes() const override {
    return triangle_.bytes() + values_.bytes() + rhs_index_.bytes() + reduced_.bytes() + sweep_->bytes();
  }

 private:
  joined::JoinedTriangle triangle_;
  joined::JoinedValues values_;
  cuda::DeviceArray<double> reduced_;   ///< the right-hand side of sweep_, by row
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the identity
  std::unique_ptr<Sweep> sweep_;
};

}  // namespace

std::unique_ptr<Sweep> make_joined_sweep(const SweepInput& input, const MakeSweep& make, cudaStream_t stream) {
  return std::make_unique<JoinedSweep>(input, make, stream);
}

}  // namespace taskdag::kernels
