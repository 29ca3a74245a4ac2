#include <optional>
#include <type_traits>

#include "base/index.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/load.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/solve.hpp"
#include "kernels/sptrsv/schedules/cells/pencils/sweep.hpp"
#include "kernels/sptrsv/schedules/cells/run/line_sweep.hpp"

namespace taskdag::kernels::cells {
namespace {

template <class Points>
class PencilLines {
 public:
  using Value = typename Points::Value;
  /// A recurrence is asked for only where rows have updates of their diagonals alone. It is one in double: in single
  /// its entries are in room of its caller's.
  static constexpr bool kReciprocals = std::is_same_v<typename Points::Grid, SevenPoints>;
  static constexpr bool kFindsSources = cells::kFindsSources<Points>;

  explicit PencilLines(const Pencils<Points>& pencils)
      : pencils_(pencils),
        launch_(prepare_pencils(pencils)),
        planes_(at(pencils.count()) * at(steps_of(pencils)) * kLanes) {}

  [[nodiscard]] std::size_t slots() const { return planes_ / kLanes * (kLanes + kLineValues<Points>); }

  void reserve(const SweepInput& input, cudaStream_t stream) {
    sources_ = {at(Points::kEntries), at(input.pattern.rows), stream};
    entry_ = {planes_ / kLanes * PencilBytes<Points>::kStep / sizeof(Value), stream};
    cuda::check(cudaMemsetAsync(entry_.data(), 0, static_cast<std::size_t>(entry_.bytes()), stream),
                "clearing entries of pencils");
    find_entries(input, with_entries_of<typename Points::Grid>(pencils_), sources_.noted(), stream);
  }
  void rely_on(const DevicePattern& pattern) { sources_.rely_on(pattern); }

  void load_values(SweepOrder order, double* pivots, const double* source, const double* pivot,
                   cudaStream_t stream) const {
    cells::load_values(pencils_, order, values(pivots), source, pivot, stream);
  }
  [[nodiscard]] std::size_t product_places() const { return kReciprocals && kInSingle ? entry_.size() : 0; }
  void load_products(SweepOrder order, const ValueProducts& products, cudaStream_t stream) {
    products_ = products_in(products.room, stream);
    cells::load_products(with_entries_of<SevenPoints>(pencils_), order, products_, products, stream);
  }
  void return_values(SweepOrder order, double* pivots, const double* pivot, double* entries,
                     cudaStream_t stream) const {
    cells::return_values(pencils_, order, values(pivots), pivot, entries, stream);
  }

  unsigned solve(const LineSolve& solve, const SlotSets::ForSolve& sets, cudaStream_t stream) const {
    return cells::solve(arguments(values(nullptr), launch_.blocks, solve, sets), launch_, sets.overlaps, stream);
  }
  unsigned solve_reciprocals(const LineSolve& solve, const SlotSets::ForSolve& sets, cudaStream_t stream) {
    if (!reciprocals_)
      reciprocals_ = kInSingle ? prepare_pencil_reciprocals(with_entries_of<SevenPoints>(pencils_)) : launch_;
    return cells::solve_reciprocals(arguments(products_, reciprocals_->blocks, solve, sets), *reciprocals_,
                                    sets.overlaps, stream);
  }

  [[nodiscard]] std::int64_t bytes() const { return sources_.bytes() + entry_.bytes(); }

 private:
  static constexpr bool kInSingle = !std::is_same_v<Value, double>;

  [[nodiscard]] PencilValues<Points> values(double* pivots) const { return {sources_.view(), entry_.data(), pivots}; }
  /// Values that no row has are not written, so they are 0 from the start on.
  [[nodiscard]] PencilValues<SevenPoints> products_in(double* room, cudaStream_t stream) const {
    if constexpr (kInSingle) {
      cuda::check(cudaMemsetAsync(room, 0, entry_.size() * sizeof(double), stream), "clearing products of pencils");
      return {sources_.view(), room, nullptr};
    } else {
      return values(nullptr);
    }
  }
  template <class Stored>
  [[nodiscard]] PencilArguments<Stored> arguments(const PencilValues<Stored>& values, int blocks,
                                                  const LineSolve& solve, const SlotSets::ForSolve& sets) const {
    return {.pencils = with_entries_of<Stored>(pencils_),
            .blocks = blocks,
            .rows = solve.order.rows,
            .lower = solve.order.lower,
            .entry = values.entry,
            .pivot = solve.pivot,
            .rhs_index = solve.rhs_index,
            .x_index = solve.x_index,
            .rhs = solve.rhs,
            .idle_rhs = solve.idle_rhs,
            .x = solve.x,
            .planes = sets.slots,
            .next_planes = sets.next_slots,
            .lines = sets.slots + planes_,
            .next_lines = sets.next_slots + planes_,
            .ticket = sets.ticket,
            .before = sets.before,
            .non_finite = solve.non_finite};
  }

  Pencils<Points> pencils_;
  PencilLaunch launch_;
  std::optional<PencilLaunch> reciprocals_;  ///< from the first recurrence on
  Sources sources_;
  cuda::DeviceArray<Value> entry_;
  std::size_t planes_;                    ///< slots of planes: the first ones, the others are of lines
  PencilValues<SevenPoints> products_{};  ///< those of the last recurrence
};

}  // namespace

template <class Points>
std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput& input, const Pencils<Points>& pencils,
                                          cudaStream_t stream) {
  if (input.precision == Precision::in_single) {
    using Single = InSingle<Points>;
    return std::make_unique<LineSweep<PencilLines<Single>>>(
        input, PencilLines<Single>(with_entries_of<Single>(pencils)), stream);
  }
  return std::make_unique<LineSweep<PencilLines<Points>>>(input, PencilLines<Points>(pencils), stream);
}
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<SevenPoints>&, cudaStream_t);
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<TwentySevenPoints>&, cudaStream_t);
template std::unique_ptr<Sweep> make_pencils_sweep(const SweepInput&, const Pencils<ThreeUnknowns>&, cudaStream_t);

}  // namespace taskdag::kernels::cells
