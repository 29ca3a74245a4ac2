/// \file
/// Sorting by a library instead of tasks.
#pragma once

#include <memory>
#include <vector>

#include "papers/pichler/rcm/sort/key.hpp"
#include "taskdag/context.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Buffers included; one at a time.
class LibrarySort {
 public:
  virtual ~LibrarySort() = default;
  /// Sorts keys[0, count) in memory of the backend. No key has a bit at `bits` or above.
  virtual void sort(SortKey* keys, std::uint32_t count, unsigned bits) = 0;
  /// Sorts values, in host memory, by their keys; those with equal keys keep their order. The keys may be lost.
  virtual void sort_by_key(std::vector<SortKey>& keys, std::vector<Index>& values, unsigned bits) = 0;
};
std::unique_ptr<LibrarySort> make_host_sort();
/// For up to `most` keys. @throws Unsupported in a build without CUDA
std::unique_ptr<LibrarySort> make_cuda_sort(const Context& context, std::size_t most);

}  // namespace taskdag::kernels::rcm_tasks
