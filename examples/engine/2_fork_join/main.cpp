// Sums the numbers of a tree's leaves with tasks that fork and join, and checks the sum against its closed form.
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/options.hpp"
#include "taskdag/engine/trace.hpp"
#include "tree.hpp"

namespace {

constexpr std::uint64_t kMostNodes = std::uint64_t{1} << 28U;

/// Refuses trees that would be too large to run, before their numbers overflow.
void check_size(const fork_join::Shape& shape) {
  std::uint64_t nodes = 1;
  for (int level = 0; level < shape.depth && shape.fan_out > 1; ++level) {
    nodes *= static_cast<std::uint64_t>(shape.fan_out);
    if (nodes > kMostNodes) throw std::runtime_error("the tree has more than 2^28 leaves");
  }
}

void check(const fork_join::Shape& shape, const fork_join::Result& result) {
  const std::uint64_t leaves = shape.leaves();
  const std::uint64_t inner = shape.inner_nodes();
  const std::uint64_t sum = leaves * (leaves - 1) / 2;
  if (result.sum != sum) {
    throw std::runtime_error("the sum is " + std::to_string(result.sum) + ", not " + std::to_string(sum));
  }
  const std::uint64_t tasks = leaves + 2 * inner;  // each inner node is a fork and a join
  if (result.joins != inner || result.report.executed() != tasks) {
    throw std::runtime_error(std::to_string(result.report.executed()) + " tasks were executed, not " +
                             std::to_string(tasks));
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Sums the numbers of a tree's leaves with tasks that fork and join."};
  example::EngineOptions options;
  fork_join::Shape shape{12, 3};
  std::uint32_t pool = 0;
  std::string trace;
  app.add_option("--depth", shape.depth, "of the leaves")->check(CLI::Range(0, 1 << 20))->capture_default_str();
  app.add_option("--fan-out", shape.fan_out, "children of an inner node")->capture_default_str();
  app.add_option("--pool", pool, "records for inner nodes, 0: as many as there are")->capture_default_str();
  app.add_option("--trace", trace, "write the run to this file, which ui.perfetto.dev opens, and print latencies");
  example::add_engine_options(app, options);
  if (!example::parse(app, argc, argv)) return 0;

  check_size(shape);
  if (pool == 0) pool = static_cast<std::uint32_t>(shape.inner_nodes());
  const taskdag::Context context = taskdag::Context::create(options.context);
  const fork_join::Result result = fork_join::sum_leaves(context, options, shape, pool, !trace.empty());
  example::print_report(context, options, result.report);
  example::require_finished(result.report);
  check(shape, result);
  if (!trace.empty()) {
    // [snippet trace]
    taskdag::engine::write_chrome_trace(result.report, context.backend(), trace);
    std::printf("%s", taskdag::engine::describe(taskdag::engine::latencies(result.report)).c_str());
    // [snippet end]
  }
  std::printf("the numbers of %llu leaves sum to %llu\n", static_cast<unsigned long long>(shape.leaves()),
              static_cast<unsigned long long>(result.sum));
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("fork_join", argc, argv, run); }
