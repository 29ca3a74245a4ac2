/// \file
/// Kernels that misbehave on purpose.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

namespace taskdag::test {

/// Ends in a trap: an error that every later call of the process on this device reports. Asynchronous.
void launch_trap(cudaStream_t stream);

/// A kernel that spins on as many threads as all multiprocessors but one hold, from its construction until it is
/// released. It ends by itself after a second, so that whoever waits for its threads is not held for ever.
class Hog {
 public:
  static constexpr double kSeconds = 1.0;

  /// Returns when it runs, or after a while in which not all of it could start.
  Hog();
  ~Hog();
  Hog(const Hog&) = delete;
  Hog& operator=(const Hog&) = delete;
  /// @returns whether it has run until now: false where it had ended by itself
  bool release();

 private:
  struct Resources;
  std::unique_ptr<Resources> resources_;
};

}  // namespace taskdag::test
