#include "papers/pichler/rcm/processor_levels.hpp"

#include <bit>

#include "base/index.hpp"

namespace taskdag::kernels::rcm_tasks {

std::uint32_t append_levels(const GraphView& graph, Index start, unsigned degree_bits, LibrarySort& sorter,
                            std::vector<char>& placed, std::vector<Index>& order) {
  std::vector<SortKey> keys;
  std::vector<Index> children;
  std::uint32_t levels = 1;
  std::size_t first = order.size();
  order.push_back(start);
  placed[at(start)] = 1;
  while (true) {
    const std::size_t end = order.size();
    for (std::size_t parent = first; parent < end; ++parent) {
      const Index node = order[parent];
      for (EdgeOffset e = graph.begin(node); e < graph.end(node); ++e) {
        const Index child = graph.neighbours[e];
        if (placed[at(child)] != 0) continue;
        placed[at(child)] = 1;
        keys.push_back(static_cast<SortKey>(parent - first) << degree_bits | static_cast<SortKey>(graph.degree(child)));
        children.push_back(child);
      }
    }
    if (children.empty()) return levels;
    // Neighbours ascend and the sort is stable: ties are in the order of the indices.
    sorter.sort_by_key(keys, children, degree_bits + static_cast<unsigned>(std::bit_width(end - first - 1)));
    order.insert(order.end(), children.begin(), children.end());
    keys.clear();
    children.clear();
    first = end;
    ++levels;
  }
}

}  // namespace taskdag::kernels::rcm_tasks
