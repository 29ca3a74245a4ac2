// The listings of Kartsaklis et al., "CUDA Grid-Level Task Progression Algorithms", on its wavefront and on irregular
// graphs. Each run is checked; times and counts of operations come from runs of their own.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>

#include "../graph/machine.hpp"
#include "../rows.hpp"
#include "../watchdog.hpp"
#include "dags.hpp"
#include "studies/progression/progression.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

using progression::Algorithm;
using progression::Dag;
using progression::End;
using progression::Form;
using progression::Hash;
using progression::RunResult;
using progression::Settings;

constexpr int kSkipped = 77;

struct Options {
  std::string backend = "auto";
  int host_threads = 0;
  std::vector<std::string> wavefronts = {"1000x1000", "10000x10000"};
  std::vector<std::string> irregular;
  std::vector<std::string> variants;
  std::vector<std::string> also;
  std::vector<std::string> forms = {"time", "count"};
  std::vector<std::uint32_t> percents = {25, 50, 75, 100};
  Settings settings;
  std::uint32_t slow_most = 2000000;
  std::uint32_t count_most = 4000000;
  int repeat = 3;
  double budget = 0;
  std::string csv;
  bool resume = false;
  bool smoke = false;
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The paper's, then what --also names.
std::vector<Settings> list_variants(const Options& options) {
  std::vector<Settings> all;
  const auto add = [&](Settings settings) {
    const std::string name = describe(settings);
    const bool wanted =
        options.variants.empty() || std::any_of(options.variants.begin(), options.variants.end(),
                                                [&](const std::string& begin) { return name.rfind(begin, 0) == 0; });
    if (wanted) all.push_back(settings);
  };
  const auto add_queues = [&](Settings settings, const std::vector<Hash>& hashes) {
    settings.algorithm = Algorithm::multi;
    for (const Hash hash : hashes) {
      for (const std::uint32_t percent : options.percents) {
        settings.hash = hash;
        settings.rings_percent = percent;
        add(settings);
      }
    }
  };
  Settings settings = options.settings;
  add_queues(settings, {Hash::a, Hash::b});
  settings.algorithm = Algorithm::scanning;
  add(settings);
  settings.algorithm = Algorithm::single;
  add(settings);
  if (has(options.also, "mixed")) add_queues(options.settings, {Hash::mixed});
  for (const auto& [name, member] : {std::pair{"fifo", &Settings::fifo}, std::pair{"backoff", &Settings::backoff},
                                     std::pair{"spread", &Settings::spread}}) {
    if (!has(options.also, name)) continue;
    Settings changed = settings;
    changed.*member = true;
    add_queues(changed, {Hash::a, Hash::b});
    if (member != &Settings::spread) add(changed);  // one lock is alone as it is
  }
  return all;
}

/// What the table at the end says of a variant on a graph.
struct Line {
  std::string dag;
  std::string variant;
  std::string speed = "-";
  std::string counts;
};

class Session {
 public:
  explicit Session(const Options& options)
      : options_(options),
        context_(Context::create({.backend = options.backend == "host"   ? Backend::host
                                             : options.backend == "cuda" ? Backend::cuda
                                                                         : Backend::automatic,
                                  .threads = options.host_threads})),
        rows_(options.csv, "", {"dag", "variant", "form", "blocks", "threads"}, options.resume,
              describe_graph_machine(context_)),
        watchdog_(static_cast<int>(options.settings.limit_seconds) + 60, [] {}) {}

  bool run() {
    for (const DagCase& dag_case : list_dags()) {
      if (time_is_up()) continue;
      const Dag dag = dag_case.make();
      const std::uint32_t levels = count_levels(dag);
      std::printf("%s: %u tasks, %llu edges, %u levels\n", dag_case.name.c_str(), dag.tasks,
                  static_cast<unsigned long long>(dag.edges()), levels);
      for (const Settings& variant : list_variants(options_)) measure(dag_case.name, dag, levels, variant);
    }
    print_table();
    return right_;
  }

 private:
  [[nodiscard]] std::vector<DagCase> list_dags() const {
    if (options_.smoke) return list_smoke_dags();
    std::vector<DagCase> all;
    for (const std::string& shape : options_.wavefronts) all.push_back(wavefront_case(shape));
    for (const DagCase& irregular : list_irregular()) {
      if (options_.irregular.empty() || has(options_.irregular, irregular.name)) all.push_back(irregular);
    }
    // The large ones last: a budget is for the others first.
    std::stable_partition(all.begin(), all.end(), [](const DagCase& a) { return a.name != "wavefront 10000x10000"; });
    return all;
  }

  static std::uint32_t count_levels(const Dag& dag) {
    if (dag.columns != 0) return dag.tasks / dag.columns + dag.columns - 1;
    const std::vector<std::uint32_t> values = serial_values(dag);
    return *std::max_element(values.begin(), values.end()) + 1;
  }

  bool time_is_up() {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    if (options_.budget == 0 || seconds < options_.budget) return false;
    up_ = true;
    return true;
  }

  void measure(const std::string& name, const Dag& dag, std::uint32_t levels, Settings settings) {
    Line line{name, describe(settings), "-", ""};
    if (settings.algorithm != Algorithm::multi && dag.tasks > options_.slow_most) {
      std::printf("  %-28s left out: more than %u tasks\n", line.variant.c_str(), options_.slow_most);
      return;
    }
    for (const Form form : {Form::time, Form::count}) {
      settings.form = form;
      if (!has(options_.forms, to_string(form))) continue;
      if (form == Form::count && dag.tasks > options_.count_most) continue;
      if (time_is_up()) continue;
      measure_form(name, dag, levels, settings, line);
    }
    if (line.speed != "-" || !line.counts.empty()) lines_.push_back(line);
  }

