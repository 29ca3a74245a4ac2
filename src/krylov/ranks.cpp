#include "krylov/ranks.hpp"

#include <algorithm>
#include <string>

#include "backends/ranks/agree.hpp"
#include "krylov/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {
namespace {

constexpr std::size_t line = 128;
/// The word that says whether a rank is lost has a line of its own.
constexpr std::size_t word_bytes = line;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

struct Sizes {
  std::int64_t rows;
  std::int64_t ghosts;
};

/// First row of each rank, and the end.
std::vector<std::int64_t> first_rows(const std::vector<Sizes>& sizes) {
  std::vector<std::int64_t> first{0};
  for (const Sizes& one : sizes) first.push_back(first.back() + one.rows);
  return first;
}

void check_ghosts(const std::vector<std::int64_t>& ghosts, std::int64_t begin, std::int64_t end, std::int64_t rows) {
  for (std::size_t g = 0; g < ghosts.size(); ++g) {
    if (ghosts[g] < 0 || ghosts[g] >= rows) throw InvalidInput("a ghost is a row that no rank has");
    if (ghosts[g] >= begin && ghosts[g] < end) throw InvalidInput("a ghost is a row of its own rank");
    if (g > 0 && ghosts[g] <= ghosts[g - 1]) throw InvalidInput("ghosts have to ascend");
  }
}

}  // namespace

RankPlan RankPlan::of(const KrylovRanks& ranks, Index rows) {
  const RankGroup& group = *ranks.group;
  const auto me = static_cast<std::size_t>(group.rank());
  const std::vector<Sizes> sizes = ranks::gather(group, Sizes{rows, static_cast<std::int64_t>(ranks.ghosts.size())});
  const std::vector<std::int64_t> first = first_rows(sizes);
  RankPlan plan;
  plan.rows = first.back();
  for (const Sizes& one : sizes) {
    plan.most_rows = std::max(plan.most_rows, static_cast<std::uint32_t>(one.rows));
    plan.most_ghosts = std::max(plan.most_ghosts, static_cast<std::uint32_t>(one.ghosts));
  }
  std::vector<std::int64_t> mine;
  std::vector<std::int64_t> all;
  ranks::agree(group, [&] {
    check_ghosts(ranks.ghosts, first[me], first[me + 1], plan.rows);
    mine = ranks.ghosts;
    mine.resize(plan.most_ghosts, -1);
    all.resize(mine.size() * sizes.size());
  });
  if (mine.empty()) return plan;
  group.gather(mine.data(), mine.size() * sizeof(std::int64_t), all.data());
  ranks::agree(group, [&] {
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (all[k] < first[me] || all[k] >= first[me + 1]) continue;
      plan.sent.push_back({static_cast<Index>(all[k] - first[me]), static_cast<int>(k / mine.size()),
                           static_cast<std::uint32_t>(k % mine.size())});
    }
  });
  return plan;
}

SentOfRows::SentOfRows(const Context& context, const std::vector<One>& sent, std::size_t rows) {
  constexpr std::size_t bits = 32;
  std::vector<std::uint32_t> any_of_rows(rows / bits + 1, 0U);
  std::vector<Index> begin_of_rows(rows + 1, 0);
  std::vector<engine::RankSlot*> all_targets;
  for (const One& one : sent) {
    const auto row = static_cast<std::size_t>(one.row);
    any_of_rows[row / bits] |= 1U << (row % bits);
    ++begin_of_rows[row + 1];
    all_targets.push_back(one.target);
  }
  for (std::size_t row = 0; row < rows; ++row) begin_of_rows[row + 1] += begin_of_rows[row];
  any = engine::Array<std::uint32_t>(context, any_of_rows);
  begin = engine::Array<Index>(context, begin_of_rows);
  targets = engine::Array<engine::RankSlot*>(context, all_targets);
}

RankMemory::RankMemory(const Context& context, const KrylovRanks& ranks, const RankPlan& plan, std::uint32_t widest,
                       std::uint32_t sets)
    : stride_(static_cast<std::uint32_t>(whole_lines(plan.most_ghosts * sizeof(engine::RankSlot)) /
                                         sizeof(engine::RankSlot))),
      layout_{word_bytes, 0, 0},
      ghosts_(static_cast<std::uint32_t>(ranks.ghosts.size())),
      sends_(static_cast<std::uint32_t>(plan.sent.size())),
      rank_(ranks.group->rank()),
      ranks_(ranks.group->count()) {
  const auto count = static_cast<std::size_t>(ranks.group->count());
  layout_.ghosts = layout_.sums + whole_lines(2 * count * widest * sizeof(engine::RankSlot));
  layout_.end = layout_.ghosts + std::size_t{sets} * stride_ * sizeof(engine::RankSlot);
  window_ = open_window(context, ranks, layout_.end);
  ranks::agree(*ranks.group, [&] {
    empty_slots();
    upload_links(context, ranks, widest);
    upload_sent(context, plan);
  });
  watch_ = std::make_unique<ranks::Watch>(*ranks.group, [this] { lose(rank_, rank_ + 1); });
}

