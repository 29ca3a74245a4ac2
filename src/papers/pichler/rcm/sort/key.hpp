/// \file
/// What is sorted.
#pragma once

#include <cstdint>

namespace taskdag::kernels::rcm_tasks {

/// A parent's position within its level, above what tells its children apart. By tasks that is the child's rank, so
/// that no two keys are equal; on the calling thread it is the child's degree.
using SortKey = std::uint64_t;
inline constexpr SortKey kLargestKey = ~SortKey{0};

}  // namespace taskdag::kernels::rcm_tasks
