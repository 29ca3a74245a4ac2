/// \file
/// The engine's programs behind interfaces, so that each is compiled by itself.
#pragma once

#include <memory>

#include "papers/pichler/rcm/permutation/data.hpp"
#include "papers/pichler/rcm/search/data.hpp"
#include "taskdag/context.hpp"
#include "taskdag/engine/report.hpp"

namespace taskdag::kernels::rcm_tasks {

/// Finds the next component, orders the small ones on the way.
class SearchProgram {
 public:
  virtual ~SearchProgram() = default;
  virtual engine::Report run(const SearchData& data, const engine::RunOptions& options) = 0;
  /// After a run that did not finish.
  virtual void clear() = 0;
};
std::unique_ptr<SearchProgram> make_search_program(const Context& context, const engine::RunnerOptions& options);

/// Makes the levels of one component.
class PermutationProgram {
 public:
  virtual ~PermutationProgram() = default;
  /// From the start node on; to the end, or up to the first level that is to be sorted elsewhere.
  virtual engine::Report begin(Index start, const PermutationData& data, const engine::RunOptions& options) = 0;
  /// From a level on that has been sorted elsewhere.
  virtual engine::Report go_on(const PermutationData& data, const engine::RunOptions& options) = 0;
  virtual void clear() = 0;
};
std::unique_ptr<PermutationProgram> make_phase_program(const Context& context, const engine::RunnerOptions& options);
std::unique_ptr<PermutationProgram> make_dependency_program(const Context& context,
                                                            const engine::RunnerOptions& options);

}  // namespace taskdag::kernels::rcm_tasks
