/// \file
/// From what was measured of a GPU, or from what it says of itself, to the rates that models of time are in.
#pragma once

#include "taskdag/calibration.hpp"

namespace taskdag::rates {

/// What a calibration measures, in microseconds.
struct DeviceTimes {
  double launch = 0.0;    ///< from one kernel of a CUDA graph to the next, which do nothing
  double hop = 0.0;       ///< from a value's store to the store of the next one, on another multiprocessor
  double step = 0.0;      ///< a load from shared memory, a multiplication and addition, a store for the next step
  double megabyte = 0.0;  ///< 10⁶ bytes of a copy, those that are read and those that are written
  bool operator==(const DeviceTimes&) const = default;
};

/// Of an H200, by the same calibration: there all rates are 1.
inline constexpr DeviceTimes kReferenceTimes{.launch = 0.682, .hop = 0.267, .step = 0.0216, .megabyte = 0.238};

DeviceRates rates_of(const DeviceTimes& times);

/// Whether such rates can be those of a device: above 1/20, below 20. Else something came between.
bool are_plausible(const DeviceRates& rates);

/// What a device says of itself.
struct DeviceFacts {
  int generation = 0;                  ///< as cuda::generation(): 90 is 9.0
  double kilohertz = 0.0;              ///< of its multiprocessors, at most; 0: it does not say
  double bytes_per_microsecond = 0.0;  ///< of its memory, at most; 0: it does not say
};

/// Whether the defaults of a generation are committed, and need no other facts.
constexpr bool has_own_defaults(int generation) { return generation == 90; }

/// Where nothing was measured. For 9.0 all rates are 1: the models' constants are from H200 and H100, and choices on
/// both were looked at with these. Elsewhere steps go by the clock, bytes by the memory, launches and hops are those of
/// 9.0; none of this was measured.
Calibration default_calibration(const DeviceFacts& facts);

/// The rate of bytes for a model that was fitted on an H100, whose memory takes so much longer for a byte than an
/// H200's. It was not fitted for a faster memory than that, so there it stays as it is.
double byte_beyond_h100(const DeviceRates& rates);

}  // namespace taskdag::rates
