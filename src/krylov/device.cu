#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "krylov/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

int threads_of_row(const CsrPattern& pattern, Stream stream) {
  if (pattern.rows == 0) return 1;
  const Offset entries = cuda::fetch(pattern.row_offsets + pattern.rows, static_cast<cudaStream_t>(stream.handle));
  // Neighbours read neighbouring entries; short rows are fast enough by a thread each, whose lines the cache keeps.
  const int mean = static_cast<int>(entries / pattern.rows);
  int threads = 1;
  while (threads < 32 && threads * 8 < mean) threads *= 2;
  return threads;
}

void require_not_captured(const Context& context, Stream stream) {
  if (context.backend() != Backend::cuda) return;
  if (cuda::is_capturing(static_cast<cudaStream_t>(stream.handle))) {
    throw InvalidInput("a solve by a Krylov method waits for its outcome and cannot be captured");
  }
}

}  // namespace taskdag::krylov
