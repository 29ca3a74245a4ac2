/// \file
/// The table workshop (P. Pichler, "Dynamic Dependencies for Task Scheduling on the GPU", chapters 4 and 5), made in
/// three ways: with phases, with individual dependencies and with grouped dependencies.
#pragma once

#include <vector>

#include "common/engine_options.hpp"

namespace workshop {

inline constexpr int kLegs = 4;
inline constexpr int kParts = kLegs + 1;  ///< of a table; the last is its top

/// What a workshop made. What it found is counted by the tasks that need it, at the moment when they run.
struct Made {
  taskdag::engine::Report report;
  std::vector<int> parts_found;   ///< by table: finished parts when it was assembled
  std::vector<int> tables_found;  ///< by chair: finished tables of its set when it was fitted; empty without sets
};

/// All parts of all tables first, then the tables.
Made make_with_phases(const taskdag::Context& context, const example::EngineOptions& options, int tables);
/// Each table as soon as its own parts are there.
Made make_with_individual_dependencies(const taskdag::Context& context, const example::EngineOptions& options,
                                       int tables);

inline constexpr int kTablesPerSet = 2;
inline constexpr int kChairsPerSet = 12;
/// Dinner sets: the chairs of a set wait for the tables of the set. The last set of an odd number has one table.
Made make_with_grouped_dependencies(const taskdag::Context& context, const example::EngineOptions& options, int tables);

}  // namespace workshop
