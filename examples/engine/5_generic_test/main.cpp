// The generic test (MHive, section 7.1): runs random execution trees with phases or individual dependencies, checks
// every task and every dependency, and writes traces, plots and latencies.
#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "check.hpp"
#include "common/options.hpp"
#include "description.hpp"
#include "run.hpp"
#include "taskdag/engine/trace.hpp"

namespace {

using taskdag::Context;
using taskdag::engine::Report;

constexpr std::size_t kMostTasks = 100'000'000;

struct Options {
  std::string tree = "small";
  std::string dependencies = "phases";
  std::string worker = "warp";
  std::uint32_t roots = 1000;
  double flops = 1000;
  std::uint64_t seed = 1;
  std::string trace;
  std::string plot;
  bool latency = false;
  bool no_stamps = false;
  example::EngineOptions engine;

  [[nodiscard]] bool traced() const { return !trace.empty() || !plot.empty() || latency; }
};

bool read_options(Options& options, int argc, char** argv) {
  CLI::App app("Random execution trees on the task engine");
  app.add_option("--tree", options.tree, "small, large, or a JSON file")->capture_default_str();
  app.add_option("--dependencies", options.dependencies, "what a task waits for: phases, or individual (its siblings)")
      ->check(CLI::IsMember({"phases", "individual"}))
      ->capture_default_str();
  app.add_option("--worker", options.worker, "what runs a task on the GPU")
      ->check(CLI::IsMember({"thread", "warp", "block"}))
      ->capture_default_str();
  app.add_option("--roots", options.roots, "number of trees")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--flops", options.flops, "floating-point operations of a task")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random trees")->capture_default_str();
  app.add_option("--trace", options.trace, "write the run as a Chrome trace (JSON; ui.perfetto.dev opens it)");
  app.add_option("--plot", options.plot, "write the run as a scheduling plot (SVG)");
  app.add_flag("--latency", options.latency, "print the time from ready to start");
  app.add_flag("--no-stamps", options.no_stamps,
               "tasks take no stamps: tasks are counted and compared, dependencies are not checked");
  example::add_engine_options(app, options.engine);
  if (!example::parse(app, argc, argv)) return false;
  if (options.traced() && options.worker != "warp") {
    throw std::runtime_error("--trace, --plot and --latency are for --worker warp");
  }
  return true;
}

generic::Output run(const Context& context, const Options& options, const generic::Input& input) {
  if (options.traced()) return generic::run_traced(context, input);
  if (options.worker == "thread") return generic::run_with_threads(context, input);
  if (options.worker == "warp") return generic::run_with_warps(context, input);
  return generic::run_with_blocks(context, input);
}

/// The report with the tree's own types under their names.
Report renamed(Report report, const generic::Description& description) {
  std::vector<taskdag::engine::TypeReport> types;
  std::array<std::uint16_t, generic::kTypes> place{};
  for (std::size_t type = 0; type < generic::kTypes; ++type) {
    if (description.names[type].empty()) continue;
    place[type] = static_cast<std::uint16_t>(types.size());
    types.push_back(report.types.at(type));
    types.back().name = description.names[type];
  }
  report.types = std::move(types);
  for (taskdag::engine::TraceEvent& event : report.events) event.type = place.at(event.type);
  return report;
}

void write_trace(const Context& context, const Options& options, const Report& report) {
  if (!options.trace.empty()) {
    taskdag::engine::write_chrome_trace(report, context.backend(), options.trace);
    std::printf("trace: %s, %zu events\n", options.trace.c_str(), report.events.size());
  }
  if (!options.plot.empty()) {
    const std::string title = options.tree + " tree, " + options.dependencies + ", scheduler " +
                              to_string(options.engine.run.scheduler) + ", " + context.device_name();
    taskdag::engine::write_plot(report, context.backend(), options.plot, {.title = title});
    std::printf("plot: %s\n", options.plot.c_str());
  }
  if (options.latency) std::fputs(describe(taskdag::engine::latencies(report)).c_str(), stdout);
}

int body(int argc, char** argv) {
  Options options;
  if (!read_options(options, argc, argv)) return 0;
  const generic::Description description = generic::describe_tree(options.tree, options.flops);

  generic::Input input;
  input.tree = description.tree;
  for (std::uint32_t r = 0; r < options.roots; ++r) {
    input.roots.push_back(generic::child_number(generic::mix(options.seed), r));
  }
  const std::vector<generic::Node> nodes = generic::walk(input.tree, input.roots, kMostTasks);
  input.tasks = static_cast<std::uint32_t>(nodes.size());
  input.dependencies =
      options.dependencies == "phases" ? generic::Dependencies::phases : generic::Dependencies::individual;
  input.stamps = !options.no_stamps;
  input.run = options.engine.run;
  input.runner = options.engine.runner;
  input.runner.trace_events = input.tasks;

  const Context context = Context::create(options.engine.context);
  generic::Output output = run(context, options, input);
  const Report report = renamed(output.report, description);
  std::printf("%s tree, %s, %u roots, worker %s\n", options.tree.c_str(), options.dependencies.c_str(), options.roots,
              options.worker.c_str());
  example::print_report(context, options.engine, report);
  example::require_finished(report);

  const generic::Checked checked = generic::check(input, nodes, output);
  std::printf("%zu tasks, each once and as in the serial walk; ", nodes.size());
  if (input.stamps) {
    std::printf("%llu children after their parents, %llu tasks or siblings waited for\n",
                static_cast<unsigned long long>(checked.children),
                static_cast<unsigned long long>(checked.dependencies));
  } else {
    std::printf("dependencies were not checked\n");
  }
  if (options.traced()) {
    if (report.events.size() != nodes.size()) throw std::runtime_error("the trace does not have an event per task");
    write_trace(context, options, report);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("generic_test", argc, argv, body); }
