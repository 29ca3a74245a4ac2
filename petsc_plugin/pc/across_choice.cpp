#include "pc/across_choice.hpp"

namespace taskdag::petsc {
namespace {

/// Of an iteration of CG, in microseconds: what it takes whatever the rows; a thousand entries, where each rank has its
/// own factor, and where there is one of the whole matrix; an exchange between ranks; a thousand elements in it.
struct AcrossCost {
  double constant;
  double own_entries;
  double across_entries;
  double exchange;
  double elements;
};
constexpr AcrossCost cost_on_gpus = {50.0, 0.0117, 0.0168, 0.4, 0.2};
constexpr AcrossCost cost_by_messages = {20.0, 2.9, 4.3, 10.0, 4.0};
/// Blocks of grids take two colours: a sweep has one exchange, and there are two sweeps.
constexpr double exchanges_of_blocks = 2.0;

/// Where each rank has its own factor, iterations grow with the share of rows at the ranks' boundaries, not with the
/// ranks. In an order by blocks they are some more on any number of ranks.
constexpr double own_at_least = 1.12;
constexpr double own_of_boundary = 0.33;
constexpr double growth_by_blocks = 1.14;

}  // namespace

AcrossEstimate estimate_across(const AcrossCounts& counts) {
  const AcrossCost& cost = counts.on_gpus ? cost_on_gpus : cost_by_messages;
  const double entries = 1e-3 * static_cast<double>(counts.entries);
  const double ghosts = 1e-3 * static_cast<double>(counts.ghosts);
  AcrossEstimate estimate;
  if (counts.ghosts > 0)
    estimate.own_iterations =
        own_at_least + own_of_boundary * static_cast<double>(counts.ghosts) / static_cast<double>(counts.rows);
  estimate.across_iterations = growth_by_blocks;
  estimate.own_us = cost.constant + cost.own_entries * entries;
  estimate.across_us =
      cost.constant + cost.across_entries * entries + exchanges_of_blocks * (cost.exchange + cost.elements * ghosts);
  return estimate;
}

}  // namespace taskdag::petsc
