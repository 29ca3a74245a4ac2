// The numeric phase of a factor over all ranks, colour after colour. Compiled as a CUDA source where CUDA is.
//
// A stage is a colour: its rows wait for entries of other ranks' rows, which are of colours before, and send their own.
// After an attempt a sum over all ranks says that all have taken what was sent to them. A row is that of the task
// bodies of host threads, by one worker, which looks for columns in the row itself.
#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "base/index.hpp"
#include "kernels/factor/ic/task.hpp"
#include "kernels/factor/ilu/task.hpp"
#include "kernels/factor/rank_tasks.hpp"
#include "kernels/factor/shift.hpp"
#include "krylov/across/stages.hpp"
#include "krylov/ranks.hpp"
#include "taskdag/across_ranks.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace krylov {
namespace {

/// Of one attempt, by places; rare.
struct EliminationFindings {
  static constexpr Index none = std::numeric_limits<Index>::max();
  Index first_zero = none;
  Index first_bad = none;    ///< not finite
  Index first_wrong = none;  ///< not definite
  Index last_zero = -1;
  std::int32_t shifted = 0;
};

TASKDAG_TASK inline void lower_to(Index& place, Index i) {
  engine::AtomicRef<Index> word(place);
  Index seen = word.load(engine::relaxed);
  while (i < seen && !word.compare_exchange_weak(seen, i, engine::relaxed, engine::relaxed)) continue;
}
TASKDAG_TASK inline void raise_to(Index& place, Index i) {
  engine::AtomicRef<Index> word(place);
  Index seen = word.load(engine::relaxed);
  while (i > seen && !word.compare_exchange_weak(seen, i, engine::relaxed, engine::relaxed)) continue;
}

struct EliminationData {
  kernels::RankTasks tasks;
  std::uint32_t rows;
  std::uint32_t entries;  ///< of own rows, which come first
  std::uint32_t ghost_entries;
  const Index* unit;  ///< place of each unit's first row, and the end
  double* values;     ///< of own rows
  const double* given;
  engine::RankSlot* slots;        ///< of entries of ghosts
  const std::uint32_t* any_sent;  ///< a bit a place: whether other ranks wait for entries of that row
  const Index* sent;              ///< of each place: where what it sends begins, and the end
  const Offset* sent_entries;
  engine::RankSlot* const* targets;
  EliminationFindings* findings;
  engine::RankLinks* links;
  kernels::PivotRule rule;
  kernels::DiagonalShift shift;
  double first_diagonal;
  bool diagonal_only;
};

/// The Factor of the task bodies: inverse pivots stand in the diagonal's place.
struct RankEntries {
  const EliminationData& d;
  [[nodiscard]] TASKDAG_TASK double first_diagonal() const { return d.first_diagonal; }
  [[nodiscard]] TASKDAG_TASK double entry(Offset e) const {
    const auto own = static_cast<Offset>(d.entries);
    return e < own ? d.values[e] : d.links->wait_for(d.slots[e - own]);
  }
  [[nodiscard]] TASKDAG_TASK double inverse_pivot(Index k) const { return entry(d.tasks.diagonals[k]); }
  TASKDAG_TASK void publish_pivot(Index, Offset diagonal, double pivot) const { d.values[diagonal] = 1.0 / pivot; }
  TASKDAG_TASK void note_row(double, double, double, double) const {}
  TASKDAG_TASK void zero_pivot(Index i, double) const {
    lower_to(d.findings->first_zero, i);
    raise_to(d.findings->last_zero, i);
  }
  TASKDAG_TASK void shifted(Index) const {
    engine::AtomicRef<std::int32_t>(d.findings->shifted).fetch_add(1, engine::relaxed);
  }
  TASKDAG_TASK void not_definite(Index i) const { lower_to(d.findings->first_wrong, i); }
  TASKDAG_TASK void non_finite(Index i) const { lower_to(d.findings->first_bad, i); }
};

/// The Row of the task bodies: entries from `begin` on, worked on in place.
struct SearchedRow {
  double* values;
  const Index* columns;
  Offset begin;
  Offset end;
  TASKDAG_TASK double& operator[](Offset e) const { return values[e]; }
  [[nodiscard]] TASKDAG_TASK bool has(Index column) const { return find(column) < end; }
  [[nodiscard]] TASKDAG_TASK Offset find(Index column) const {
    Offset e = begin;
    while (e < end && columns[e] != column) ++e;
    return e;
  }
};

/// Values of the matrix, to their places.
struct TakeEntries {
  static constexpr const char* name = "entries of the matrix";
  const double* from;
  const Offset* target;
  double* given;
  TASKDAG_TASK void execute(std::uint32_t e, double* /*sum*/) const { given[target[e]] = from[e]; }
};
struct LoadEntries {
  static constexpr const char* name = "load entries";
  EliminationData d;
  TASKDAG_TASK void execute(std::uint32_t e, double* /*sum*/) const { d.values[e] = d.given[e]; }
};
struct LoadDiagonal {
  static constexpr const char* name = "load the diagonal";
  EliminationData d;
  TASKDAG_TASK void execute(std::uint32_t row, double* /*sum*/) const {
    const Offset diagonal = d.tasks.diagonals[row];
    d.values[diagonal] = d.shift.applied_to(d.given[diagonal]);
  }
};

template <FactorKind kind>
struct EliminateColour {
  static constexpr const char* name = "elimination of a colour";
  static constexpr int blocks_of_a_multiprocessor = 4;
  EliminationData d;
  std::uint32_t first;  ///< unit
  TASKDAG_TASK void execute(std::uint32_t task, double* /*sum*/) const {
    for (Index i = d.unit[first + task]; i < d.unit[first + task + 1]; ++i) {
      eliminate(i);
      if ((d.any_sent[static_cast<std::uint32_t>(i) / 32U] >> (static_cast<std::uint32_t>(i) % 32U) & 1U) == 0U)
        continue;
      for (Index k = d.sent[i]; k < d.sent[i + 1]; ++k) d.targets[k]->put(d.values[d.sent_entries[k]]);
    }
  }

