#include "dag_memory.hpp"

#include <sstream>

namespace taskdag::test {

DagMemory::DagMemory(const Context& context, const Dag& dag)
    : dag_(dag),
      successor_offsets_(context, dag.successor_offsets),
      successors_(context, dag.successors),
      predecessor_offsets_(context, dag.predecessor_offsets),
      predecessors_(context, dag.predecessors),
      level_(context, dag.level),
      level_sizes_(context, dag.level_sizes()),
      creator_(context, dag.creator),
      value_(context, dag.level.size()),
      executed_(context, dag.level.size()),
      remaining_(context, dag.in_degrees()),
      dependencies_(context, dag.level.size()),
      groups_(context, static_cast<std::size_t>(dag.levels()) + 1) {}

void DagMemory::reset() {
  value_.clear();
  executed_.clear();
  remaining_.upload(dag_.in_degrees());
  dependencies_.clear();
  groups_.clear();
}

DagData DagMemory::data() const {
  return {successor_offsets_.data(), successors_.data(),   predecessor_offsets_.data(),
          predecessors_.data(),      level_.data(),        level_sizes_.data(),
          creator_.data(),           value_.data(),        executed_.data(),
          remaining_.data(),         dependencies_.data(), groups_.data()};
}

std::string DagMemory::wrong() const {
  const auto executed = executed_.download();
  const auto value = value_.download();
  const auto dependencies = dependencies_.download();
  int lost = 0;
  int repeated = 0;
  int early = 0;
  int open = 0;
  int first = -1;
  for (std::size_t v = 0; v < executed.size(); ++v) {
    lost += executed[v] == 0 ? 1 : 0;
    repeated += executed[v] > 1 ? 1 : 0;
    early += executed[v] == 1 && value[v] != dag_.value[v] ? 1 : 0;
    open += dependencies[v].count != 0 ? 1 : 0;
    if (first < 0 && (executed[v] != 1 || value[v] != dag_.value[v])) first = static_cast<int>(v);
  }
  if (lost + repeated + early + open == 0) return "";
  std::ostringstream text;
  text << lost << " tasks never ran, " << repeated << " more than once, " << early
       << " did not see their predecessors' results, " << open << " dependencies are not at zero; first: task "
       << first;
  return text.str();
}

}  // namespace taskdag::test
