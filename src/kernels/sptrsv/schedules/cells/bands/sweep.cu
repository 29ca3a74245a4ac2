#include <optional>
#include <type_traits>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/bands/load.hpp"
#include "kernels/sptrsv/schedules/cells/bands/solve.hpp"
#include "kernels/sptrsv/schedules/cells/bands/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/run/line_sweep.hpp"

namespace taskdag::kernels::cells {
namespace {

/// Value: in which entries are stored. A recurrence is one in double: in single its entries are in room of its
/// caller's.
template <class Value>
class BandLines {
 public:
  static constexpr bool kReciprocals = true;
  static constexpr bool kFindsSources = true;

  BandLines(const Bands& bands, int most_blocks)
      : bands_(bands), most_blocks_(most_blocks), launch_(prepare<Value>(bands, most_blocks)) {}

  [[nodiscard]] std::size_t slots() const { return at(bands_.bands()) * at(bands_.columns); }

  void reserve(const SweepInput& input, cudaStream_t stream) {
    const std::size_t rows = at(input.pattern.rows);
    sources_ = {at(kBandEntries), rows, stream};
    entry_ = {at(bands_.bands()) * at(chunks_of(bands_)) * kChunk * kLanes * 2, stream};
    edge_ = {at(bands_.bands()) * at(bands_.columns), stream};
    find_entries(input, bands_, sources_.noted(), stream);
  }
  void rely_on(const DevicePattern& pattern) { sources_.rely_on(pattern); }

  void load_values(SweepOrder order, double* pivots, const double* source, const double* pivot,
                   cudaStream_t stream) const {
    cells::load_values(bands_, order, values(pivots), source, pivot, stream);
  }
  [[nodiscard]] std::size_t product_places() const { return kInSingle ? entry_.size() + edge_.size() : 0; }
  void load_products(SweepOrder order, const ValueProducts& products, cudaStream_t stream) {
    products_ = products_in(products.room);
    cells::load_products(bands_, order, products_, products, stream);
  }
  void return_values(SweepOrder order, double* pivots, const double* pivot, double* entries,
                     cudaStream_t stream) const {
    cells::return_values(bands_, order, values(pivots), pivot, entries, stream);
  }

  unsigned solve(const LineSolve& solve, const SlotSets::ForSolve& sets, cudaStream_t stream) const {
    return cells::solve(arguments(values(nullptr), launch_.blocks, solve, sets), launch_, sets.overlaps, stream);
  }
  unsigned solve_reciprocals(const LineSolve& solve, const SlotSets::ForSolve& sets, cudaStream_t stream) {
    if (!reciprocals_) reciprocals_ = kInSingle ? prepare_reciprocals(bands_, most_blocks_) : launch_;
    return cells::solve_reciprocals(arguments(products_, reciprocals_->blocks, solve, sets), *reciprocals_,
                                    sets.overlaps, stream);
  }

  [[nodiscard]] std::int64_t bytes() const { return sources_.bytes() + entry_.bytes() + edge_.bytes(); }

 private:
  static constexpr bool kInSingle = !std::is_same_v<Value, double>;

  [[nodiscard]] BandValues<Value> values(double* pivots) const {
    return {sources_.view(), entry_.data(), edge_.data(), pivots};
  }
  [[nodiscard]] BandValues<double> products_in(double* room) const {
    if constexpr (kInSingle) {
      return {sources_.view(), room, room + entry_.size(), nullptr};
    } else {
      return values(nullptr);
    }
  }
  template <class Stored>
  [[nodiscard]] BandArguments<Stored> arguments(const BandValues<Stored>& values, int blocks, const LineSolve& solve,
                                                const SlotSets::ForSolve& sets) const {
    return {.bands = bands_,
            .rows = solve.order.rows,
            .chunks = chunks_of(bands_),
            .blocks = blocks,
            .lower = solve.order.lower,
            .entry = values.entry,
            .edge = values.edge,
            .pivot = solve.pivot,
            .rhs_index = solve.rhs_index,
            .x_index = solve.x_index,
            .rhs = solve.rhs,
            .idle_rhs = solve.idle_rhs,
            .x = solve.x,
            .slots = sets.slots,
            .next_slots = sets.next_slots,
            .ticket = sets.ticket,
            .before = sets.before,
            .non_finite = solve.non_finite};
  }

  Bands bands_;
  int most_blocks_;
  BandLaunch launch_;
  std::optional<BandLaunch> reciprocals_;  ///< from the first recurrence on
  Sources sources_;
  cuda::DeviceArray<Value> entry_;
  cuda::DeviceArray<Value> edge_;
  BandValues<double> products_{};  ///< those of the last recurrence
};

}  // namespace

std::unique_ptr<Sweep> make_bands_sweep(const SweepInput& input, const Bands& bands, cudaStream_t stream,
                                        int most_blocks) {
  if (input.precision == Precision::in_single)
    return std::make_unique<LineSweep<BandLines<float>>>(input, BandLines<float>(bands, most_blocks), stream);
  return std::make_unique<LineSweep<BandLines<double>>>(input, BandLines<double>(bands, most_blocks), stream);
}

}  // namespace taskdag::kernels::cells
