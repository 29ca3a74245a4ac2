#include "solver/choice/factor_schedule.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

/// The first ones do without CUDA; behind them stand the baselines of ATA and its policies.
constexpr std::array kSchedules{FactorSchedule::automatic,      FactorSchedule::lists,
                                FactorSchedule::engine,         FactorSchedule::level_launch,
                                FactorSchedule::level_graph,    FactorSchedule::level_barrier,
                                FactorSchedule::self_scheduled, FactorSchedule::ata_concurrency,
                                FactorSchedule::ata_locality,   FactorSchedule::ata_greedy};
constexpr std::size_t kOnHost = 3;
constexpr std::size_t kBaselines = kernels::kAtaBaselines.size();
static_assert(kSchedules.size() == kOnHost + kBaselines + kernels::kAtaPolicies.size());

}  // namespace

std::optional<SolveSchedule> schedule_of_rows(FactorSchedule schedule) {
  const auto number = static_cast<std::size_t>(schedule);
  if (number < kOnHost) return std::nullopt;
  if (number < kOnHost + kBaselines) return kernels::kAtaBaselines.at(number - kOnHost);
  return kernels::kAtaPolicies.at(number - kOnHost - kBaselines);
}

const char* to_string(FactorSchedule schedule) {
  switch (schedule) {
    case FactorSchedule::automatic:
      return to_string(SolveSchedule::automatic);
    case FactorSchedule::lists:
      return "lists";
    case FactorSchedule::engine:
      return to_string(SolveSchedule::engine);
    default:
      return to_string(*schedule_of_rows(schedule));
  }
}

std::span<const FactorSchedule> factor_schedules(Backend backend) {
  const std::span<const FactorSchedule> all(kSchedules);
  return backend == Backend::host ? all.first(kOnHost) : all;
}

void require_factor_schedule(Backend backend, FactorSchedule schedule) {
  const std::span<const FactorSchedule> there = factor_schedules(backend);
  if (std::ranges::find(there, schedule) != there.end()) return;
  std::string names;
  for (const FactorSchedule one : there) names += (names.empty() ? "" : ", ") + std::string(to_string(one));
  throw InvalidInput(std::string("the schedule ") + to_string(schedule) + " of a factorisation is not one of the " +
                     to_string(backend) + " backend, which has " + names);
}

}  // namespace taskdag