std::unique_ptr<ranks::Window> RankMemory::open_window(const Context& context, const KrylovRanks& ranks,
                                                       std::size_t bytes) {
  const RankGroup& group = *ranks.group;
  if (context.backend() == Backend::host) return ranks::open_host_window(group, bytes);
  ranks::RankDevice device;
  ranks::agree(group, [&] {
    if (group.count() > static_cast<int>(engine::RankLinks::most_devices))
      throw Unsupported("a loop runs on up to " + std::to_string(engine::RankLinks::most_devices) + " devices");
    device = {context.device(), device_uuid(context.device()), ranks.shared_devices};
  });
  return ranks::open_device_window(group, bytes, device);
}

void RankMemory::empty_slots() {
  const std::vector<std::uint64_t> slots((layout_.end - layout_.sums) / sizeof(engine::RankSlot),
                                         engine::RankSlot::empty);
  window_->copy_in(layout_.sums, slots.data(), slots.size() * sizeof(engine::RankSlot));
}

void RankMemory::upload_links(const Context& context, const KrylovRanks& ranks, std::uint32_t widest) {
  const int count = ranks.group->count();
  std::vector<engine::RankSlot*> sums;
  std::vector<std::uint32_t*> lost;
  for (int rank = 0; rank < count; ++rank) {
    sums.push_back(reinterpret_cast<engine::RankSlot*>(base(rank) + layout_.sums));
    lost.push_back(reinterpret_cast<std::uint32_t*>(base(rank)));
  }
  sums_ = engine::Array<engine::RankSlot*>(context, sums);
  lost_ = engine::Array<std::uint32_t*>(context, lost);
  const engine::RankLinks links{static_cast<std::uint32_t>(rank_),
                                static_cast<std::uint32_t>(count),
                                widest,
                                static_cast<std::uint64_t>(ranks.patience_s * 1.0e9),
                                sums_.data(),
                                lost_.data(),
                                0,
                                0,
                                0,
                                0};
  links_ = engine::Array<engine::RankLinks>(context, std::span<const engine::RankLinks>(&links, 1));
}

void RankMemory::upload_sent(const Context& context, const RankPlan& plan) {
  std::vector<Index> rows;
  std::vector<engine::RankSlot*> targets;
  for (const RankPlan::Sent& one : plan.sent) {
    rows.push_back(one.row);
    targets.push_back(slots_of(one.to, 0) + one.ghost);
  }
  sent_rows_ = engine::Array<Index>(context, rows);
  targets_ = engine::Array<engine::RankSlot*>(context, targets);
}

void RankMemory::list_ahead(const Context& context, const RankPlan& plan, std::size_t rows) {
  std::vector<SentOfRows::One> sent;
  for (const RankPlan::Sent& one : plan.sent) sent.push_back({one.row, slots_of(one.to, 2) + one.ghost});
  std::ranges::stable_sort(sent, {}, &SentOfRows::One::row);
  ahead_ = SentOfRows(context, sent, rows);
}

Halo RankMemory::halo() const {
  Halo halo;
  halo.slots = slots_of(rank_, 0);
  halo.stride = stride_;
  halo.ghosts = ghosts_;
  halo.sends = sends_;
  halo.sent_rows = sent_rows_.data();
  halo.targets = targets_.data();
  halo.any_ahead = ahead_.any.data();
  halo.ahead_begin = ahead_.begin.data();
  halo.ahead_targets = ahead_.targets.data();
  halo.links = links_.data();
  return halo;
}

void RankMemory::lose(int begin, int end) const noexcept {
  try {
    for (int rank = begin; rank < end; ++rank) window_->set_word(rank, 0, 1);
  } catch (const Error&) {
    return;  // a device that has failed ends what waits on it
  }
}

bool RankMemory::has_lost() const { return window_->word(0) != 0; }

engine::Array<std::uint32_t> mark_outer_rows(const Context& context, const CsrPattern& outer, Stream stream) {
  constexpr std::uint32_t bits = 32;
  const auto rows = static_cast<std::uint32_t>(outer.rows);
  engine::Array<std::uint32_t> words(context, (rows + bits - 1) / bits);
  if (context.backend() == Backend::cuda) {
    mark_rows(outer, words.data(), stream);
    return words;
  }
  for (std::uint32_t i = 0; i < rows; ++i) {
    if (outer.row_offsets[i] < outer.row_offsets[i + 1]) words.data()[i / bits] |= 1U << (i % bits);
  }
  return words;
}

}  // namespace taskdag::krylov
