#include <algorithm>
#include <numeric>

#include "base/index.hpp"
#include "papers/pichler/rcm/sort/library_sort.hpp"

namespace taskdag::kernels::rcm_tasks {
namespace {

class HostSort final : public LibrarySort {
 public:
  void sort(SortKey* keys, std::uint32_t count, unsigned /*bits*/) override { std::sort(keys, keys + count); }
  void sort_by_key(std::vector<SortKey>& keys, std::vector<Index>& values, unsigned /*bits*/) override {
    std::vector<Index> positions(keys.size());
    std::iota(positions.begin(), positions.end(), 0);
    std::stable_sort(positions.begin(), positions.end(),
                     [&keys](Index left, Index right) { return keys[at(left)] < keys[at(right)]; });
    const std::vector<Index> unsorted = values;
    std::transform(positions.begin(), positions.end(), values.begin(),
                   [&unsorted](Index position) { return unsorted[at(position)]; });
  }
};

}  // namespace

std::unique_ptr<LibrarySort> make_host_sort() { return std::make_unique<HostSort>(); }

}  // namespace taskdag::kernels::rcm_tasks
