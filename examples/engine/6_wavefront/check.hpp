/// \file
/// Whether a wavefront was right.
#pragma once

#include <cstdint>
#include <span>

#include "settings.hpp"

namespace wavefront {

/// Compares what the tasks have left behind with its closed form: the byte of task (r, c) says that all its
/// predecessors have ended, in wave r + c - 1; the value of cell (r, c), where cells have values, is r + c. With as
/// many executions as there are tasks, each has run once. (That each ran after its predecessors, the tasks have
/// checked.)
/// @throws std::runtime_error naming the first wrong task or cell
void check(const Settings& settings, const taskdag::engine::Report& report, std::span<const std::uint32_t> state,
           std::span<const float> values);

}  // namespace wavefront
