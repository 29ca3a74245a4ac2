/// \file
/// The machine that a row was measured on: versions, and the two limits that figures are compared with.
#pragma once

#include <string>

namespace taskdag::benchmark {

struct Machine {
  std::string commit;  ///< TASKDAG_COMMIT, else "unknown"
  std::string gpu;
  std::string driver;         ///< "580.159.04", else the newest CUDA that it takes
  std::string cuda;           ///< of the runtime, "13.0"
  std::string cusparse;       ///< "12.6.3"
  std::string date;           ///< UTC, yyyy-mm-dd
  double bytes_per_ms = 0.0;  ///< of a copy inside the device's memory, reads and writes counted
  double hop_ms = 0.0;        ///< a value handed from one multiprocessor to another, the consumer spinning on it
};

/// Asks and measures; takes some milliseconds. @pre a device
Machine describe_machine();

}  // namespace taskdag::benchmark
