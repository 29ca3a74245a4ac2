#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "krylov/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

std::int64_t count_entries(const CsrPattern& pattern, Stream stream) {
  if (pattern.rows == 0) return 0;
  return cuda::fetch(pattern.row_offsets + pattern.rows, static_cast<cudaStream_t>(stream.handle));
}

void require_not_captured(const Context& context, Stream stream) {
  if (context.backend() != Backend::cuda) return;
  if (cuda::is_capturing(static_cast<cudaStream_t>(stream.handle))) {
    throw InvalidInput("a solve by a Krylov method waits for its outcome and cannot be captured");
  }
}

}  // namespace taskdag::krylov
