/// \file
/// Cost of handing one value over between multiprocessors.
#pragma once

namespace taskdag::benchmark {

/// Milliseconds from a value's store on one multiprocessor to the store that depends on it on another: two blocks
/// answer each other, each spinning on the other's value.
double measure_hop();

}  // namespace taskdag::benchmark
