#include "studies/graph/bfs/tasks.hpp"

#include "studies/graph/asynchronous.hpp"
#include "studies/graph/bfs/forms.hpp"

namespace taskdag::graph {
namespace {

template <int Lanes, int Fetch>
class BfsTasks final : public Algorithm<Index> {
 public:
  using Type = RangeTask<Expand, Lanes, Fetch>;
  using Program = engine::Program<BfsData, engine::PhaseQueue<engine::Phaseless<Type>>>;

  BfsTasks(const Context& context, const CsrPattern& graph, Index source, const Form& form)
      : form_(form),
        arrays_(context, graph),
        depth_(context, static_cast<std::size_t>(graph.rows)),
        tally_(context),
        runner_(context, {.queue_capacity = static_cast<std::uint32_t>(graph.rows) + 1024U}),
        start_(static_cast<std::size_t>(graph.rows), kUnreached),
        first_{source, graph.row_offsets[source], graph.row_offsets[source + 1]} {
    start_.data()[source] = 0;
  }

  Run run(std::uint32_t bin_ns) override {
    depth_.upload(start_);
    const TallyRef tally = tally_.clear(bin_ns);
    runner_.template enqueue<Type>(first_);
    Run run = run_program(runner_, {arrays_.view(), depth_.data(), tally, form_.rounds}, form_);
    tally_.read(run, bin_ns);
    return run;
  }
  [[nodiscard]] std::vector<Index> result() const override { return depth_.download(); }

 private:
  Form form_;
  GraphArrays arrays_;
  engine::Array<Index> depth_;
  TallyMemory tally_;
  engine::Runner<Program> runner_;
  std::vector<Index> start_;
  EdgeRange first_;
};

}  // namespace

std::unique_ptr<Algorithm<Index>> make_bfs_tasks(const Context& context, const CsrPattern& graph, Index source,
                                                 const Form& form) {
  using Made = std::unique_ptr<Algorithm<Index>>;
  return with_worker_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    return std::make_unique<BfsTasks<Lanes, Fetch>>(context, graph, source, form);
  });
}

}  // namespace taskdag::graph
