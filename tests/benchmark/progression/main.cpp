// The listings of Kartsaklis et al., "CUDA Grid-Level Task Progression Algorithms", on its wavefront and on irregular
// graphs. Each run is checked; times and counts of operations come from runs of their own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "../graph/machine.hpp"
#include "../rows.hpp"
#include "../watchdog.hpp"
#include "dags.hpp"
#include "table.hpp"
#include "taskdag/error.hpp"
#include "variants.hpp"

namespace taskdag::benchmark {
namespace {

using progression::Dag;
using progression::End;
using progression::Form;
using progression::RunResult;

constexpr int kSkipped = 77;

struct Options {
  std::string backend = "auto";
  int host_threads = 0;
  std::vector<std::string> wavefronts = {"500x500", "10000x10000", "1000x1000"};
  std::vector<std::string> irregular;
  std::vector<std::string> forms = {"time", "count"};
  VariantChoice variants;
  std::uint32_t slow_most = 300000;
  std::uint32_t count_most = 4000000;
  int repeat = 3;
  double budget = 0;
  std::string csv;
  std::string shapes;
  bool resume = false;
  bool smoke = false;
};

/// A graph as it is measured.
struct Subject {
  std::string name;
  Dag dag;
  std::uint32_t levels;
};

std::uint32_t count_levels(const Dag& dag) {
  if (dag.columns != 0) return dag.tasks / dag.columns + dag.columns - 1;
  const std::vector<std::uint32_t> values = serial_values(dag);
  return *std::max_element(values.begin(), values.end()) + 1;
}

std::vector<DagCase> list_dags(const Options& options) {
  if (options.smoke) return list_smoke_dags();
  std::vector<DagCase> all;
  for (const std::string& shape : options.wavefronts) {
    if (shape != "none") all.push_back(wavefront_case(shape));
  }
  for (const DagCase& irregular : list_irregular()) {
    if (options.irregular.empty() || contains(options.irregular, irregular.name)) all.push_back(irregular);
  }
  return all;
}

/// Of the irregular graphs, to a file: nothing runs.
void write_shapes(const Options& options) {
  Rows rows(options.shapes, "", {"dag"}, false,
            describe_graph_machine(Context::create({.backend = Backend::host, .threads = 1})));
  for (const DagCase& dag_case : list_dags(options)) {
    const Dag dag = dag_case.make();
    if (dag.columns != 0) continue;
    const progression::Shape shape = shape_of(dag);
    rows.add({{"dag", dag_case.name},
              {"tasks", dag.tasks},
              {"edges", dag.edges()},
              {"levels", count_levels(dag)},
              {"most_successors", shape.most_successors},
              {"most_predecessors", shape.most_predecessors},
              {"edges_of_many", shape.edges_of_many},
              {"longest_chain", shape.longest_chain}});
    std::printf("%s: %u successors at most, %llu resolutions one after the other\n", dag_case.name.c_str(),
                shape.most_successors, static_cast<unsigned long long>(shape.longest_chain));
  }
}

class Session {
 public:
  explicit Session(const Options& options)
      : options_(options),
        context_(Context::create({.backend = options.backend == "host"   ? Backend::host
                                             : options.backend == "cuda" ? Backend::cuda
                                                                         : Backend::automatic,
                                  .threads = options.host_threads})),
        rows_(options.csv, "", {"dag", "variant", "form"}, options.resume, describe_graph_machine(context_)),
        watchdog_(static_cast<int>(options.variants.settings.limit_seconds) + 20, [] {}) {}

  bool run() {
    const std::vector<Variant> variants = list_variants(options_.variants);
    for (const DagCase& dag_case : list_dags(options_)) {
      if (time_is_up()) break;
      Dag dag = dag_case.make();
      const std::uint32_t levels = count_levels(dag);
      const Subject subject{dag_case.name, std::move(dag), levels};
      std::printf("%s: %u tasks, %llu edges, %u levels\n", subject.name.c_str(), subject.dag.tasks,
                  static_cast<unsigned long long>(subject.dag.edges()), subject.levels);
      for (const Variant& variant : variants) {
        if (wanted(subject, variant)) measure(subject, variant);
      }
    }
    table_.print();
    if (up_) std::printf("The time was up: not all has run.\n");
    return right_;
  }

