#include "taskdag/narrowed_pattern.hpp"

#include "solver/checks.hpp"
#include "solver/narrowed_pattern_impl.hpp"

namespace taskdag {

NarrowedPattern::NarrowedPattern() = default;
NarrowedPattern::NarrowedPattern(NarrowedPattern&&) noexcept = default;
NarrowedPattern& NarrowedPattern::operator=(NarrowedPattern&&) noexcept = default;
NarrowedPattern::~NarrowedPattern() = default;

NarrowedPattern::NarrowedPattern(Index rows, const std::int64_t* row_offsets, const std::int64_t* col_indices,
                                 Stream stream) {
  if (rows < 0) throw InvalidInput("the number of rows is negative");
  if (rows == 0) return;
  impl_ = with_memory_errors("a pattern of 32-bit indices", rows,
                             [&] { return cuda::narrow_pattern(rows, row_offsets, col_indices, stream); });
}

CsrPattern NarrowedPattern::view() const { return impl_ ? impl_->view() : CsrPattern{}; }
std::int64_t NarrowedPattern::bytes() const { return impl_ ? impl_->bytes() : 0; }

}  // namespace taskdag