 private:
  TASKDAG_TASK void eliminate(Index i) const {
    RankEntries factor{d};
    // ICC changes only what it has from the diagonal on.
    const Offset begin = kind == FactorKind::ic ? d.tasks.upper_begin(i) : d.tasks.lower_begin(i);
    const SearchedRow row{d.values, d.tasks.columns, begin, d.tasks.upper_end(i)};
    if constexpr (kind == FactorKind::ic)
      (void)kernels::ic0_row(d.tasks, i, row, d.values, factor, d.rule, d.diagonal_only);
    else
      (void)kernels::ilu0_row(d.tasks, i, row, factor, d.rule, d.diagonal_only);
  }
};

/// Empties the slots, and meets the other ranks.
struct EndElimination {
  static constexpr const char* name = "end of an elimination";
  static constexpr int sums = 1;
  EliminationData d;
  TASKDAG_TASK void execute(std::uint32_t entry, double* /*sum*/) const { d.slots[entry].clear(); }
  TASKDAG_TASK void finish(const double* /*sum*/) const {}
};

/// An entry of a row that is a ghost elsewhere, and where it goes.
struct SentEntry {
  Index place;
  Offset entry;
  int to;
  std::uint32_t slot;
};
/// Where an entry of a ghost's row is.
struct Origin {
  int rank;
  Offset entry;
};

/// Who waits for which of this rank's entries, and the most that a rank has of others. Collective.
std::vector<SentEntry> find_sent(const RankGroup& group, const RankRows& rows, const GhostEntries& ghosts,
                                 std::uint32_t& most) {
  const auto counts = ranks::gather(group, static_cast<std::uint32_t>(ghosts.entry.size()));
  most = *std::ranges::max_element(counts);
  std::vector<Origin> mine;
  std::vector<Origin> all;
  std::vector<SentEntry> sent;
  ranks::agree(group, [&] {
    mine.resize(most, {-1, 0});
    for (std::size_t k = 0; k < ghosts.entry.size(); ++k) mine[k] = {ghosts.rank[k], ghosts.entry[k]};
    all.resize(mine.size() * counts.size());
  });
  if (most == 0) return sent;
  group.gather(mine.data(), mine.size() * sizeof(Origin), all.data());
  ranks::agree(group, [&] {
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k].rank != group.rank()) continue;
      if (all[k].entry < 0 || all[k].entry >= rows.own_entries())
        throw InvalidInput("a rank waits for an entry that another one does not have");
      const auto row = std::ranges::upper_bound(rows.offsets, all[k].entry) - rows.offsets.begin() - 1;
      sent.push_back(
          {static_cast<Index>(row), all[k].entry, static_cast<int>(k / most), static_cast<std::uint32_t>(k % most)});
    }
    std::ranges::stable_sort(sent, {}, &SentEntry::place);
  });
  return sent;
}

}  // namespace
}  // namespace krylov

