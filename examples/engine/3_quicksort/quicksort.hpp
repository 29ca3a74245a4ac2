/// \file
/// Quicksort as a program of the task engine: a task per range of keys.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/engine_options.hpp"

namespace quicksort {

struct Sorted {
  taskdag::engine::Report report;
  std::vector<std::uint32_t> keys;
};

Sorted sort(const taskdag::Context& context, const example::EngineOptions& options,
            std::span<const std::uint32_t> keys);

}  // namespace quicksort
