// The sweeps of a factor over all ranks, colour after colour. Compiled as a CUDA source where CUDA is.
//
// A stage is a colour: its rows wait for elements of other ranks, which are of colours before, and send their own. The
// two sweeps have a set of slots each. After them a sum over all ranks says that all have taken what was sent to them,
// so that the next application may send into the same slots.
#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "base/index.hpp"
#include "krylov/across/stages.hpp"
#include "krylov/ranks.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace krylov {
namespace {

/// One side of the factor, as the tasks of its sweep read it. Entries of a group's rows stand row by row, an entry of
/// each lane side by side.
struct SweepSide {
  const Offset* begin;  ///< of each row of a group: entries of a lane before it, and the end
  const Index* column;  ///< place, or rows + ghost; −1: no more
  const double* value;
  const std::uint32_t* any_sent;  ///< a bit a place: whether other ranks wait for that element
  const Index* sent;              ///< of each place: where its targets begin, and the end
  engine::RankSlot* const* targets;
  engine::RankSlot* slots;  ///< of ghosts, on this rank
};

/// A unit is a block of rows of one colour, which one worker does row after row. Neighbouring workers do the units of a
/// group, whose lanes they are.
struct SweepData {
  std::uint32_t rows;
  std::uint32_t ghosts;
  std::uint32_t log2_lanes;
  const Index* unit;    ///< place of each unit's first row, and the end
  const Index* group;   ///< rows of groups before each of them
  const Index* row_at;  ///< of each place
  const double* pivot;  ///< inverse, by place
  double* work;         ///< by place
  engine::RankLinks* links;
  SweepSide lower;
  SweepSide upper;
};

/// The first entries of a row and the number that its sum is taken from: all that can be read before the row before it
/// is done.
struct RowAhead {
  static constexpr int size = 4;
  Offset begin;
  Offset end;
  Index column[size];
  double value[size];
  double right;
};

TASKDAG_TASK inline double element(const SweepData& d, const SweepSide& side, Index column) {
  const auto rows = static_cast<Index>(d.rows);
  return column < rows ? d.work[column] : d.links->wait_for(side.slots[column - rows]);
}

/// Σ over a row. The elements of the first entries are asked for together.
TASKDAG_TASK inline double sum_of_row(const SweepData& d, const SweepSide& side, const RowAhead& row,
                                      std::uint32_t lane) {
  double first[RowAhead::size];
  for (int k = 0; k < RowAhead::size; ++k)
    first[k] = row.column[k] >= 0 && row.column[k] < static_cast<Index>(d.rows) ? d.work[row.column[k]] : 0.0;
  double sum = 0.0;
  for (int k = 0; k < RowAhead::size; ++k) {
    if (row.column[k] >= static_cast<Index>(d.rows)) first[k] = element(d, side, row.column[k]);
    if (row.column[k] >= 0) sum += row.value[k] * first[k];
  }
  for (Offset e = row.begin + RowAhead::size; e < row.end; ++e) {
    const std::size_t at = (static_cast<std::size_t>(e) << d.log2_lanes) + lane;
    if (side.column[at] < 0) break;
    sum += side.value[at] * element(d, side, side.column[at]);
  }
  return sum;
}

TASKDAG_TASK inline void send(const SweepSide& side, std::uint32_t place, double element) {
  if ((side.any_sent[place / 32U] >> (place % 32U) & 1U) == 0U) return;
  for (Index k = side.sent[place]; k < side.sent[place + 1]; ++k) side.targets[k]->put(element);
}

/// x = L⁻¹ b or, after it, U⁻¹ x: the units of a colour.
template <Triangle side>
struct ColourSweep {
  static constexpr const char* name = side == Triangle::lower ? "lower sweep of a colour" : "upper sweep of a colour";
  static constexpr int blocks_of_a_multiprocessor = 4;  ///< what is read ahead needs registers
  SweepData d;
  std::uint32_t first;  ///< unit
  const double* b;
  double* x;

