#include "cycles/exchanges.hpp"

#include <limits>
#include <utility>

#include "backends/ranks/agree.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cycles {

Exchanges::Number Exchanges::add_product(const std::vector<std::int64_t>& ghosts, Index own) {
  KrylovRanks wanted;
  wanted.group = ranks_.group;
  wanted.ghosts = ghosts;
  plans_.push_back(krylov::RankPlan::of(wanted, own));
  ghosts_.push_back(static_cast<std::uint32_t>(ghosts.size()));
  return plans_.size() - 1;
}

Exchanges::Gathered Exchanges::add_gather(Index own) {
  std::vector<std::uint32_t> first{0};
  for (const Index rows : ranks::gather(*ranks_.group, own))
    first.push_back(first.back() + static_cast<std::uint32_t>(rows));
  krylov::RankPlan plan;
  ranks::agree(*ranks_.group, [&] { plan = gather_plan(first, own); });
  plans_.push_back(std::move(plan));
  ghosts_.push_back(plans_.back().most_ghosts);
  return {plans_.size() - 1, first[static_cast<std::size_t>(ranks_.group->rank())]};
}

/// To each other rank all own elements, and that this rank is here.
krylov::RankPlan Exchanges::gather_plan(const std::vector<std::uint32_t>& first, Index own) const {
  const int me = ranks_.group->rank();
  const std::uint32_t begin = first[static_cast<std::size_t>(me)];
  krylov::RankPlan plan;
  plan.most_ghosts = first.back() + static_cast<std::uint32_t>(ranks_.group->count());
  for (int to = 0; to < ranks_.group->count(); ++to) {
    if (to == me) continue;
    for (Index row = 0; row < own; ++row) plan.sent.push_back({row, to, begin + static_cast<std::uint32_t>(row)});
    plan.sent.push_back({Gather::is_here, to, first.back() + static_cast<std::uint32_t>(me)});
  }
  return plan;
}

krylov::RankPlan Exchanges::put_together(std::size_t slots) {
  if (slots > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()))
    throw Unsupported("an application exchanges more elements between ranks than can be counted");
  krylov::RankPlan all;
  all.most_ghosts = static_cast<std::uint32_t>(slots);
  for (const krylov::RankPlan& one : plans_) {
    begins_.push_back(all.sent.size());
    all.sent.insert(all.sent.end(), one.sent.begin(), one.sent.end());
  }
  begins_.push_back(all.sent.size());
  plans_.clear();
  return all;
}

void Exchanges::open(const Context& context, std::size_t slots, std::uint32_t sums) {
  krylov::RankPlan all;
  KrylovRanks wanted;
  ranks::agree(*ranks_.group, [&] { all = put_together(slots); });
  wanted.group = ranks_.group;
  wanted.patience_s = ranks_.patience_s;
  wanted.shared_devices = ranks_.shared_devices;
  memory_.emplace(context, wanted, all, sums);
}

krylov::Halo Exchanges::halo(Number number) const {
  krylov::Halo halo = memory_->halo();
  halo.ghosts = ghosts_[number];
  halo.sends = static_cast<std::uint32_t>(begins_[number + 1] - begins_[number]);
  halo.sent_rows += begins_[number];
  halo.targets += begins_[number];
  return halo;
}

}  // namespace taskdag::cycles