 private:
  /// Slow ones run on small graphs alone, the engine's but for its best on those where operations may be counted,
  /// changes of the paper's on wavefronts that are not large; another hash, which is its future work too, on irregular
  /// graphs as well.
  [[nodiscard]] bool wanted(const Subject& subject, const Variant& variant) const {
    constexpr std::uint32_t kChangeMost = 1000000;
    if (variant.slow && subject.dag.tasks > options_.slow_most) return false;
    if (variant.family == Family::own && subject.dag.tasks > options_.count_most) return variant.name == "own best";
    if (variant.family != Family::change || (subject.dag.columns == 0 && variant.hash == "mixed")) return true;
    return subject.dag.columns != 0 && subject.dag.tasks <= kChangeMost;
  }

  bool time_is_up() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    const bool up = options_.budget != 0 && seconds >= options_.budget;
    up_ = up_ || up;
    return up;
  }

  void measure(const Subject& subject, const Variant& variant) {
    for (const Form form : {Form::time, Form::count}) {
      if (!contains(options_.forms, to_string(form))) continue;
      if (form == Form::count && subject.dag.tasks > options_.count_most) continue;
      if (rows_.contains({{"dag", subject.name}, {"variant", variant.name}, {"form", to_string(form)}})) continue;
      if (!time_is_up()) measure_form(subject, variant, form);
    }
  }

  /// The median of some runs; of fewer where they take more than a second.
  void measure_form(const Subject& subject, const Variant& variant, Form form) {
    std::vector<double> seconds;
    RunResult result;
    double sum = 0;
    const int repeat = form == Form::count ? 1 : options_.repeat;
    while (static_cast<int>(seconds.size()) < repeat && sum < 1.0) {
      watchdog_.step(subject.name + ", " + variant.name);
      result = variant.run(context_, subject.dag, form);
      watchdog_.rest();
      seconds.push_back(result.seconds);
      sum += result.seconds;
      if (result.end != End::finished || !result.fault.empty()) break;
    }
    const auto runs = static_cast<int>(seconds.size());
    if (result.end == End::finished) {
      std::sort(seconds.begin(), seconds.end());
      result.seconds = seconds[seconds.size() / 2];
    }
    report(subject, variant, form, result, runs);
  }

  void report(const Subject& subject, const Variant& variant, Form form, const RunResult& result, int runs) {
    const bool ok = result.end == End::finished && result.fault.empty();
    const std::string status = result.fault.empty() ? to_string(result.end) : "WRONG: " + result.fault;
    right_ = right_ && (ok || result.end == End::time_limit);
    const bool on_device = context_.backend() == Backend::cuda;
    const double tasks = result.tasks;
    const double speed = tasks / result.seconds;
    const engine::OperationCounts& counts = result.counts;
    const auto each = [&](std::uint64_t operations) {
      return ok && form == Form::count ? Row(static_cast<double>(operations) / tasks) : Row();
    };
    rows_.add({{"dag", subject.name},
               {"tasks", subject.dag.tasks},
               {"edges", subject.dag.edges()},
               {"levels", subject.levels},
               {"variant", variant.name},
               {"algorithm", variant.algorithm},
               {"hash", variant.hash},
               {"rings_percent", variant.percent == 0 ? Row() : Row(variant.percent)},
               {"rings", result.rings},
               {"order", variant.order},
               {"blocks", result.blocks},
               {"threads", !on_device                   ? 1
                           : variant.algorithm == "own" ? 256
                                                        : options_.variants.settings.threads},
               {"form", to_string(form)},
               {"runs", runs},
               {"tasks_done", result.tasks},
               {"seconds", result.seconds},
               {"tasks_per_second", ok && form == Form::time ? Row(speed) : Row()},
               {"cas_per_task", each(counts.compare_and_swaps)},
               {"atomics_per_task", each(counts.other_atomics)},
               {"memory_per_task", each(counts.loads + counts.stores)},
               {"status", status}});
    std::printf("  %-28s %-5s %9.4f s, %10u tasks, %s\n", variant.name.c_str(), to_string(form), result.seconds,
                result.tasks, status.c_str());
    std::fflush(stdout);
    std::array<char, 96> text{};
    if (form == Form::time) {
      std::snprintf(text.data(), text.size(), "%.4g", 1e-6 * speed);
      table_.add_speed(subject.name, variant.name, variant.family != Family::change || variant.hash == "mixed",
                       ok ? text.data() : status);
    } else {
      std::snprintf(
          text.data(), text.size(), "%10.4g %10.4g %10.4g", static_cast<double>(counts.compare_and_swaps) / tasks,
          static_cast<double>(counts.other_atomics) / tasks, static_cast<double>(counts.loads + counts.stores) / tasks);
      table_.add_counts(subject.name, variant.name, ok ? text.data() : status);
    }
  }

