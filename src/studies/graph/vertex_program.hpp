/// \file
/// Asynchronous forms that give each vertex a number by tasks of one type: BFS and colouring.
#pragma once

#include <utility>
#include <vector>

#include "studies/graph/asynchronous.hpp"

namespace taskdag::graph {

/// Data: the graph, the numbers, a tally and, where tasks have several, the rounds. First: an item, or a vector of
/// them.
template <class Type, class Data, class First>
class VertexProgram final : public Algorithm<Index> {
 public:
  using Program = engine::Program<Data, engine::PhaseQueue<engine::Phaseless<Type>>>;

  /// start: the numbers before each run. capacity: of the queue, beside some room for workers that are not done.
  VertexProgram(const Context& context, const CsrPattern& graph, const Form& form, std::uint32_t capacity,
                std::vector<Index> start, First first)
      : form_(form),
        arrays_(context, graph),
        number_(context, static_cast<std::size_t>(graph.rows)),
        tally_(context),
        runner_(context, {.queue_capacity = capacity + 1024U}),
        start_(std::move(start)),
        first_(std::move(first)) {}

  Run run(std::uint32_t bin_ns) override {
    number_.upload(start_);
    Data data{};
    data.graph = arrays_.view();
    number_of(data) = number_.data();
    data.tally = tally_.clear(bin_ns);
    if constexpr (requires { data.rounds; }) data.rounds = form_.rounds;
    runner_.template enqueue<Type>(first_);
    Run run = run_program(runner_, data, form_);
    tally_.read(run, bin_ns);
    return run;
  }
  [[nodiscard]] std::vector<Index> result() const override { return number_.download(); }

 private:
  static Index*& number_of(Data& data) {
    if constexpr (requires { data.depth; }) {
      return data.depth;
    } else {
      return data.colour;
    }
  }

  Form form_;
  GraphArrays arrays_;
  engine::Array<Index> number_;
  TallyMemory tally_;
  engine::Runner<Program> runner_;
  std::vector<Index> start_;
  First first_;
};

}  // namespace taskdag::graph