  TASKDAG_TASK void execute(std::uint32_t task, double* /*sum*/) const {
    const std::uint32_t unit = first + task;
    const std::uint32_t lane = unit & ((1U << d.log2_lanes) - 1U);
    const Index place = d.unit[unit];
    const Index rows = d.unit[unit + 1] - place;
    if (rows == 0) return;
    // Offsets and numbers of rows are read two rows ahead, entries one.
    const Offset* const begin = side_data().begin + d.group[unit >> d.log2_lanes];
    const auto edge = [&](Index k) {
      const Index bound = k < rows ? k : rows;
      return begin[side == Triangle::lower ? bound : rows - bound];
    };
    const auto place_of = [&](Index k) { return place + (side == Triangle::lower ? k : rows - 1 - k); };
    const auto row_of = [&](Index k) { return d.row_at[place_of(k < rows ? k : rows - 1)]; };
    Offset next_edge = edge(1);
    Offset last_edge = edge(2);
    Index next_row = row_of(1);
    Index row = row_of(0);
    RowAhead now = read(edge(0), next_edge, place_of(0), row, lane);
    for (Index k = 0; k < rows; ++k) {
      const Index at = place_of(k);
      RowAhead next{};
      if (k + 1 < rows) next = read(next_edge, last_edge, place_of(k + 1), next_row, lane);
      next_edge = last_edge;
      last_edge = edge(k + 3);
      const Index row_after = row_of(k + 2);
      do_row(now, static_cast<std::uint32_t>(at), row, lane);
      row = next_row;
      next_row = row_after;
      now = next;
    }
  }

 private:
  [[nodiscard]] TASKDAG_TASK const SweepSide& side_data() const { return side == Triangle::lower ? d.lower : d.upper; }
  /// The row between two offsets, which descend in the upper sweep.
  [[nodiscard]] TASKDAG_TASK RowAhead read(Offset from, Offset to, Index place, Index row, std::uint32_t lane) const {
    RowAhead ahead{};
    ahead.begin = side == Triangle::lower ? from : to;
    ahead.end = side == Triangle::lower ? to : from;
    for (int k = 0; k < RowAhead::size; ++k) {
      ahead.column[k] = -1;
      if (ahead.begin + k >= ahead.end) continue;
      const std::size_t at = (static_cast<std::size_t>(ahead.begin + k) << d.log2_lanes) + lane;
      ahead.column[k] = side_data().column[at];
      ahead.value[k] = side_data().value[at];
    }
    ahead.right = side == Triangle::lower ? b[row] : d.work[place];
    return ahead;
  }
  TASKDAG_TASK void do_row(const RowAhead& ahead, std::uint32_t place, Index row, std::uint32_t lane) const {
    double found = ahead.right - sum_of_row(d, side_data(), ahead, lane);
    if constexpr (side == Triangle::upper) {
      found *= d.pivot[place];
      x[row] = found;
    }
    d.work[place] = found;
    send(side_data(), place, found);
  }
};

/// Values of the factor, to where sweeps read them.
struct LoadFactor {
  static constexpr const char* name = "load a factor";
  const double* values;
  const Offset* source;
  double* to;
  TASKDAG_TASK void execute(std::uint32_t k, double* /*sum*/) const { to[k] = source[k] < 0 ? 0.0 : values[source[k]]; }
};

/// Empties the slots, and meets the other ranks.
struct EndSweeps {
  static constexpr const char* name = "end of sweeps";
  static constexpr int sums = 1;
  SweepData d;
  TASKDAG_TASK void execute(std::uint32_t ghost, double* /*sum*/) const {
    d.lower.slots[ghost].clear();
    d.upper.slots[ghost].clear();
  }
  TASKDAG_TASK void finish(const double* /*sum*/) const {}
};

/// Units with their groups.
struct Units : ColourUnits {
  std::vector<Index> group;  ///< rows of groups before each of them

