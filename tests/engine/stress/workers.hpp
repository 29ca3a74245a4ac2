/// \file
/// The workers of the stress tests: their lanes, how many items they fetch, and whether in one call.
#pragma once

#include "dag_tasks.hpp"

namespace taskdag::test {

using Thread = Worker<1, 1, false>;
using Thread4 = Worker<1, 4, false>;
using ThreadBatch = Worker<1, 4, true>;
using SubWarp = Worker<8, 1, false>;
using SubWarpBatch = Worker<8, 4, true>;
using Warp = Worker<32, 1, false>;
using Warp4 = Worker<32, 4, false>;
using Block = Worker<128, 1, false>;
using BlockBatch = Worker<128, 4, true>;

}  // namespace taskdag::test
