#include <type_traits>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/cut/order.cuh"
#include "kernels/sptrsv/schedules/cells/pencils/load.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/solve.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/run/turns.hpp"

namespace taskdag::kernels::cells {
namespace {

template <class Points>
class PencilsSweep final : public Sweep, public ReturnsValues, public SolvesReciprocals {
 public:
  using Value = typename Points::Value;

  PencilsSweep(const SweepInput& input, const Pencils<Points>& pencils, cudaStream_t stream)
      : pencils_(pencils),
        order_(order_of(input)),
        launch_(prepare_pencils(pencils)),
        rhs_index_(cuda::copy_of(input.rhs_index, at(input.pattern.rows), stream)),
        x_index_(cuda::copy_of(input.x_index, at(input.pattern.rows), stream)),
        planes_(at(pencils.count()) * at(steps_of(pencils)) * kLanes),
        turns_(planes_ / kLanes * (kLanes + kLineValues<Points>), false, stream) {
    const std::size_t rows = at(input.pattern.rows);
    source_ = {at(Points::kEntries) * rows, stream};
    entry_ = {planes_ / kLanes * PencilBytes<Points>::kStep / sizeof(Value), stream};
    cuda::check(cudaMemsetAsync(entry_.data(), 0, static_cast<std::size_t>(entry_.bytes()), stream),
                "clearing entries of pencils");
    find_entries(input, with_entries_of<typename Points::Grid>(pencils), source_.data(), stream);
    cuda::synchronize(stream);  // the input's arrays may go
  }

  void load_values(const double* source, const double* pivot, cudaStream_t stream) override {
    unit_pivots_ = pivot == nullptr;
    if (unit_pivots_) {
      reserve(result_, stream);  // of a first sweep: others are seldom asked for theirs
    } else {
      reserve(pivot_, stream);
    }
    cells::load_values(pencils_, order_, target(), source, pivot, stream);
    turns_.wait_for_values();
  }
  void load_products(const ValueProducts& products, cudaStream_t stream) override {
    if constexpr (kReciprocals) {
      unit_pivots_ = true;
      cells::load_products(pencils_, order_, target(), products, stream);
      turns_.wait_for_values();
    }
  }

  void return_values(const double* pivot, double* entries, cudaStream_t stream) const override {
    cells::return_values(pencils_, order_, target(), pivot, entries, stream);
  }

  void solve(const double* rhs, double* x, int* non_finite, cudaStream_t stream) override {
    run(rhs, x, 0.0, non_finite, stream, cells::solve<Points>);
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
    return rhs_index_.bytes() + x_index_.bytes() + source_.bytes() + entry_.bytes() + pivot_.bytes() + result_.bytes() +
           turns_.bytes();
  }

 private:
  /// Where rows have updates of more than their diagonals nobody asks for a recurrence, nor in single precision.
  static constexpr bool kReciprocals = std::is_same_v<Points, SevenPoints>;

  void reserve(cuda::DeviceArray<double>& by_row, cudaStream_t stream) const {
    if (by_row.size() == 0) by_row = {at(order_.rows), stream};
  }
  [[nodiscard]] double* pivots() const { return unit_pivots_ ? nullptr : pivot_.data(); }
  [[nodiscard]] PencilValues<Points> target() const { return {source_.data(), entry_.data(), pivots()}; }

  template <class Launch>
  void run(const double* rhs, double* x, double idle_rhs, int* non_finite, cudaStream_t stream, Launch launch) {
    if (x == nullptr) reserve(result_, stream);
    turns_.take(stream, [&](const Turns::Turn& turn) {
      const PencilArguments<Points> arguments{.pencils = pencils_,
                                              .blocks = launch_.blocks,
                                              .rows = order_.rows,
                                              .lower = order_.lower,
                                              .entry = entry_.data(),
                                              .pivot = pivots(),
                                              .rhs_index = rhs_index_.data(),
                                              .x_index = x ? x_index_.data() : nullptr,
                                              .rhs = rhs,
                                              .idle_rhs = idle_rhs,
                                              .x = x ? x : result_.data(),
                                              .planes = turn.slots,
                                              .next_planes = turn.next_slots,
                                              .lines = turn.slots + planes_,
                                              .next_lines = turn.next_slots + planes_,
                                              .ticket = turn.ticket,
                                              .before = turn.before,
                                              .non_finite = non_finite};
      return launch(arguments, launch_, turn.overlaps, stream);
    });
  }

  Pencils<Points> pencils_;
  SweepOrder order_;
  PencilLaunch launch_;
  cuda::DeviceArray<Index> rhs_index_;  ///< empty: the same
  cuda::DeviceArray<Index> x_index_;
  cuda::DeviceArray<Offset> source_;  ///< of entries
  cuda::DeviceArray<Value> entry_;
  cuda::DeviceArray<double> pivot_;  ///< from the first load with pivots on
  std::size_t planes_;               ///< slots of planes: the first ones, the others are of lines
  Turns turns_;
  cuda::DeviceArray<double> result_;  ///< from the first load without pivots or the first solve that needs it on
  bool unit_pivots_ = true;
};

}  // namespace

template <class Points>
std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput& input, const Pencils<Points>& pencils,
                                          cudaStream_t stream) {
  if (input.precision == Precision::in_single)
    return std::make_unique<PencilsSweep<InSingle<Points>>>(input, with_entries_of<InSingle<Points>>(pencils), stream);
  return std::make_unique<PencilsSweep<Points>>(input, pencils, stream);
}
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<SevenPoints>&, cudaStream_t);
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<TwentySevenPoints>&, cudaStream_t);
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<ThreeUnknowns>&, cudaStream_t);

}  // namespace taskdag::kernels::cells