class RankElimination::Impl {
 public:
  Impl(const Context& context, const RankFactor& factor, std::span<const Index> colours, const RankGroup& group,
       const EliminationInput& input)
      : context_(context) {
    const RankRows& rows = factor.pattern();
    krylov::RankPlan plan;
    ranks::agree(group, [&] {
      check(rows, colours, input);
      lay_out(factor, colours, input);
    });
    const std::vector<krylov::SentEntry> sent = krylov::find_sent(group, rows, input.ghosts, plan.most_ghosts);
    KrylovRanks ranks;
    ranks.group = &group;
    ranks.patience_s = input.patience_s;
    memory_.emplace(context_, ranks, plan, 1U);
    ranks::agree(group, [&] {
      upload_sent(sent, at(rows.rows));
      fill_data(factor);
    });
  }

  void take(const double* own, const double* outer, Stream stream) const {
    stages_->run(nullptr, stream, [&](auto& flow) {
      auto* const given = static_cast<double*>(given_.data());
      if (own_.size() > 0)
        flow.stage(krylov::TakeEntries{own, own_.data(), given}, static_cast<std::uint32_t>(own_.size()));
      if (outer_.size() > 0)
        flow.stage(krylov::TakeEntries{outer, outer_.data(), given}, static_cast<std::uint32_t>(outer_.size()));
    });
    stages_->wait(stream);
  }
  void copy_taken(Offset first, std::span<double> to) const {
    given_.copy_out(at(first) * sizeof(double), to.data(), to.size_bytes());
  }

  FactorStatus run(const RankFactor& factor, Stream stream) {
    const krylov::EliminationFindings nothing;
    findings_.upload({&nothing, 1});
    data_.rule = kernels::pivot_rule(factor.options());
    data_.shift = {factor.shift_amount(), factor.options().shift == ShiftType::scaled};
    data_.first_diagonal = factor.first_diagonal();
    stages_->run(data_.links, stream, [&](auto& flow) {
      flow.stage(krylov::LoadEntries{data_}, data_.entries);
      flow.stage(krylov::LoadDiagonal{data_}, data_.rows);
      for (std::size_t c = 0; c < first_.size(); ++c) colour(flow, c);
      flow.stage(krylov::EndElimination{data_}, data_.ghost_entries);
    });
    stages_->wait(stream);
    if (memory_->has_lost()) throw RankLost("another rank of this factorisation has ended or does not answer");
    return status();
  }
  [[nodiscard]] const double* values() const { return values_.data(); }
  void copy_values(std::span<double> to) const { std::ranges::copy(values_.download(), to.begin()); }
  void lose() const noexcept { memory_->lose(); }

