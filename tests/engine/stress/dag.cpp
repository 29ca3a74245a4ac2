#include "dag.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

namespace taskdag::test {

namespace {
std::size_t at(int i) { return static_cast<std::size_t>(i); }
}  // namespace

int Dag::levels() const { return level.empty() ? 0 : 1 + *std::max_element(level.begin(), level.end()); }

std::vector<int> Dag::in_degrees() const {
  std::vector<int> degrees(level.size());
  for (int v = 0; v < size(); ++v) degrees[at(v)] = predecessors_of(v);
  return degrees;
}

std::vector<int> Dag::roots() const {
  std::vector<int> tasks;
  for (int v = 0; v < size(); ++v) {
    if (level[at(v)] == 0) tasks.push_back(v);
  }
  return tasks;
}

std::vector<int> Dag::level_sizes() const {
  std::vector<int> sizes(at(levels()), 0);
  for (const int l : level) ++sizes[at(l)];
  return sizes;
}

Dag random_dag(int size, int edges_per_task, int reach, std::uint32_t seed) {
  if (edges_per_task > Dag::kMostSuccessors) throw std::invalid_argument("too many successors");
  std::mt19937 random(seed);
  Dag dag;
  dag.successor_offsets.assign(at(size) + 1, 0);
  dag.predecessor_offsets.assign(at(size) + 1, 0);
  for (int v = 0; v < size; ++v) {
    const int last = std::min(size - 1, v + reach);
    std::vector<int> drawn;
    for (int e = 0; e < edges_per_task && v < last; ++e) {
      drawn.push_back(v + 1 + static_cast<int>(random() % static_cast<unsigned>(last - v)));
    }
    std::sort(drawn.begin(), drawn.end());
    drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
    dag.successors.insert(dag.successors.end(), drawn.begin(), drawn.end());
    dag.successor_offsets[at(v) + 1] = static_cast<int>(dag.successors.size());
    for (const int s : drawn) ++dag.predecessor_offsets[at(s) + 1];
  }
  std::partial_sum(dag.predecessor_offsets.begin(), dag.predecessor_offsets.end(), dag.predecessor_offsets.begin());
  dag.predecessors.resize(dag.successors.size());
  std::vector<int> next(dag.predecessor_offsets.begin(), dag.predecessor_offsets.end() - 1);
  dag.level.assign(at(size), 0);
  dag.creator.assign(at(size), -1);
  dag.value.assign(at(size), 0);
  for (int v = 0; v < size; ++v) {
    dag.value[at(v)] += static_cast<std::uint64_t>(v) + 1U;
    for (int e = dag.successor_offsets[at(v)]; e < dag.successor_offsets[at(v) + 1]; ++e) {
      const int s = dag.successors[at(e)];
      dag.predecessors[at(next[at(s)]++)] = v;
      dag.value[at(s)] += 3U * dag.value[at(v)];
      if (dag.level[at(v)] >= dag.level[at(s)]) {
        dag.level[at(s)] = dag.level[at(v)] + 1;
        dag.creator[at(s)] = v;
      }
    }
  }
  return dag;
}

}  // namespace taskdag::test
