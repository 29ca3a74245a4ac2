#include <type_traits>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/bands/load.hpp"
#include "kernels/sptrsv/schedules/cells/bands/solve.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/run/turns.hpp"

namespace taskdag::kernels::cells {
namespace {

/// Value: in which entries are stored. A recurrence needs them in double.
template <class Value>
class BandsSweep final : public Sweep, public ReturnsValues, public SolvesReciprocals {
  static constexpr bool kReciprocals = std::is_same_v<Value, double>;

 public:
  BandsSweep(const SweepInput& input, const Bands& bands, cudaStream_t stream, int most_blocks)
      : bands_(bands),
        order_(order_of(input)),
        launch_(prepare<Value>(bands, most_blocks)),
        rhs_index_(cuda::copy_of(input.rhs_index, at(input.pattern.rows), stream)),
        x_index_(cuda::copy_of(input.x_index, at(input.pattern.rows), stream)),
        turns_(at(bands.bands()) * at(bands.columns), false, stream) {
    const std::size_t rows = at(input.pattern.rows);
    before_ = {rows, stream};
    line_before_ = {rows, stream};
    entry_ = {at(bands.bands()) * at(chunks_of(bands)) * kChunk * kLanes * 2, stream};
    edge_ = {at(bands.bands()) * at(bands.columns), stream};
    find_entries(input, bands, {before_.data(), line_before_.data()}, stream);
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    unit_pivots_ = pivot == nullptr;
    if (unit_pivots_) {
      reserve(result_, stream);  // of a first sweep: others are seldom asked for theirs
    } else {
      reserve(pivot_, stream);
    }
    cells::load_values(bands_, order_, target(), source, pivot, stream);
    turns_.wait_for_values();
  }
  void load_products(const ValueProducts& products, cudaStream_t stream) override {
    if constexpr (kReciprocals) {
      unit_pivots_ = true;
      cells::load_products(bands_, order_, target(), products, stream);
      turns_.wait_for_values();
    }
  }

  void return_values(const double* pivot, double* entries, cudaStream_t stream) const override {
    cells::return_values(bands_, order_, target(), pivot, entries, stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    run(rhs, x, 0.0, non_finite, stream, cells::solve<Value>);
  }
  void solve_reciprocals(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    if constexpr (kReciprocals)
      run(rhs, x, 1.0, non_finite, stream, cells::solve_reciprocals);  // no reciprocal of zero where there is no row
  }
  Capabilities capabilities() override {
    return {.returns_values = this, .solves_reciprocals = kReciprocals ? this : nullptr};
  }

  [[nodiscard]] const double* result() const override { return result_.data(); }
  [[nodiscard]] const Index* result_index() const override { return nullptr; }

  [[nodiscard]] std::int64_t bytes() const override {
    return rhs_index_.bytes() + x_index_.bytes() + before_.bytes() + line_before_.bytes() + entry_.bytes() +
           edge_.bytes() + pivot_.bytes() + result_.bytes() + turns_.bytes();
  }

 private:
  void reserve(cuda::DeviceArray<double>& by_row, cudaStream_t stream) const {
    if (by_row.size() == 0) by_row = {at(order_.rows), stream};
  }
  [[nodiscard]] double* pivots() const { return unit_pivots_ ? nullptr : pivot_.data(); }
  [[nodiscard]] BandValues<Value> target() const {
    return {before_.data(), line_before_.data(), entry_.data(), edge_.data(), pivots()};
  }

  template <class Launch>
  void run(const double* rhs, double* x, double idle_rhs, int* non_finite, cudaStream_t stream, Launch launch) {
    if (x == nullptr) reserve(result_, stream);
    turns_.take(stream, [&](const Turns::Turn& turn) {
      const BandArguments<Value> arguments{.bands = bands_,
                                           .rows = order_.rows,
                                           .chunks = chunks_of(bands_),
                                           .blocks = launch_.blocks,
                                           .lower = order_.lower,
                                           .entry = entry_.data(),
                                           .edge = edge_.data(),
                                           .pivot = pivots(),
                                           .rhs_index = rhs_index_.data(),
                                           .x_index = x ? x_index_.data() : nullptr,
                                           .rhs = rhs,
                                           .idle_rhs = idle_rhs,
                                           .x = x ? x : result_.data(),
                                           .slots = turn.slots,
                                           .next_slots = turn.next_slots,
                                           .ticket = turn.ticket,
                                           .before = turn.before,
                                           .non_finite = non_finite};
      return launch(arguments, launch_, turn.overlaps, stream);
    });
  }

  Bands bands_;
  SweepOrder order_;
  BandLaunch launch_;
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the same
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<Offset> before_;
  cuda::DeviceArray<Offset> line_before_;
  cuda::DeviceArray<Value> entry_;
  cuda::DeviceArray<Value> edge_;
  cuda::DeviceArray<double> pivot_;  ///< from the first load with pivots on
  Turns turns_;
  cuda::DeviceArray<double> result_;  ///< from the first load without pivots or the first solve that needs it on
  bool unit_pivots_ = true;
};

}  // namespace

std::unique_ptr<Sweep> make_bands_sweep(const SweepInput& input, const Bands& bands, cudaStream_t stream,
                                        int most_blocks) {
  if (input.precision == Precision::in_single)
    return std::make_unique<BandsSweep<float>>(input, bands, stream, most_blocks);
  return std::make_unique<BandsSweep<double>>(input, bands, stream, most_blocks);
}

}  // namespace taskdag::kernels::cells