  Units(const RankRows& rows, std::span<const Index> colours, std::uint32_t lanes)
      : ColourUnits(rows, colours, lanes), group{0} {
    for (std::size_t u = 0; u + 1 < unit.size(); u += lanes) {
      Index most = 0;
      for (std::size_t k = u; k < u + lanes; ++k) most = std::max(most, unit[k + 1] - unit[k]);
      group.push_back(group.back() + most);
    }
  }
};

/// What has to be in memory of the backend for one side.
struct SideArrays {
  engine::Array<Offset> begin;
  engine::Array<Index> column;
  engine::Array<double> value;
  SentOfRows sent;
  engine::Array<Offset> source;  ///< of each value: its entry of the factor, or −1
};

struct EntryRange {
  Offset begin;
  Offset end;
};
/// Of the row at a place, on one side of its diagonal.
EntryRange entries_of(const RankRows& rows, Triangle triangle, Index place) {
  const Offset diagonal = rows.diagonals[at(place)];
  if (triangle == Triangle::lower) return {rows.offsets[at(place)], diagonal};
  return {diagonal + 1, rows.offsets[at(place) + 1]};
}

/// Lays out the entries of the factor's rows on one side.
void lay_out(const Context& context, const RankRows& rows, const Units& units, std::uint32_t lanes, Triangle triangle,
             SideArrays& side) {
  std::vector<Offset> begin(at(units.group.back()) + 1, 0);
  const auto for_rows = [&](const auto& work) {  // of groups, with the place that each lane has there
    for (std::size_t u = 0; u + 1 < units.unit.size(); ++u) {
      const std::size_t row = at(units.group[u / lanes]);
      for (Index p = units.unit[u]; p < units.unit[u + 1]; ++p) work(row + at(p - units.unit[u]), u % lanes, p);
    }
  };
  for_rows([&](std::size_t row, std::size_t, Index p) {
    const EntryRange entries = entries_of(rows, triangle, p);
    begin[row + 1] = std::max(begin[row + 1], entries.end - entries.begin);
  });
  std::int64_t total = 0;
  for (Offset& b : begin) {
    total += b;
    if (total > std::numeric_limits<Offset>::max()) throw InvalidInput("a rank has more entries than can be counted");
    b = static_cast<Offset>(total);
  }
  std::vector<Index> column(static_cast<std::size_t>(total) * lanes, -1);
  std::vector<Offset> source(column.size(), -1);
  for_rows([&](std::size_t row, std::size_t lane, Index p) {
    std::size_t at_entry = static_cast<std::size_t>(begin[row]) * lanes + lane;
    const EntryRange entries = entries_of(rows, triangle, p);
    for (Offset e = entries.begin; e < entries.end; ++e, at_entry += lanes) {
      column[at_entry] = rows.columns[at(e)];
      source[at_entry] = e;
    }
  });
  side.begin = engine::Array<Offset>(context, begin);
  side.column = engine::Array<Index>(context, column);
  side.value = engine::Array<double>(context, column.size());
  side.source = engine::Array<Offset>(context, source);
}

/// Ghosts that own rows have as columns on one side: what has to be sent to this rank.
std::vector<bool> ghosts_on(const RankRows& rows, Triangle triangle) {
  std::vector<bool> needed(at(rows.ghosts), false);
  for (Index p = 0; p < rows.rows; ++p) {
    const EntryRange entries = entries_of(rows, triangle, p);
    for (Offset e = entries.begin; e < entries.end; ++e) {
      if (rows.columns[at(e)] >= rows.rows) needed[at(rows.columns[at(e)] - rows.rows)] = true;
    }
  }
  return needed;
}

}  // namespace
}  // namespace krylov

