/// \file
/// Sweeps by joined levels: another sweep, of rows that are rewritten.
#include <utility>

#include "kernels/sptrsv/schedules/joined_levels/joined.hpp"

namespace taskdag::kernels {
namespace {

class JoinedSweep final : public Sweep, public GathersValues, public RewritesRows {
 public:
  JoinedSweep(const SweepInput& input, const JoinedLevels& levels, const MakeSweep& make, cudaStream_t stream)
      : triangle_(levels.triangle),
        values_(*triangle_, stream),
        reduced_(static_cast<std::size_t>(triangle_->rows), stream),
        rhs_index_(cuda::copy_of(input.rhs_index, reduced_.size(), stream)),
        sweep_(make(levels.input(input))) {
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    joined::load_values(*triangle_, source, pivot, values_, stream);
    sweep_->load_values(values_.value.data(), nullptr, stream);
  }

  void gather_values(GatherBatch& batch, const double* source, const double* pivot, cudaStream_t stream) override {
    sweep_->capabilities().gathers_values->gather_values(batch, values_.value.data(), nullptr, stream);
    joined::load_values(*triangle_, source, pivot, values_, stream);
  }

  void measure_loss(const double* /*source*/, const double* /*pivot*/, double* most, cudaStream_t stream) override {
    joined::measure_loss(*triangle_, values_, most, stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    joined::reduce(*triangle_, values_, rhs, rhs_index_.data(), reduced_.data(), stream);
    sweep_->solve(reduced_.data(), x, non_finite, stream);
  }

  [[nodiscard]] const double* result() const override { return sweep_->result(); }
  [[nodiscard]] const Index* result_index() const override { return sweep_->result_index(); }

  [[nodiscard]] std::int64_t bytes() const override {
    return triangle_->bytes() + values_.bytes() + rhs_index_.bytes() + reduced_.bytes() + sweep_->bytes();
  }

  Capabilities capabilities() override {
    return {.gathers_values = sweep_->capabilities().gathers_values ? this : nullptr, .rewrites_rows = this};
  }

 private:
  std::shared_ptr<const joined::JoinedTriangle> triangle_;
  joined::JoinedValues values_;
  cuda::DeviceArray<double> reduced_;   ///< the right-hand side of sweep_, by row
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the identity
  std::unique_ptr<Sweep> sweep_;
};

}  // namespace

JoinedLevels::JoinedLevels(const SweepInput& full, std::int64_t most_terms, cudaStream_t stream)
    : triangle(std::make_shared<const joined::JoinedTriangle>(joined::join_levels(full, most_terms, stream))),
      ranges(find_triangle(triangle->pattern(), full.triangle, stream)),
      levels(compute_levels(triangle->pattern(), ranges, full.triangle, stream)) {}

SweepInput JoinedLevels::input(const SweepInput& full) const {
  SweepInput joined;
  joined.pattern = triangle->pattern();
  joined.triangle = full.triangle;
  joined.ranges = &ranges;
  joined.levels = &levels;
  joined.x_index = full.x_index;
  return joined;
}

std::unique_ptr<Sweep> make_joined_sweep(const SweepInput& input, const JoinedLevels& levels, const MakeSweep& make,
                                         cudaStream_t stream) {
  return std::make_unique<JoinedSweep>(input, levels, make, stream);
}

}  // namespace taskdag::kernels
