/// \file
/// The library's sort on the device in builds without CUDA, which have none.
#include "papers/pichler/rcm/sort/library_sort.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels::rcm_tasks {

std::unique_ptr<LibrarySort> make_cuda_sort(const Context& /*context*/, std::size_t /*most*/) {
  throw Unsupported("built without CUDA: no radix sort on a GPU");
}

}  // namespace taskdag::kernels::rcm_tasks
