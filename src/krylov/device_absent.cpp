// Krylov methods on CUDA in a build without it.
#include "krylov/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::krylov {

std::int64_t count_entries(const CsrPattern& /*pattern*/, Stream /*stream*/) {
  throw Unsupported("Krylov methods on CUDA: the library was built without CUDA");
}
void mark_rows(const CsrPattern& /*pattern*/, std::uint32_t* /*words*/, Stream /*stream*/) {}
DiagonalDistances::DiagonalDistances(const Context& /*context*/, const CsrPattern& /*pattern*/,
                                     std::int64_t /*entries*/, Stream /*stream*/) {}
std::uint32_t rows_together(const Context& /*context*/, const CsrPattern& /*pattern*/, std::int64_t /*entries*/,
                            Stream /*stream*/) {
  return 1;
}
void require_not_captured(const Context& /*context*/, Stream /*stream*/) {}

}  // namespace taskdag::krylov
