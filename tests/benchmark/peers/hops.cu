#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/check.hpp"
#include "backends/cuda/stream.hpp"
#include "backends/ranks/agree.hpp"
#include "backends/ranks/window.hpp"
#include "peers/hops.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/loop/ranks.hpp"
#include "taskdag/engine/memory.hpp"

namespace taskdag::benchmark {
namespace {

using engine::RankLinks;
using engine::RankSlot;

constexpr int threads = 1024;
constexpr int repeats = 7;
constexpr std::uint64_t patience_ns = 10'000'000'000;

/// What the rank `from` sends in a round.
__device__ double number_of(std::uint32_t from, std::uint32_t round, std::uint32_t k) {
  return static_cast<double>(from + 1U) + round * 64.0 + k * 0.5;
}

// Each thread has slots of its own, so that threads need not wait for each other.

__global__ void one_way_kernel(RankLinks links, std::uint32_t rounds, std::uint32_t numbers, std::uint32_t* wrong) {
  const std::uint32_t last = links.count - 1U;
  if (links.rank != 0 && links.rank != last) return;
  const std::uint32_t other = links.rank == 0 ? last : 0;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    links.sum_set = round % 2U;
    for (std::uint32_t k = threadIdx.x; k < numbers; k += threads) {
      if (links.rank == 0) links.put_sum(other, k, number_of(0, round, k));
    }
    for (std::uint32_t k = threadIdx.x; k < numbers; k += threads) {
      if (links.take_sum(other, k) != number_of(other, round, k)) *wrong = 1;
      if (links.rank != 0) links.put_sum(other, k, number_of(last, round, k));
    }
  }
}

__global__ void among_all_kernel(RankLinks links, std::uint32_t rounds, std::uint32_t numbers, std::uint32_t* wrong) {
  for (std::uint32_t round = 0; round < rounds; ++round) {
    links.sum_set = round % 2U;
    for (std::uint32_t k = threadIdx.x; k < numbers; k += threads) {
      for (std::uint32_t to = 0; to < links.count; ++to) links.put_sum(to, k, number_of(links.rank, round, k));
    }
    for (std::uint32_t k = threadIdx.x; k < numbers; k += threads) {
      for (std::uint32_t from = 0; from < links.count; ++from) {
        if (links.take_sum(from, k) != number_of(from, round, k)) *wrong = 1;
      }
    }
  }
}

/// The links of all ranks over a window.
class Links {
 public:
  Links(const RankGroup& ranks, const Context& context, std::uint32_t numbers)
      : window_(ranks::open_device_window(ranks, first_slot + slots(ranks, numbers) * sizeof(RankSlot),
                                          {context.device(), device_uuid(context.device()), false})) {
    const std::vector<std::uint64_t> empty(slots(ranks, numbers), RankSlot::empty);
    window_->copy_in(first_slot, empty.data(), empty.size() * sizeof(RankSlot));
    std::vector<RankSlot*> sums;
    std::vector<std::uint32_t*> lost;
    for (int rank = 0; rank < ranks.count(); ++rank) {
      auto* const base = static_cast<char*>(window_->of(rank));
      lost.push_back(reinterpret_cast<std::uint32_t*>(base));
      sums.push_back(reinterpret_cast<RankSlot*>(base + first_slot));
    }
    sums_ = engine::Array<RankSlot*>(context, sums);
    lost_ = engine::Array<std::uint32_t*>(context, lost);
    links_ = {static_cast<std::uint32_t>(ranks.rank()),
              static_cast<std::uint32_t>(ranks.count()),
              numbers,
              patience_ns,
              sums_.data(),
              lost_.data(),
              0,
              0,
              0,
              0};
  }
  [[nodiscard]] const RankLinks& links() const { return links_; }

 private:
  static constexpr std::size_t first_slot = 128;  ///< in bytes; before them is the word that says who is lost
  static std::size_t slots(const RankGroup& ranks, std::uint32_t numbers) {
    return std::size_t{2} * static_cast<std::size_t>(ranks.count()) * numbers;
  }
  std::unique_ptr<ranks::Window> window_;
  engine::Array<RankSlot*> sums_;
  engine::Array<std::uint32_t*> lost_;
  RankLinks links_{};
};

void wait_for_all(const RankGroup& ranks) { static_cast<void>(ranks::gather(ranks, char{0})); }

}  // namespace

const char* to_string(Pattern pattern) { return pattern == Pattern::one_way ? "one-way" : "among-all"; }

HopTime measure_hops(const RankGroup& ranks, int device, Pattern pattern, std::uint32_t numbers) {
  const Context context = Context::create({Backend::cuda, 0, device});
  const Links links(ranks, context, numbers);
  const engine::Array<std::uint32_t> wrong(context, 1);
  const cuda::UniqueEvent begin;
  const cuda::UniqueEvent end;
  const std::uint32_t rounds = numbers > 1024 ? 1000 : 4000;
  std::vector<float> ms;
  for (int k = 0; k < repeats; ++k) {
    wait_for_all(ranks);
    begin.record(nullptr);
    if (pattern == Pattern::one_way) {
      one_way_kernel<<<1, threads>>>(links.links(), rounds, numbers, wrong.data());
    } else {
      among_all_kernel<<<1, threads>>>(links.links(), rounds, numbers, wrong.data());
    }
    cuda::check(cudaGetLastError(), "handing numbers over");
    end.record(nullptr);
    ms.push_back(end.milliseconds_since(begin));
  }
  std::ranges::sort(ms);
  const double hops = pattern == Pattern::one_way ? 2.0 * rounds : rounds;
  const std::vector<std::uint32_t> wrong_of_ranks = ranks::gather(ranks, wrong.download().front());
  return {1000.0 * ms[repeats / 2] / hops, std::ranges::count(wrong_of_ranks, 0U) == ranks.count()};
}

}  // namespace taskdag::benchmark
