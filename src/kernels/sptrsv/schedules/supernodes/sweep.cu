/// \file
/// Sweeps by supernodes: another sweep, of the triangle with supernodes as rows.
#include <utility>

#include "kernels/sptrsv/schedules/supernodes/invert.hpp"
#include "kernels/sptrsv/schedules/supernodes/supernodes.hpp"

namespace taskdag::kernels {
namespace {

using cuda::copy_of;

class SupernodesSweep final : public Sweep, public RewritesRows {
 public:
  SupernodesSweep(const SweepInput& input, const CondensedTriangle& condensed, const MakeSweep& make,
                  cudaStream_t stream)
      : rows_(input.pattern.rows),
        lower_(input.triangle == Triangle::lower),
        most_rows_(condensed.found.most_rows),
        number_(copy_of(condensed.found.number.data(), rows(), stream)),
        outer_first_(copy_of(condensed.found.outer.first.data(), rows(), stream)),
        outer_count_(copy_of(condensed.found.outer.count.data(), rows(), stream)),
        source_entry_(copy_of(input.source_entry, static_cast<std::size_t>(input.pattern.entries), stream)),
        rhs_index_(copy_of(input.rhs_index, rows(), stream)),
        inverse_(rows() * static_cast<std::size_t>(most_rows_), stream),
        values_(static_cast<std::size_t>(input.pattern.entries), stream),
        row_size_(rows(), stream),
        scaled_(rows(), stream),
        sweep_(make(condensed.input(input))) {
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    supernodes::load_values(blocks(), source, pivot, values_.data(), stream);
    sweep_->load_values(values_.data(), nullptr, stream);
  }

  void measure_loss(const double* source, const double* pivot, double* most, cudaStream_t stream) override {
    supernodes::measure_loss(blocks(), source, pivot, row_size_.data(), most, stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    supernodes::scale(blocks(), rhs, rhs_index_.data(), scaled_.data(), stream);
    sweep_->solve(scaled_.data(), x, non_finite, stream);
  }

  [[nodiscard]] const double* result() const override { return sweep_->result(); }
  [[nodiscard]] const Index* result_index() const override { return sweep_->result_index(); }

  [[nodiscard]] std::int64_t bytes() const override {
    return number_.bytes() + outer_first_.bytes() + outer_count_.bytes() + source_entry_.bytes() + rhs_index_.bytes() +
           inverse_.bytes() + values_.bytes() + row_size_.bytes() + scaled_.bytes() + sweep_->bytes();
  }

  Capabilities capabilities() override { return {.rewrites_rows = this}; }

 private:
  [[nodiscard]] std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  [[nodiscard]] supernodes::Blocks blocks() const {
    return {rows_,
            lower_,
            most_rows_,
            number_.data(),
            outer_first_.data(),
            outer_count_.data(),
            source_entry_.data(),
            inverse_.data()};
  }

  Index rows_;
  bool lower_;
  Index most_rows_;
  cuda::DeviceArray<Index> number_;
  cuda::DeviceArray<Offset> outer_first_;
  cuda::DeviceArray<Index> outer_count_;
  cuda::DeviceArray<Offset> source_entry_;  ///< empty: the identity
  cuda::DeviceArray<Index> rhs_index_;      ///< empty: the identity
  cuda::DeviceArray<double> inverse_;
  cuda::DeviceArray<double> values_;    ///< at the entries of the pattern
  cuda::DeviceArray<double> row_size_;  ///< by row, for measure_loss()
  cuda::DeviceArray<double> scaled_;    ///< the right-hand side of sweep_, by row
  std::unique_ptr<Sweep> sweep_;
};

}  // namespace

CondensedTriangle::CondensedTriangle(const SweepInput& input, supernodes::Supernodes supernodes, cudaStream_t stream)
    : found(std::move(supernodes)), levels(compute_levels(input.pattern, found.outer, input.triangle, stream)) {}

SweepInput CondensedTriangle::input(const SweepInput& full) const {
  SweepInput condensed;
  condensed.pattern = full.pattern;
  condensed.triangle = full.triangle;
  condensed.ranges = &found.outer;
  condensed.levels = &levels;
  condensed.x_index = full.x_index;
  return condensed;
}

std::unique_ptr<Sweep> make_supernodes_sweep(const SweepInput& input, const CondensedTriangle& condensed,
                                             const MakeSweep& make, cudaStream_t stream) {
  return std::make_unique<SupernodesSweep>(input, condensed, make, stream);
}

}  // namespace taskdag::kernels
