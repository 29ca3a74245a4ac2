#include "studies/graph/pagerank/tasks.hpp"

#include "studies/graph/asynchronous.hpp"
#include "studies/graph/pagerank/forms.hpp"

namespace taskdag::graph {
namespace {

template <class Pushes, int Lanes, int Fetch>
class PagerankTasks final : public Algorithm<float> {
 public:
  using Type = RangeTask<Pushes, Lanes, Fetch>;
  using Program = engine::Program<PagerankData, engine::PhaseQueue<engine::Phaseless<Type>>>;

  PagerankTasks(const Context& context, const CsrPattern& graph, const PagerankOptions& options, const Form& form)
      : form_(form),
        options_(options),
        arrays_(context, graph),
        rank_(context, static_cast<std::size_t>(graph.rows)),
        residue_(context, static_cast<std::size_t>(graph.rows)),
        cursor_(context, 1),
        tally_(context),
        first_(first_shares(graph, options, Type::kEdges)),
        start_(static_cast<std::size_t>(graph.rows), 1.0F - options.damping),
        runner_(context, {.queue_capacity = static_cast<std::uint32_t>(first_.size()) + 1024U}) {}

  Run run(std::uint32_t bin_ns) override {
    rank_.upload(start_);
    residue_.clear();
    cursor_.clear();
    const TallyRef tally = tally_.clear(bin_ns);
    runner_.template enqueue<Type>(first_);
    const PagerankData data{arrays_.view(),     rank_.data(), residue_.data(), options_.damping,
                            options_.threshold, tally,        form_.rounds,    cursor_.data()};
    Run run = run_program(runner_, data, form_);
    tally_.read(run, bin_ns);
    return run;
  }
  [[nodiscard]] std::vector<float> result() const override { return rank_.download(); }

 private:
  Form form_;
  PagerankOptions options_;
  GraphArrays arrays_;
  engine::Array<float> rank_;
  engine::Array<float> residue_;
  engine::Array<std::uint32_t> cursor_;
  TallyMemory tally_;
  std::vector<ShareRange> first_;
  std::vector<float> start_;
  engine::Runner<Program> runner_;
};

}  // namespace

std::unique_ptr<Algorithm<float>> make_pagerank_tasks(const Context& context, const CsrPattern& graph,
                                                      const PagerankOptions& options, const Form& form) {
  using Made = std::unique_ptr<Algorithm<float>>;
  if (form.idle && form.worker == 32 && form.fetch == 8) {
    return std::make_unique<PagerankTasks<PushWhileIdle, 32, 8>>(context, graph, options, form);
  }
  return with_worker_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    return std::make_unique<PagerankTasks<Push, Lanes, Fetch>>(context, graph, options, form);
  });
}

}  // namespace taskdag::graph
