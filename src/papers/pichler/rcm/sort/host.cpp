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
    std::vector<Index> places(keys.size());
    std::iota(places.begin(), places.end(), 0);
    std::stable_sort(places.begin(), places.end(),
                     [&keys](Index left, Index right) { return keys[at(left)] < keys[at(right)]; });
    const std::vector<Index> unsorted = values;
    std::transform(places.begin(), places.end(), values.begin(),
                   [&unsorted](Index place) { return unsorted[at(place)]; });
  }
};

}  // namespace

std::unique_ptr<LibrarySort> make_host_sort() { return std::make_unique<HostSort>(); }

}  // namespace taskdag::kernels::rcm_tasks
