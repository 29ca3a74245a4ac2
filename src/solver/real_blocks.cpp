// Real blocks of complex values in device memory, on the host side: checks, and a build without CUDA.
#include <algorithm>
#include <limits>

#include "base/whole_blocks.hpp"
#include "solver/checks.hpp"
#include "solver/real_blocks_impl.hpp"

namespace taskdag {

RealBlocks::RealBlocks() = default;
RealBlocks::RealBlocks(RealBlocks&&) noexcept = default;
RealBlocks& RealBlocks::operator=(RealBlocks&&) noexcept = default;
RealBlocks::~RealBlocks() = default;

RealBlocks::RealBlocks(const double* numbers, std::int64_t count, Index block_size, Stream stream) {
  require_whole_blocks(count, block_size);
  if (count == 0) return;
  const auto rows = static_cast<Index>(std::min<std::int64_t>(count, std::numeric_limits<Index>::max()));
  impl_ = with_memory_errors("complex values as real blocks", rows,
                             [&] { return cuda::real_blocks(numbers, count, block_size, stream); });
}

const double* RealBlocks::values() const { return impl_ ? impl_->values() : nullptr; }

}  // namespace taskdag