  /// The median of some runs; of fewer where they take more than a second. Those of the GPU are the kernel's.
  void measure_form(const std::string& name, const Dag& dag, std::uint32_t levels, const Settings& settings,
                    Line& line) {
    std::vector<double> seconds;
    RunResult result;
    double sum = 0;
    const int repeat = settings.form == Form::count ? 1 : options_.repeat;
    while (static_cast<int>(seconds.size()) < repeat && sum < 1.0) {
      watchdog_.step(name + ", " + line.variant);
      result = progression::run(context_, dag, settings);
      watchdog_.rest();
      seconds.push_back(result.seconds);
      sum += result.seconds;
      if (result.end != End::finished || !result.fault.empty()) break;
    }
    std::sort(seconds.begin(), seconds.end());
    result.seconds = result.end == End::finished ? seconds[seconds.size() / 2] : result.seconds;
    report(name, dag, levels, settings, result, static_cast<int>(seconds.size()), line);
  }

  void report(const std::string& name, const Dag& dag, std::uint32_t levels, const Settings& settings,
              const RunResult& result, int runs, Line& line) {
    const bool ok = result.end == End::finished && result.fault.empty();
    const std::string status = result.fault.empty() ? to_string(result.end) : "WRONG: " + result.fault;
    right_ = right_ && (ok || result.end == End::time_limit);
    const bool counted = ok && settings.form == Form::count;
    const double tasks = result.tasks;
    const double speed = tasks / result.seconds;
    const auto each = [&](std::uint64_t operations) {
      return counted ? Row(static_cast<double>(operations) / tasks) : Row();
    };
    const engine::OperationCounts& counts = result.counts;
    const bool multi = settings.algorithm == Algorithm::multi;
    rows_.add({{"dag", name},
               {"tasks", dag.tasks},
               {"edges", dag.edges()},
               {"levels", levels},
               {"variant", line.variant},
               {"algorithm", to_string(settings.algorithm)},
               {"hash", multi ? Row(to_string(settings.hash)) : Row()},
               {"rings_percent", multi ? Row(settings.rings_percent) : Row()},
               {"rings", result.rings},
               {"order", settings.algorithm == Algorithm::scanning ? Row() : Row(settings.fifo ? "fifo" : "lifo")},
               {"blocks", result.blocks},
               {"threads", context_.backend() == Backend::cuda ? settings.threads : 1},
               {"form", to_string(settings.form)},
               {"runs", runs},
               {"tasks_done", result.tasks},
               {"seconds", result.seconds},
               {"tasks_per_second", ok ? Row(speed) : Row()},
               {"cas_per_task", each(counts.compare_and_swaps)},
               {"atomics_per_task", each(counts.other_atomics)},
               {"memory_per_task", each(counts.loads + counts.stores)},
               {"status", status}});
    std::printf("  %-28s %-5s %9.4f s, %8.3f M tasks/s, %s\n", line.variant.c_str(), to_string(settings.form),
                result.seconds, 1e-6 * speed, status.c_str());
    std::fflush(stdout);
    std::array<char, 96> text{};
    if (settings.form == Form::time) {
      if (ok) std::snprintf(text.data(), text.size(), "%.4g", 1e-6 * speed);
      line.speed = ok ? text.data() : status;
    } else {
      if (counted) {
        std::snprintf(text.data(), text.size(), "%10.4g %10.4g", static_cast<double>(counts.compare_and_swaps) / tasks,
                      static_cast<double>(counts.loads + counts.stores) / tasks);
      }
      line.counts = counted ? text.data() : status;
    }
  }

  void print_table() const {
    if (up_) std::printf("The time is up: not all has run.\n");
    std::printf("\n%-22s %-28s %11s %10s %10s\n", "graph", "variant", "M tasks/s", "CAS/task", "ld+st/task");
    for (const Line& line : lines_) {
      std::printf("%-22s %-28s %11s %s\n", line.dag.c_str(), line.variant.c_str(), line.speed.c_str(),
                  line.counts.c_str());
    }
  }

  Options options_;
  Context context_;
  Rows rows_;
  Watchdog watchdog_;
  std::vector<Line> lines_;
  bool right_ = true;
  bool up_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int run(int argc, char** argv) {
  Options options;
  CLI::App app{
      "The task progression study's listings: throughput, compare-and-swaps, loads and stores a task. Status 1 if a "
      "result is wrong."};
  app.add_option("--backend", options.backend, "auto, cuda, host")->capture_default_str();
  app.add_option("--host-threads", options.host_threads, "a block each; 0: all")->capture_default_str();
  app.add_option("--wavefront", options.wavefronts, "grids, ROWSxCOLUMNS")->capture_default_str();
  app.add_option("--irregular", options.irregular, "only these irregular graphs; none: no such");
  app.add_option("--variant", options.variants, "only those whose names begin so: scanning, single, multi a, …");
  app.add_option("--also", options.also, "variants that are not the paper's: other hash, queue, wait, places of locks")
      ->check(CLI::IsMember({"mixed", "fifo", "backoff", "spread"}));
  app.add_option("--form", options.forms, "time, count")
      ->check(CLI::IsMember({"time", "count"}))
      ->capture_default_str();
  app.add_option("--rings", options.percents, "queues for each hundred blocks")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  app.add_option("--blocks", options.settings.blocks, "of a GPU")->capture_default_str();
  app.add_option("--threads", options.settings.threads, "of a block of a GPU")->capture_default_str();
  app.add_option("--limit", options.settings.limit_seconds, "seconds, after which a run ends with what it has done")
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
  app.add_flag("--resume", options.resume, "keep the file's rows");
  app.add_flag("--smoke", options.smoke, "small graphs only");
  CLI11_PARSE(app, argc, argv);
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
