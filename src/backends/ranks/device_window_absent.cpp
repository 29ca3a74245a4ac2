// Windows in device memory in a build without CUDA.
#include "backends/ranks/window.hpp"
#include "taskdag/error.hpp"

namespace taskdag::ranks {

std::unique_ptr<Window> open_device_window(const RankGroup& /*group*/, std::size_t /*bytes*/,
                                           const RankDevice& /*device*/) {
  throw Unsupported("memory that devices share: the library was built without CUDA");
}

}  // namespace taskdag::ranks