class RankSweeps::Impl {
 public:
  Impl(const Context& context, const RankRows& rows, const RankOrder& order, const KrylovRanks& ranks)
      : context_(context), lanes_(context.backend() == Backend::cuda ? 32U : 1U) {
    if (ranks.group == nullptr) throw InvalidInput("sweeps over all ranks need their group");
    const RankGroup& group = *ranks.group;
    ranks::agree(group, [&] {
      check(rows, order, ranks);
      lay_out(rows, order);
    });
    krylov::RankPlan plan = krylov::RankPlan::of(ranks, rows.rows);
    memory_.emplace(context_, ranks, plan, 1U);
    std::vector<std::uint8_t> needed;  // of each rank's ghosts: 1 on the lower side, 2 on the upper one
    std::vector<std::uint8_t> mine;
    ranks::agree(group, [&] {
      const std::vector<bool> lower = krylov::ghosts_on(rows, Triangle::lower);
      const std::vector<bool> upper = krylov::ghosts_on(rows, Triangle::upper);
      mine.resize(plan.most_ghosts, 0);
      for (std::size_t g = 0; g < lower.size(); ++g)
        mine[g] = static_cast<std::uint8_t>((lower[g] ? 1 : 0) | (upper[g] ? 2 : 0));
      needed.resize(mine.size() * static_cast<std::size_t>(group.count()));
    });
    if (!mine.empty()) group.gather(mine.data(), mine.size(), needed.data());
    ranks::agree(group, [&] {
      std::vector<Index> place(at(rows.rows));
      for (Index p = 0; p < rows.rows; ++p) place[at(order.row_at[at(p)])] = p;
      std::ranges::stable_sort(plan.sent, {}, [&](const auto& sent) { return place[at(sent.row)]; });
      for (const int set : {0, 1}) {
        upload_sent(plan, place, set, [&](const auto& sent) {
          const std::size_t ghost = static_cast<std::size_t>(sent.to) * mine.size() + sent.ghost;
          return (needed[ghost] >> set & 1) != 0;
        });
      }
      fill_data(rows);
    });
  }

  void load(const double* values, MemorySpace space, Stream stream) {
    if (space == MemorySpace::host && context_.backend() == Backend::cuda) {
      const engine::Array<double> copy(context_, std::span<const double>(values, entries_));
      return load(copy.data(), MemorySpace::device, stream);
    }
    const auto gather = [&](auto& flow, const engine::Array<Offset>& source, const engine::Array<double>& array) {
      flow.stage(krylov::LoadFactor{values, source.data(), array.data()}, static_cast<std::uint32_t>(source.size()));
    };
    stages_->run(nullptr, stream, [&](auto& flow) {
      for (const krylov::SideArrays& side : sides_) gather(flow, side.source, side.value);
      gather(flow, diagonals_, pivot_);
    });
    stages_->wait(stream);
  }

  void apply(const double* b, double* x, Stream stream) {
    stages_->run(data_.links, stream, [&](auto& flow) { run(flow, b, x); });
  }
  [[nodiscard]] bool has_lost() const { return memory_->has_lost(); }
  void lose() const noexcept { memory_->lose(); }

