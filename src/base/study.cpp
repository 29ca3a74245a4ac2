/// \file
/// The names of what the papers' schedules can be told.
#include "taskdag/study.hpp"

namespace taskdag {

const char* to_string(AtaFlow flow) { return flow == AtaFlow::pull ? "pull" : "push"; }

const char* to_string(AtaSize size) { return size == AtaSize::equations ? "equations" : "warps_and_levels"; }

}  // namespace taskdag
