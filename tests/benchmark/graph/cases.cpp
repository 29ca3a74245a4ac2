#include "cases.hpp"

#include <algorithm>
#include <functional>

#include "graphs.hpp"
#include "kernels/ordering/colouring/colour.hpp"
#include "studies/graph/bfs/bfs.hpp"
#include "studies/graph/colouring/colouring.hpp"
#include "studies/graph/pagerank/pagerank.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

template <class Value>
using Check = std::function<Verdict(const std::vector<Value>&)>;

template <class Value>
class MeasuredAlgorithm final : public Measured {
 public:
  MeasuredAlgorithm(std::unique_ptr<graph::Algorithm<Value>> algorithm, const Check<Value>& check)
      : algorithm_(std::move(algorithm)), check_(check) {}
  graph::Run run(std::uint32_t bin_ns) override { return algorithm_->run(bin_ns); }
  Verdict verify() override { return check_(algorithm_->result()); }

 private:
  std::unique_ptr<graph::Algorithm<Value>> algorithm_;
  Check<Value> check_;
};

template <class Value>
class CaseOf final : public AlgorithmCase {
 public:
  using Make = std::function<std::unique_ptr<graph::Algorithm<Value>>(const Context&, const graph::Form&)>;
  struct Rival {
    std::string name;
    std::unique_ptr<graph::Algorithm<Value>> algorithm;
  };
  /// Of a rival's form, which has the algorithm; what the error may be; what tells it. Empty: rivals have none.
  using MakeRivals = std::function<std::vector<Rival>(const RivalForm&, double, const Check<Value>&)>;
  CaseOf(std::string name, Make make, MakeRivals make_rivals, Check<Value> check)
      : name_(std::move(name)),
        make_(std::move(make)),
        make_rivals_(std::move(make_rivals)),
        check_(std::move(check)) {}
  std::unique_ptr<Measured> make(const Context& context, const graph::Form& form) override {
    return std::make_unique<MeasuredAlgorithm<Value>>(make_(context, form), check_);
  }
  std::vector<MeasuredRival> make_rivals(const RivalForm& form, double error) override {
    std::vector<MeasuredRival> rivals;
    if (!make_rivals_ || form.prepared.rival().has(form.form, name_.c_str()) == 0) return rivals;
    for (Rival& rival : make_rivals_(form, error, check_)) {
      rivals.push_back({form.prepared.rival().form(form.form) + rival.name,
                        std::make_unique<MeasuredAlgorithm<Value>>(std::move(rival.algorithm), check_)});
    }
    return rivals;
  }

 private:
  std::string name_;
  Make make_;
  MakeRivals make_rivals_;
  Check<Value> check_;
};

std::unique_ptr<AlgorithmCase> bfs_case(const CsrMatrix& graph) {
  const Index source = busiest_vertex(graph);
  const auto expected = std::make_shared<const std::vector<Index>>(graph::reference_bfs(graph.pattern(), source));
  return std::make_unique<CaseOf<Index>>(
      "bfs",
      [&graph, source](const Context& context, const graph::Form& form) {
        return graph::make_bfs(context, graph.pattern(), source, form);
      },
      [source](const RivalForm& form, double /*error*/, const Check<Index>& /*check*/) {
        std::vector<CaseOf<Index>::Rival> rivals;
        rivals.push_back({"", make_rival_bfs(form, source)});
        return rivals;
      },
      [expected](const std::vector<Index>& found) {
        Verdict verdict;
        for (std::size_t v = 0; v < expected->size(); ++v) {
          if (found.size() <= v || found[v] != (*expected)[v]) verdict.error += 1;
        }
        verdict.right = verdict.error == 0;
        return verdict;
      });
}

/// Edges of a graph whose fixed point takes too long: its ranks are judged by their residual.
constexpr Offset kManyEdges = 1 << 21;

Check<float> pagerank_check(const CsrMatrix& graph, const graph::PagerankOptions& options) {
  const auto judged = [options](double error) {
    return Verdict{error <= graph::pagerank_tolerance(options), error, 0};
  };
  if (graph.entries() >= kManyEdges) {
    return [&graph, options, judged](const std::vector<float>& found) {
      return judged(graph::pagerank_error_bound(graph.pattern(), found, options));
    };
  }
  const auto expected =
      std::make_shared<const std::vector<double>>(graph::reference_pagerank(graph.pattern(), options));
  return
      [expected, judged](const std::vector<float>& found) { return judged(graph::pagerank_error(found, *expected)); };
}

std::unique_ptr<AlgorithmCase> pagerank_case(const CsrMatrix& graph) {
  const graph::PagerankOptions options;
  return std::make_unique<CaseOf<float>>(
      "pagerank",
      [&graph, options](const Context& context, const graph::Form& form) {
        return graph::make_pagerank(context, graph.pattern(), options, form);
      },
      [&graph, options](const RivalForm& form, double error, const Check<float>& check) {
        const int still = iterations_until_still(graph.pattern(), options.damping, options.threshold);
        const auto good_enough = [&](const std::vector<float>& found) { return check(found).error <= error; };
        std::vector<CaseOf<float>::Rival> rivals;
        rivals.push_back({", same residual", make_rival_pagerank(form, options.damping, still)});
        rivals.push_back({", same error", make_rival_pagerank_until(form, options.damping, good_enough)});
        return rivals;
      },
      pagerank_check(graph, options));
}

std::unique_ptr<AlgorithmCase> colouring_case(const CsrMatrix& graph) {
  return std::make_unique<CaseOf<Index>>(
      "colouring",
      [&graph](const Context& context, const graph::Form& form) {
        return graph::make_colouring(context, graph.pattern(), form);
      },
      nullptr,
      [&graph](const std::vector<Index>& found) {
        Verdict verdict;
        verdict.error = static_cast<double>(kernels::colour_conflicts(graph.pattern(), found));
        const auto [least, most] = std::minmax_element(found.begin(), found.end());
        verdict.right = verdict.error == 0 && !found.empty() && *least >= 0;
        verdict.colours = verdict.right ? *most + 1 : 0;
        return verdict;
      });
}

}  // namespace

const std::vector<std::string>& list_algorithms() {
  static const std::vector<std::string> names = {"bfs", "pagerank", "colouring"};
  return names;
}

std::unique_ptr<AlgorithmCase> make_case(const std::string& algorithm, const CsrMatrix& graph) {
  if (algorithm == "bfs") return bfs_case(graph);
  if (algorithm == "pagerank") return pagerank_case(graph);
  if (algorithm == "colouring") return colouring_case(graph);
  throw InvalidInput("no graph algorithm is called " + algorithm);
}

}  // namespace taskdag::benchmark
