#include <type_traits>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/bands/load.hpp"
#include "kernels/sptrsv/schedules/cells/bands/solve.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/run/line_sweep.hpp"

namespace taskdag::kernels::cells {
namespace {

/// Value: in which entries are stored. A recurrence needs them in double.
template <class Value>
class BandLines {
 public:
  static constexpr bool kReciprocals = std::is_same_v<Value, double>;

  BandLines(const Bands& bands, int most_blocks) : bands_(bands), launch_(prepare<Value>(bands, most_blocks)) {}

  [[nodiscard]] std::size_t slots() const { return at(bands_.bands()) * at(bands_.columns); }

  void reserve(const SweepInput& input, cudaStream_t stream) {
    const std::size_t rows = at(input.pattern.rows);
    before_ = {rows, stream};
    line_before_ = {rows, stream};
    entry_ = {at(bands_.bands()) * at(chunks_of(bands_)) * kChunk * kLanes * 2, stream};
    edge_ = {at(bands_.bands()) * at(bands_.columns), stream};
    find_entries(input, bands_, {before_.data(), line_before_.data()}, stream);
  }

  void load_values(SweepOrder order, double* pivots, const double* source, const double* pivot,
                   cudaStream_t stream) const {
    cells::load_values(bands_, order, values(pivots), source, pivot, stream);
  }
  void load_products(SweepOrder order, const ValueProducts& products, cudaStream_t stream) const {
    cells::load_products(bands_, order, values(nullptr), products, stream);
  }
  void return_values(SweepOrder order, double* pivots, const double* pivot, double* entries,
                     cudaStream_t stream) const {
    cells::return_values(bands_, order, values(pivots), pivot, entries, stream);
  }

  unsigned solve(const LineSolve& solve, const Turns::Turn& turn, cudaStream_t stream) const {
    return cells::solve(arguments(solve, turn), launch_, turn.overlaps, stream);
  }
  unsigned solve_reciprocals(const LineSolve& solve, const Turns::Turn& turn, cudaStream_t stream) const {
    return cells::solve_reciprocals(arguments(solve, turn), launch_, turn.overlaps, stream);
  }

  [[nodiscard]] std::int64_t bytes() const {
    return before_.bytes() + line_before_.bytes() + entry_.bytes() + edge_.bytes();
  }

 private:
  [[nodiscard]] BandValues<Value> values(double* pivots) const {
    return {before_.data(), line_before_.data(), entry_.data(), edge_.data(), pivots};
  }
  [[nodiscard]] BandArguments<Value> arguments(const LineSolve& solve, const Turns::Turn& turn) const {
    return {.bands = bands_,
            .rows = solve.order.rows,
            .chunks = chunks_of(bands_),
            .blocks = launch_.blocks,
            .lower = solve.order.lower,
            .entry = entry_.data(),
            .edge = edge_.data(),
            .pivot = solve.pivot,
            .rhs_index = solve.rhs_index,
            .x_index = solve.x_index,
            .rhs = solve.rhs,
            .idle_rhs = solve.idle_rhs,
            .x = solve.x,
            .slots = turn.slots,
            .next_slots = turn.next_slots,
            .ticket = turn.ticket,
            .before = turn.before,
            .non_finite = solve.non_finite};
  }

  Bands bands_;
  BandLaunch launch_;
  cuda::DeviceArray<Offset> before_;
  cuda::DeviceArray<Offset> line_before_;
  cuda::DeviceArray<Value> entry_;
  cuda::DeviceArray<Value> edge_;
};

}  // namespace

std::unique_ptr<Sweep> make_bands_sweep(const SweepInput& input, const Bands& bands, cudaStream_t stream,
                                        int most_blocks) {
  if (input.precision == Precision::in_single)
    return std::make_unique<LineSweep<BandLines<float>>>(input, BandLines<float>(bands, most_blocks), stream);
  return std::make_unique<LineSweep<BandLines<double>>>(input, BandLines<double>(bands, most_blocks), stream);
}

}  // namespace taskdag::kernels::cells
