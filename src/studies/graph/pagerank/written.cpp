#include "studies/graph/pagerank/written.hpp"

#include <numeric>

#include "studies/graph/asynchronous.hpp"
#include "studies/graph/pagerank/forms.hpp"

namespace taskdag::graph {
namespace {

template <int Lanes, int Fetch>
class PagerankWritten final : public Algorithm<float> {
 public:
  using Type = PushAndScan<Lanes, Fetch>;
  using Phases = engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Type>, engine::Phase<Sweep<Lanes, Fetch>>>;
  using Program = engine::Program<PagerankWrittenData, Phases>;

  PagerankWritten(const Context& context, const CsrPattern& graph, const PagerankOptions& options, const Form& form)
      : form_(form),
        options_(options),
        arrays_(context, graph),
        rank_(context, static_cast<std::size_t>(graph.rows)),
        residue_(context, static_cast<std::size_t>(graph.rows)),
        queued_(context, static_cast<std::size_t>(graph.rows)),
        cursor_(context, 1),
        handed_(context, 1),
        tally_(context),
        first_(static_cast<std::size_t>(graph.rows)),
        start_(static_cast<std::size_t>(graph.rows), 1.0F - options.damping),
        marks_(static_cast<std::size_t>(graph.rows), 1U),
        runner_(context, {.queue_capacity = static_cast<std::uint32_t>(graph.rows) + 1024U}) {
    std::iota(first_.begin(), first_.end(), 0);
  }

  Run run(std::uint32_t bin_ns) override {
    rank_.clear();
    residue_.upload(start_);
    queued_.upload(marks_);
    cursor_.clear();
    handed_.clear();
    const TallyRef tally = tally_.clear(bin_ns);
    runner_.template enqueue<Type>(first_);
    const PagerankWrittenData data{arrays_.view(), rank_.data(),     residue_.data(),    queued_.data(), cursor_.data(),
                                   handed_.data(), options_.damping, options_.threshold, tally,          form_.check};
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
  engine::Array<std::uint32_t> queued_;
  engine::Array<std::uint32_t> cursor_;
  engine::Array<std::uint32_t> handed_;
  TallyMemory tally_;
  std::vector<Index> first_;
  std::vector<float> start_;
  std::vector<std::uint32_t> marks_;
  engine::Runner<Program> runner_;
};

}  // namespace

std::unique_ptr<Algorithm<float>> make_pagerank_written(const Context& context, const CsrPattern& graph,
                                                        const PagerankOptions& options, const Form& form) {
  using Made = std::unique_ptr<Algorithm<float>>;
  if (form.check < 0 || form.check > kMostChecks) throw InvalidInput("a scan looks at 0 to 16 vertices for each taken");
  check_flat(graph, form.fetch);
  return with_written_size<Made>(form, [&]<int Lanes, int Fetch>() -> Made {
    return std::make_unique<PagerankWritten<Lanes, Fetch>>(context, graph, options, form);
  });
}

}  // namespace taskdag::graph
