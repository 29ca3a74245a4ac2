/// \file
/// The permutation as a program of the engine. Included once per kind of steps.
#pragma once

#include "papers/pichler/rcm/delegate.hpp"
#include "papers/pichler/rcm/programs.hpp"
#include "papers/pichler/rcm/sort/block.hpp"
#include "papers/pichler/rcm/sort/compress_data.hpp"
#include "papers/pichler/rcm/sort/create_data.hpp"
#include "papers/pichler/rcm/sort/delegate.hpp"
#include "papers/pichler/rcm/sort/global.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::kernels::rcm_tasks {

template <class Flow, class Probe = engine::NoProbe>
class Permutation final : public PermutationProgram {
 public:
  Permutation(const Context& context, const engine::RunnerOptions& options) : runner_(context, options) {}
  engine::Report begin(Index start, const PermutationData& data, const engine::RunOptions& options) override {
    runner_.template enqueue<SortDelegate<Flow>>(SortProgress{0, 0, start});
    return runner_.run(data, options);
  }
  engine::Report go_on(const PermutationData& data, const engine::RunOptions& options) override {
    runner_.template enqueue<SortDelegate<Flow>>(SortProgress{0, 0, -1});
    return runner_.run(data, options);
  }
  void clear() override { runner_.clear(); }

 private:
  // In the order of MHive, section 7.3.2.
  using Phases = typename Flow::template Queue<CreateSortData<Flow>, CompressSortData<Flow>, Delegate<Flow>,
                                               SortBlock<Flow>, SortDelegate<Flow>, SortGlobal<Flow>>;
  engine::Runner<engine::Program<PermutationData, Phases, engine::SharedCounterQueue, Probe>> runner_;
};

}  // namespace taskdag::kernels::rcm_tasks
