// Compiled as a CUDA source where CUDA is.
#include "papers/pichler/rcm/programs.hpp"
#include "papers/pichler/rcm/search/choose_node.hpp"
#include "papers/pichler/rcm/search/delegate.hpp"
#include "papers/pichler/rcm/search/end.hpp"
#include "papers/pichler/rcm/search/next_component.hpp"
#include "taskdag/engine/runner.hpp"

namespace taskdag::kernels::rcm_tasks {
namespace {

using Program = engine::Program<
    SearchData,
    engine::PhaseQueue<engine::Phaseless<VisitLevel, ChooseNode, SearchDelegate, SearchEnd, NextComponent>>>;

class Search final : public SearchProgram {
 public:
  Search(const Context& context, const engine::RunnerOptions& options) : runner_(context, options) {}
  engine::Report run(const SearchData& data, const engine::RunOptions& options) override {
    runner_.enqueue<NextComponent>(0);
    return runner_.run(data, options);
  }
  void clear() override { runner_.clear(); }

 private:
  engine::Runner<Program> runner_;
};

}  // namespace

std::unique_ptr<SearchProgram> make_search_program(const Context& context, const engine::RunnerOptions& options) {
  return std::make_unique<Search>(context, options);
}

}  // namespace taskdag::kernels::rcm_tasks