 private:
  static void check(const RankRows& rows, const RankOrder& order, const KrylovRanks& ranks) {
    if (at(rows.rows) != order.row_at.size() || order.colours.empty() || order.colours.back() != rows.rows)
      throw InvalidInput("the order by colours is not that of a rank's rows");
    if (at(rows.ghosts) != ranks.ghosts.size()) throw InvalidInput("a ghost has a row and a global number");
  }
  void lay_out(const RankRows& rows, const RankOrder& order) {
    const krylov::Units units(rows, order.colours, lanes_);
    first_ = units.first;
    count_ = units.count;
    unit_ = engine::Array<Index>(context_, units.unit);
    group_ = engine::Array<Index>(context_, units.group);
    row_at_ = engine::Array<Index>(context_, order.row_at);
    pivot_ = engine::Array<double>(context_, at(rows.rows));
    work_ = engine::Array<double>(context_, at(rows.rows));
    stages_.emplace(context_, rows.rows);
    diagonals_ = engine::Array<Offset>(context_, std::span(rows.diagonals).first(at(rows.rows)));
    entries_ = at(rows.own_entries());
    krylov::lay_out(context_, rows, units, lanes_, Triangle::lower, sides_[0]);
    krylov::lay_out(context_, rows, units, lanes_, Triangle::upper, sides_[1]);
  }
  template <class Needs>
  void upload_sent(const krylov::RankPlan& plan, const std::vector<Index>& place, int set, const Needs& needs) {
    std::vector<krylov::SentOfRows::One> sent;
    for (const krylov::RankPlan::Sent& one : plan.sent) {
      if (!needs(one)) continue;
      sent.push_back({place[at(one.row)], memory_->slots_of(one.to, static_cast<std::uint32_t>(set)) + one.ghost});
    }
    sides_[static_cast<std::size_t>(set)].sent = krylov::SentOfRows(context_, sent, place.size());
  }
  void fill_data(const RankRows& rows) {
    data_.rows = static_cast<std::uint32_t>(rows.rows);
    data_.ghosts = static_cast<std::uint32_t>(rows.ghosts);
    data_.log2_lanes = static_cast<std::uint32_t>(std::countr_zero(lanes_));
    data_.unit = unit_.data();
    data_.group = group_.data();
    data_.row_at = row_at_.data();
    data_.pivot = pivot_.data();
    data_.work = work_.data();
    data_.links = memory_->halo().links;
    data_.lower = view_of(0);
    data_.upper = view_of(1);
  }
  [[nodiscard]] krylov::SweepSide view_of(std::uint32_t set) const {
    const krylov::SideArrays& side = sides_[set];
    return {side.begin.data(),
            side.column.data(),
            side.value.data(),
            side.sent.any.data(),
            side.sent.begin.data(),
            side.sent.targets.data(),
            memory_->slots_of(memory_->rank(), set)};
  }
  template <class Flow>
  void run(Flow& flow, const double* b, double* x) const {
    for (std::size_t c = 0; c < first_.size(); ++c) sweep<Triangle::lower>(flow, c, b, x);
    for (std::size_t c = first_.size(); c-- > 0;) sweep<Triangle::upper>(flow, c, b, x);
    flow.stage(krylov::EndSweeps{data_}, data_.ghosts);
  }
  template <Triangle side, class Flow>
  void sweep(Flow& flow, std::size_t c, const double* b, double* x) const {
    if (count_[c] > 0) flow.stage(krylov::ColourSweep<side>{data_, first_[c], b, x}, count_[c]);
  }

  Context context_;
  std::uint32_t lanes_;
  std::vector<std::uint32_t> first_;  ///< of each colour: its first unit
  std::vector<std::uint32_t> count_;  ///< and how many it has
  engine::Array<Index> unit_;
  engine::Array<Index> group_;
  engine::Array<Index> row_at_;
  engine::Array<double> pivot_;
  engine::Array<double> work_;
  engine::Array<Offset> diagonals_;
  std::size_t entries_ = 0;      ///< of own rows
  krylov::SideArrays sides_[2];  ///< lower, upper
  std::optional<krylov::RankStages> stages_;
  std::optional<krylov::RankMemory> memory_;
  krylov::SweepData data_{};
};

RankSweeps::RankSweeps(const Context& context, const RankRows& rows, const RankOrder& order, const KrylovRanks& ranks)
    : impl_(std::make_unique<Impl>(context, rows, order, ranks)) {}
RankSweeps::~RankSweeps() = default;

void RankSweeps::load(const double* values, MemorySpace space, Stream stream) { impl_->load(values, space, stream); }
void RankSweeps::apply(const double* x, double* y, Stream stream) { impl_->apply(x, y, stream); }
bool RankSweeps::has_lost_rank() const { return impl_->has_lost(); }
void RankSweeps::lose() noexcept { impl_->lose(); }

}  // namespace taskdag