 private:
  static void check(const RankRows& rows, std::span<const Index> colours, const EliminationInput& input) {
    if (colours.empty() || colours.back() != rows.rows)
      throw InvalidInput("the order by colours is not that of a rank's rows");
    if (input.own.size() + input.outer.size() != at(rows.own_entries()))
      throw InvalidInput("each entry of a rank's rows is in a column of its own or of another rank");
    if (input.ghosts.rank.size() != input.ghosts.entry.size() ||
        input.ghosts.entry.size() != rows.columns.size() - at(rows.own_entries()))
      throw InvalidInput("each entry of a ghost's row is one of another rank");
  }
  void lay_out(const RankFactor& factor, std::span<const Index> colours, const EliminationInput& input) {
    const RankRows& rows = factor.pattern();
    krylov::ColourUnits units(rows, colours, 1U);
    first_ = std::move(units.first);
    count_ = std::move(units.count);
    stages_.emplace(context_, rows.rows);
    offsets_ = engine::Array<Offset>(context_, rows.offsets);
    diagonals_ = engine::Array<Offset>(context_, rows.diagonals);
    columns_ = engine::Array<Index>(context_, rows.columns);
    mirror_ = engine::Array<Offset>(context_, factor.mirror());
    unit_ = engine::Array<Index>(context_, units.unit);
    values_ = engine::Array<double>(context_, at(rows.own_entries()));
    given_ = engine::Memory(context_, at(rows.own_entries()) * sizeof(double));
    own_ = engine::Array<Offset>(context_, input.own);
    outer_ = engine::Array<Offset>(context_, input.outer);
    findings_ = engine::Array<krylov::EliminationFindings>(context_, 1);
  }
  void upload_sent(const std::vector<krylov::SentEntry>& sent, std::size_t rows) {
    std::vector<krylov::SentOfRows::One> of_rows;
    std::vector<Offset> entries;
    for (const krylov::SentEntry& one : sent) {
      of_rows.push_back({one.place, memory_->slots_of(one.to, 0) + one.slot});
      entries.push_back(one.entry);
    }
    sent_ = krylov::SentOfRows(context_, of_rows, rows);
    sent_entries_ = engine::Array<Offset>(context_, entries);
  }
  void fill_data(const RankFactor& factor) {
    const RankRows& rows = factor.pattern();
    data_.tasks = {offsets_.data(), diagonals_.data(), columns_.data(), mirror_.data()};
    data_.rows = static_cast<std::uint32_t>(rows.rows);
    data_.entries = static_cast<std::uint32_t>(rows.own_entries());
    data_.ghost_entries = static_cast<std::uint32_t>(rows.columns.size()) - data_.entries;
    data_.unit = unit_.data();
    data_.values = values_.data();
    data_.given = static_cast<const double*>(given_.data());
    data_.slots = memory_->slots_of(memory_->rank(), 0);
    data_.any_sent = sent_.any.data();
    data_.sent = sent_.begin.data();
    data_.sent_entries = sent_entries_.data();
    data_.targets = sent_.targets.data();
    data_.findings = findings_.data();
    data_.links = memory_->halo().links;
    data_.diagonal_only = factor.options().diagonal_only;
    kind_ = factor.options().kind;
  }
  template <class Flow>
  void colour(Flow& flow, std::size_t c) const {
    if (count_[c] == 0) return;
    if (kind_ == FactorKind::ic)
      flow.stage(krylov::EliminateColour<FactorKind::ic>{data_, first_[c]}, count_[c]);
    else
      flow.stage(krylov::EliminateColour<FactorKind::ilu>{data_, first_[c]}, count_[c]);
  }
  [[nodiscard]] FactorStatus status() const {
    const krylov::EliminationFindings found = findings_.download().front();
    FactorStatus status;
    status.shifts = found.shifted;
    status.last_row = found.last_zero;
    if (found.first_wrong != krylov::EliminationFindings::none) {
      status.outcome = FactorOutcome::not_definite;
      status.first_row = found.first_wrong;
    } else if (found.first_bad < found.first_zero) {
      status.outcome = FactorOutcome::non_finite;
      status.first_row = found.first_bad;
    } else if (found.last_zero >= 0) {
      status.outcome = FactorOutcome::zero_pivot;
      status.first_row = found.first_zero;
    }
    return status;
  }

  Context context_;
  FactorKind kind_ = FactorKind::ilu;
  std::optional<krylov::RankStages> stages_;
  std::vector<std::uint32_t> first_;  ///< of each colour: its first unit
  std::vector<std::uint32_t> count_;  ///< and how many it has
  engine::Array<Offset> offsets_;
  engine::Array<Offset> diagonals_;
  engine::Array<Index> columns_;
  engine::Array<Offset> mirror_;
  engine::Array<Index> unit_;
  engine::Array<double> values_;
  engine::Memory given_;
  engine::Array<Offset> own_;
  engine::Array<Offset> outer_;
  krylov::SentOfRows sent_;
  engine::Array<Offset> sent_entries_;
  engine::Array<krylov::EliminationFindings> findings_;
  std::optional<krylov::RankMemory> memory_;
  krylov::EliminationData data_{};
};

RankElimination::RankElimination(const Context& context, const RankFactor& factor, std::span<const Index> colours,
                                 const RankGroup& group, const EliminationInput& input)
    : impl_(std::make_unique<Impl>(context, factor, colours, group, input)) {}
RankElimination::~RankElimination() = default;

void RankElimination::take(const double* own, const double* outer, Stream stream) { impl_->take(own, outer, stream); }
void RankElimination::copy_taken(Offset first, std::span<double> to) const { impl_->copy_taken(first, to); }
FactorStatus RankElimination::run(const RankFactor& factor, Stream stream) { return impl_->run(factor, stream); }
const double* RankElimination::values() const { return impl_->values(); }
void RankElimination::copy_values(std::span<double> to) const { impl_->copy_values(to); }
void RankElimination::lose() noexcept { impl_->lose(); }

}  // namespace taskdag
