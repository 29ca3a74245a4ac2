// BFS, PageRank and colouring: bulk synchronous and asynchronous forms against each other. Every run is verified.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <set>

#include "../rows.hpp"
#include "cases.hpp"
#include "frontiers.hpp"
#include "graphs.hpp"
#include "machine.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

struct Options {
  std::string backend = "auto";
  int threads = 0;
  std::vector<std::string> algorithms;
  std::vector<std::string> graphs;
  std::string forms = "table";
  std::vector<int> rounds;
  std::vector<std::string> workers;
  std::vector<std::string> discrete = {"256-64"};
  std::vector<std::string> permute;
  std::vector<int> checks = {4};
  int blocks = 0;
  int repeat = 5;
  std::string csv;
  std::string kernels;
  std::string timeline;
  std::string rival;
  std::uint32_t bin_ns = 2000;
  std::uint32_t bins = 0;
  std::string frontiers;
  Offset lanes = 132 * 2048;
  bool smoke = false;
  bool large = false;
};

using graph::Form;
using graph::Kind;

std::vector<int> rounds_of(const Options& options, const std::vector<int>& otherwise) {
  return options.rounds.empty() ? otherwise : options.rounds;
}

bool wanted(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

std::string pair_of(const graph::WorkerSize& size) {
  return std::to_string(size.lanes) + "-" + std::to_string(size.fetch);
}

bool chosen(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::vector<GraphCase> chosen_graphs(const Options& options) {
  std::vector<GraphCase> graphs = list_graphs();
  std::erase_if(graphs, [&](const GraphCase& graph) {
    return options.smoke != (graph.kind == "smoke") || options.large != graph.large;
  });
  for (const std::string& name : options.graphs) {
    if (std::none_of(graphs.begin(), graphs.end(), [&](const GraphCase& graph) { return graph.name == name; })) {
      throw InvalidInput("no graph of this run is called " + name +
                         "; those from files need TASKDAG_MATRIX_DIR, large ones --large");
    }
  }
  std::erase_if(graphs, [&](const GraphCase& graph) { return !wanted(options.graphs, graph.name); });
  return graphs;
}

/// The paper's algorithms: the chosen sizes on the persistent scheduler, and those of discrete kernels, which the host
/// launches.
void add_written_forms(const Options& options, bool pagerank, std::vector<Form>& forms) {
  for (const engine::Scheduler scheduler : {engine::Scheduler::megakernel, engine::Scheduler::timesliced}) {
    const bool persistent = scheduler == engine::Scheduler::megakernel;
    for (const graph::WorkerSize size : graph::written_sizes()) {
      if (persistent ? !wanted(options.workers, pair_of(size)) : !chosen(options.discrete, pair_of(size))) continue;
      for (const int check : pagerank ? options.checks : std::vector{-1}) {
        forms.push_back({.scheduler = scheduler,
                         .worker = size.lanes,
                         .fetch = size.fetch,
                         .blocks = persistent ? options.blocks : 0,
                         .written = true,
                         .check = check});
      }
    }
  }
}

/// "bsp": the baselines. "table": these, and asynchronous forms on all schedulers. "heat": the baselines, and each
/// worker and fetch size on the persistent scheduler. "written": `bsp`, and the paper's algorithms.
std::vector<Form> list_forms(const Options& options, Backend backend, bool pagerank) {
  std::vector<Form> forms = {{.kind = Kind::bsp}};
  if (options.forms == "written") {
    add_written_forms(options, pagerank, forms);
    return forms;
  }
  if (backend == Backend::cuda) {
    forms.push_back({.kind = Kind::bsp_graph});
    forms.push_back({.kind = Kind::bsp_ahead});
  }
  if (options.forms == "bsp") return forms;
  for (const graph::WorkerSize size : graph::worker_sizes()) {
    if (!wanted(options.workers, pair_of(size))) continue;
    for (const int rounds : rounds_of(options, options.forms == "heat" ? std::vector{1} : std::vector{1, 16})) {
      forms.push_back({.worker = size.lanes, .fetch = size.fetch, .rounds = rounds, .blocks = options.blocks});
    }
  }
  if (options.forms == "heat") return forms;
  if (pagerank && wanted(options.workers, "32-8")) {
    for (const int rounds : rounds_of(options, {1, 16})) {
      forms.push_back({.worker = 32, .fetch = 8, .rounds = rounds, .blocks = options.blocks, .idle = true});
    }
  }
  for (const engine::Scheduler scheduler : {engine::Scheduler::timesliced, engine::Scheduler::device_controller}) {
    for (const graph::WorkerSize size : graph::worker_sizes()) {
      if (!chosen(options.discrete, pair_of(size))) continue;
      for (const int rounds : rounds_of(options, {1, 16})) {
        forms.push_back({.scheduler = scheduler, .worker = size.lanes, .fetch = size.fetch, .rounds = rounds});
      }
    }
  }
  return forms;
}

struct Times {
  double median = 0;
  double least = 0;
};

Times times_of(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return {1e3 * seconds[seconds.size() / 2], 1e3 * seconds.front()};
}

/// What the rows of one algorithm on one graph have in common.
struct Place {
  std::string algorithm;
  std::string graph;
  std::string kind;
  const CsrMatrix* matrix;
};

void write_timeline(std::ofstream& file, const Place& place, const Form& form, const graph::Run& run,
                    std::uint32_t bin_ns) {
  for (std::size_t bin = 0; bin < run.timeline.size(); ++bin) {
    file << csv_line({place.algorithm, place.graph, graph::describe(form),
                      std::to_string(static_cast<double>(bin) * bin_ns / 1e3), std::to_string(run.timeline[bin]),
                      std::to_string(bin_ns)})
         << '\n';
  }
}

class Session {
 public:
  explicit Session(const Options& options)
      : options_(options),
        context_(Context::create({.backend = options.backend == "host"   ? Backend::host
                                             : options.backend == "cuda" ? Backend::cuda
                                                                         : Backend::automatic,
                                  .threads = options.threads})),
        rows_(options.csv, "", {"algorithm", "graph", "form", "blocks"}, false, describe_graph_machine(context_)),
        kernels_(options.kernels, "", {"algorithm", "form", "kernel"}, false, describe_graph_machine(context_)) {
    if (!options.rival.empty()) rival_.emplace(options.rival);
    if (options.timeline.empty()) return;
    timeline_.open(options.timeline);
    if (!timeline_) throw InvalidInput("cannot write " + options.timeline);
    timeline_ << csv_line({"algorithm", "graph", "form", "us", "work", "bin_ns"}) << '\n';
  }

  bool run() {
    bool right = true;
    for (const GraphCase& graph : chosen_graphs(options_)) {
      const CsrMatrix matrix = graph.make();
      right = run_on(graph.name, graph.kind, matrix) && right;
      for (const std::string& order : options_.permute) {
        right = run_on(graph.name + ", " + order, graph.kind, renumbered(matrix, order)) && right;
      }
    }
    return right;
  }

 private:
  bool run_on(const std::string& name, const std::string& kind, const CsrMatrix& matrix) {
    bool right = true;
    std::printf("%s: %d vertices, %d edges\n", name.c_str(), matrix.rows, matrix.entries());
    for (const std::string& algorithm : list_algorithms()) {
      if (!wanted(options_.algorithms, algorithm)) continue;
      const auto algorithm_case = make_case(algorithm, matrix);
      baseline_.reset();
      for (const Form& form : list_forms(options_, context_.backend(), algorithm == "pagerank")) {
        right = measure({algorithm, name, kind, &matrix}, *algorithm_case, form) && right;
      }
      if (rival_) right = run_rival({algorithm, name, kind, &matrix}, *algorithm_case) && right;
    }
    return right;
  }

  struct Baseline {
    double ms;
    double work;
    double error;
  };

  struct Result {
    Times times;
    graph::Run last;
    Verdict verdict{true, 0, 0};
  };

  /// All forms of the rival. What fails is told, and is no end of the run.
  bool run_rival(const Place& place, AlgorithmCase& algorithm) {
    bool right = true;
    const PreparedRival prepared(*rival_, place.matrix->pattern());
    for (int form = 0; rival_->form(form) != nullptr; ++form) {
      try {
        for (const MeasuredRival& one : algorithm.make_rivals({prepared, form}, baseline_->error)) {
          right = add_row(place, one.name, nullptr, repeat(*one.measured)) && right;
        }
      } catch (const Error& error) {
        std::fprintf(stderr, "%s on %s: %s\n", place.algorithm.c_str(), place.graph.c_str(), error.what());
        right = false;
      }
    }
    return right;
  }

  Result repeat(Measured& measured) const {
    Result result;
    std::vector<double> seconds;
    for (int repeat = 0; repeat <= options_.repeat; ++repeat) {  // the first one warms up
      result.last = measured.run(0);
      const Verdict one = measured.verify();
      result.verdict = {result.verdict.right && one.right, std::max(result.verdict.error, one.error),
                        std::max(result.verdict.colours, one.colours)};
      if (repeat > 0 || options_.repeat == 0) seconds.push_back(result.last.seconds);
    }
    result.times = times_of(seconds);
    return result;
  }

  bool measure(const Place& place, AlgorithmCase& algorithm, const Form& form) {
    const std::unique_ptr<Measured> measured = algorithm.make(context_, form);
    const Result result = repeat(*measured);
    if (form.kind == Kind::bsp) {
      baseline_ = Baseline{result.times.median, static_cast<double>(result.last.work), result.verdict.error};
    }
    bool right = add_row(place, graph::describe(form), &form, result);
    add_kernels(place, form, result.last.report.kernels);
    if (timeline_.is_open() && (form.kind == Kind::bsp || form.kind == Kind::asynchronous)) {
      const std::uint32_t bin_ns = bin_of(result.times.median);
      const graph::Run run = measured->run(bin_ns);
      if (!measured->verify().right) {
        std::fprintf(stderr, "%s with a timeline: WRONG\n", graph::describe(form).c_str());
        right = false;
      }
      write_timeline(timeline_, place, form, run, bin_ns);
    }
    return right;
  }

  /// Width of a timeline's bins, of a run that takes so long without one.
  [[nodiscard]] std::uint32_t bin_of(double ms) const {
    constexpr double kLeast = 100;
    return options_.bins == 0 ? options_.bin_ns
                              : static_cast<std::uint32_t>(std::max(kLeast, 1e6 * ms / options_.bins));
  }

  /// `form`: null for a rival's, which does not tell its work. Whether all runs were right.
  bool add_row(const Place& place, const std::string& name, const Form* form, const Result& result) {
    const auto& [times, last, verdict] = result;
    const bool tasks = form != nullptr && form->kind == Kind::asynchronous;
    const double speedup = baseline_->ms / times.median;
    const double overwork = static_cast<double>(last.work) / baseline_->work;
    std::array<char, 32> overwork_text{};
    std::snprintf(overwork_text.data(), overwork_text.size(), " overwork %6.3f,", overwork);
    std::printf("  %-10s %-28s %9.4f ms (least %9.4f), %6.2f x bsp,%s %5llu iterations%s%s\n", place.algorithm.c_str(),
                name.c_str(), times.median, times.least, speedup, form != nullptr ? overwork_text.data() : "",
                static_cast<unsigned long long>(last.iterations),
                verdict.colours > 0 ? (", " + std::to_string(verdict.colours) + " colours").c_str() : "",
                verdict.right ? "" : ", WRONG");
    std::fflush(stdout);
    const Row null;
    rows_.add({{"algorithm", place.algorithm},
               {"graph", place.graph},
               {"class", place.kind},
               {"vertices", place.matrix->rows},
               {"edges", place.matrix->entries()},
               {"form", name},
               {"kind", form != nullptr ? graph::to_string(form->kind) : "rival"},
               {"scheduler", tasks ? Row(engine::to_string(form->scheduler)) : null},
               {"worker", tasks ? Row(form->worker) : null},
               {"fetch", tasks ? Row(form->fetch) : null},
               {"rounds", tasks ? Row(form->rounds) : null},
               {"as_written", tasks && form->written},
               {"check", tasks && form->check >= 0 ? Row(form->check) : null},
               {"blocks", tasks ? form->blocks : 0},
               {"ms", times.median},
               {"least_ms", times.least},
               {"repeats", options_.repeat},
               {"speedup_over_bsp", speedup},
               {"work", form != nullptr ? Row(last.work) : null},
               {"overwork", form != nullptr ? Row(overwork) : null},
               {"iterations", tasks ? null : Row(last.iterations)},
               {"colours", verdict.colours > 0 ? Row(verdict.colours) : null},
               {"error", verdict.error},
               {"verified", verdict.right},
               {"threads", context_.threads()}});
    if (!verdict.right) std::fprintf(stderr, "%s: WRONG, error %g\n", name.c_str(), verdict.error);
    return verdict.right;
  }

  /// What the form's kernels cost the GPU; nothing on the host.
  void add_kernels(const Place& place, const Form& form, const std::vector<engine::KernelInfo>& kernels) {
    for (const engine::KernelInfo& kernel : kernels) {
      if (kernel.registers == 0) continue;
      const Row row = {{"algorithm", place.algorithm},
                       {"form", graph::describe(form)},
                       {"kernel", kernel.name},
                       {"threads", kernel.threads},
                       {"registers", kernel.registers},
                       {"local_bytes", kernel.local_bytes},
                       {"shared_bytes", kernel.shared_bytes},
                       {"blocks_per_sm", kernel.blocks_per_sm}};
      if (named_kernels_.insert(row.dump()).second) kernels_.add(row);  // a kernel may be another one on another graph
    }
  }

  Options options_;
  Context context_;
  Rows rows_;
  Rows kernels_;
  std::set<std::string> named_kernels_;
  std::optional<GraphRival> rival_;
  std::ofstream timeline_;
  std::optional<Baseline> baseline_;
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app{"Graph algorithms: bulk synchronous against asynchronous forms. Status 1 if a result is wrong."};
  app.add_option("--backend", options.backend, "auto, cuda, host")->capture_default_str();
  app.add_option("--threads", options.threads, "of the host; 0: all")->capture_default_str();
  app.add_option("--algorithm", options.algorithms, "only these")->check(CLI::IsMember(list_algorithms()));
  app.add_option("--graph", options.graphs, "only these");
  app.add_option("--forms", options.forms, "bsp, table, heat, written")
      ->check(CLI::IsMember({"bsp", "table", "heat", "written"}))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "only these, as 256-64: lanes and fetched items");
  app.add_option("--discrete", options.discrete, "workers of the discrete kernels")->capture_default_str();
  app.add_option("--permute", options.permute, "also with the vertices numbered anew: random, rcm")
      ->check(CLI::IsMember(list_orders()));
  app.add_option("--rounds", options.rounds, "iterations that a worker runs by itself");
  app.add_option("--check", options.checks, "PageRank as written: vertices scanned for each taken")
      ->check(CLI::Range(0, 16))
      ->capture_default_str();
  app.add_option("--blocks", options.blocks, "of the persistent kernel; 0: all that are resident");
  app.add_option("--repeat", options.repeat, "runs that are timed, after one that is not")->capture_default_str();
  app.add_option("--csv", options.csv, "write rows to this file");
  app.add_option("--kernels", options.kernels,
                 "write registers and the like of each form's kernels to this file (CSV)");
  app.add_option("--timeline", options.timeline, "write work over time to this file (CSV)");
  app.add_option("--bin", options.bin_ns, "width of the timeline's bins in ns")->capture_default_str();
  app.add_option("--bins", options.bins, "their number, in place of a width: those of a run without a timeline");
  app.add_option("--frontiers", options.frontiers,
                 "write what iterations of searches and of PageRank have to do to this file (CSV); nothing else runs");
  app.add_option("--lanes", options.lanes, "iterations with fewer edges are small ones")->capture_default_str();
  app.add_option("--rival", options.rival, "also a shared library's forms (rival_interface.h), behind ours");
  app.add_flag("--smoke", options.smoke, "small graphs only");
  app.add_flag("--large", options.large, "graphs of the paper's size only")->excludes("--smoke");
  CLI11_PARSE(app, argc, argv);
  if (!options.frontiers.empty()) {
    write_frontiers(chosen_graphs(options), options.lanes, options.frontiers);
    return 0;
  }
  return Session(options).run() ? 0 : 1;
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    return taskdag::benchmark::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
