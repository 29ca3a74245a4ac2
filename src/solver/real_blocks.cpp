// Real blocks of complex values in device memory, on the host side: checks, and a build without CUDA.
#include <algorithm>
#include <limits>
#include <string>

#include "solver/checks.hpp"
#include "solver/real_blocks_impl.hpp"

namespace taskdag {

RealBlocks::RealBlocks() = default;
RealBlocks::RealBlocks(RealBlocks&&) noexcept = default;
RealBlocks& RealBlocks::operator=(RealBlocks&&) noexcept = default;
RealBlocks::~RealBlocks() = default;

RealBlocks::RealBlocks(const double* numbers, std::int64_t count, Index block_size, Stream stream) {
  if (count < 0 || block_size < 1 || count % (std::int64_t{block_size} * block_size) != 0) {
    throw InvalidInput(std::to_string(count) + " complex values are no whole blocks of " + std::to_string(block_size) +
                       " rows");
  }
  if (count == 0) return;
  const auto rows = static_cast<Index>(std::min<std::int64_t>(count, std::numeric_limits<Index>::max()));
  impl_ = with_memory_errors("complex values as real blocks", rows,
                             [&] { return cuda::real_blocks(numbers, count, block_size, stream); });
}

const double* RealBlocks::values() const { return impl_ ? impl_->values() : nullptr; }

}  // namespace taskdag
