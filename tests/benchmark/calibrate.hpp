/// \file
/// The calibration of a GPU, and how much it scatters.
#pragma once

namespace taskdag::benchmark {

/// Prints what each of `repeat` measurements has found, in microseconds and as rates, and keeps another one as users
/// do. @returns an exit status
int run_calibrate(int repeat);

}  // namespace taskdag::benchmark