  Options options_;
  Context context_;
  Rows rows_;
  Watchdog watchdog_;
  ProgressionTable table_;
  bool right_ = true;
  bool up_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int run(int argc, char** argv) {
  Options options;
  VariantChoice& variants = options.variants;
  CLI::App app{
      "The task progression study's listings: throughput, compare-and-swaps, loads and stores a task. Status 1 if a "
      "result is wrong, 4 after a hang, 77 without a GPU for --backend cuda."};
  app.add_option("--backend", options.backend, "auto, cuda, host")->capture_default_str();
  app.add_option("--host-threads", options.host_threads, "a block each; 0: all")->capture_default_str();
  app.add_option("--wavefront", options.wavefronts, "grids, ROWSxCOLUMNS; none")->capture_default_str();
  app.add_option("--irregular", options.irregular, "only these irregular graphs; none");
  app.add_option("--variant", variants.names, "only those whose names begin so: scanning, single, multi a, own, …");
  app.add_option("--also", variants.also,
                 "what is not the paper's: queues of the engine; another hash; on wavefronts of up to a million tasks "
                 "another order or wait, or locks in lines of their own")
      ->check(CLI::IsMember(list_families()));
  app.add_option("--form", options.forms, "time, count")
      ->check(CLI::IsMember({"time", "count"}))
      ->capture_default_str();
  app.add_option("--rings", variants.percents, "queues for each hundred blocks")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--blocks", variants.settings.blocks, "of a GPU, for the paper's")->capture_default_str();
  app.add_option("--threads", variants.settings.threads, "of a block of a GPU")->capture_default_str();
  app.add_option("--limit", variants.settings.limit_seconds, "seconds, after which a run ends with what it has done")
      ->capture_default_str();
  app.add_option("--slow-most", options.slow_most, "scanning and single run on graphs of so many tasks at most")
      ->capture_default_str();
  app.add_option("--count-most", options.count_most, "operations are counted on graphs of so many tasks at most")
      ->capture_default_str();
  app.add_option("--repeat", options.repeat, "runs of each variant, fewer where they take more than a second")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--budget", options.budget, "seconds, after which no run begins; 0: no end")->capture_default_str();
  app.add_option("--csv", options.csv, "write rows to this file");
  app.add_option("--shapes", options.shapes,
                 "write what of the irregular graphs is long or one after the other to this file; nothing runs");
  app.add_flag("--resume", options.resume, "keep the file's rows and run what is not there");
  app.add_flag("--smoke", options.smoke, "small graphs only");
  CLI11_PARSE(app, argc, argv);
  if (!options.shapes.empty()) {
    write_shapes(options);
    return 0;
  }
  if (options.backend == "cuda" && probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return kSkipped;
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
