#include <numeric>

#include "programs/colouring/task.hpp"
#include "studies/graph/asynchronous.hpp"
#include "studies/graph/colouring/forms.hpp"
#include "studies/graph/tally.hpp"

namespace taskdag::graph {
namespace {

template <int Lanes, int Fetch>
class ColouringTasks final : public Algorithm<Index> {
 public:
  using Type = Colour<Lanes, Fetch, TallyRef>;
  using Program = engine::Program<ColouringData<TallyRef>, engine::PhaseQueue<engine::Phaseless<Type>>>;

  ColouringTasks(const Context& context, const CsrPattern& graph, const Form& form)
      : form_(form),
        arrays_(context, graph),
        colour_(context, static_cast<std::size_t>(graph.rows)),
        tally_(context),
        runner_(context, {.queue_capacity = static_cast<std::uint32_t>(graph.rows) + 1024U}),
        start_(static_cast<std::size_t>(graph.rows), kNoColour),
        first_(static_cast<std::size_t>(graph.rows)) {
    std::iota(first_.begin(), first_.end(), 0);
  }

  Run run(std::uint32_t bin_ns) override {
    colour_.upload(start_);
    const TallyRef tally = tally_.clear(bin_ns);
    runner_.template enqueue<Type>(first_);
    Run run = run_program(runner_, {arrays_.view(), colour_.data(), tally, form_.rounds}, form_);
    tally_.read(run, bin_ns);
    return run;
  }
  [[nodiscard]] std::vector<Index> result() const override { return colour_.download(); }

 private:
  Form form_;
  GraphArrays arrays_;
  engine::Array<Index> colour_;
  TallyMemory tally_;
  engine::Runner<Program> runner_;
  std::vector<Index> start_;
  std::vector<Index> first_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_colouring_tasks(const Context& context, const CsrPattern& graph,
                                                       const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  return with_worker_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    return std::make_unique<ColouringTasks<Lanes, Fetch>>(context, graph, form);
  });
}

}  // namespace taskdag::graph
