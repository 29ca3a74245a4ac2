/// \file
/// A grid of tasks, each after its upper and its left neighbour, on the queues of the task progression study and on the
/// engine's own (Kartsaklis et al., "CUDA Grid-Level Task Progression Algorithms"). Each run is checked and printed as
/// a line of CSV.
#include <cstdio>
#include <map>
#include <string>

#include "common/options.hpp"
#include "row.hpp"
#include "taskdag/error.hpp"

namespace {

using wavefront::Measure;
using wavefront::Settings;
using Variant = void (*)(const taskdag::Context&, const Settings&, const wavefront::Sink&);

const std::map<std::string, Variant> variants{
    {"scanning", wavefront::run_scanning}, {"single", wavefront::run_single}, {"multi-a", wavefront::run_multi_a},
    {"multi-b", wavefront::run_multi_b},   {"shared", wavefront::run_shared}, {"stealing", wavefront::run_stealing}};

/// What was measured to be fastest (tests/benchmark/results): threads that keep to their rows, rings where the items of
/// neighbouring rows gather, a block of 256 threads for each 38 rows, and the dependency matrix by diagonals.
void choose_best(Settings& settings, std::string& queue) {
  constexpr std::uint32_t rows_per_block = 38;
  queue = "stealing";
  settings.warp_workers = false;
  settings.by_diagonals = true;
  settings.engine.run.continues = true;
  if (settings.engine.run.blocks == 0) {
    settings.engine.run.blocks = static_cast<int>((settings.rows + rows_per_block - 1) / rows_per_block);
  }
}

void refuse(bool wrong, const char* message) {
  if (wrong) throw taskdag::InvalidInput(message);
}

int body(int argc, char** argv) {
  Settings settings;
  std::string queue = "shared";
  std::string worker = "thread";
  bool best = false;
  bool count = false;
  bool trace = false;
  bool kernels = false;
  bool no_header = false;
  CLI::App app("Wavefront: a grid of tasks, each after its upper and its left neighbour");
  std::map<std::string, std::string> names;
  for (const auto& variant : variants) names[variant.first] = variant.first;
  app.add_option("--queue", queue, "scanning, single, multi-a, multi-b: the study's; shared, stealing: the engine's")
      ->check(CLI::IsMember(names))
      ->option_text("NAME [shared]");
  app.add_flag("--best", best, "the fastest choice of queue, worker and blocks");
  app.add_option("--rows", settings.rows)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--columns", settings.columns)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--tile", settings.tile, "a task is a tile of so many cells a side, which a warp walks; 1: a cell")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--work", settings.work, "floating-point operations per cell")->capture_default_str();
  app.add_option("--worker", worker, "what runs a task; of a warp, lane 0 does all the work, as in the study")
      ->check(CLI::IsMember({"thread", "warp"}))
      ->option_text("thread|warp [thread]");
  app.add_flag("--by-diagonals", settings.by_diagonals, "store the dependency matrix diagonal by diagonal");
  app.add_flag("--count", count, "count the engine's operations");
  app.add_flag("--trace", trace, "measure the time from a task's creation to its start");
  app.add_flag("--kernels", kernels, "print the last run's report with what its kernels cost, on stderr");
  app.add_flag("--no-header", no_header, "no line with the names of the columns");
  app.add_option("--repeat", settings.repeat)->check(CLI::PositiveNumber)->capture_default_str();
  example::add_engine_options(app, settings.engine);
  if (!example::parse(app, argc, argv)) return 0;

  settings.warp_workers = worker == "warp";
  settings.own_capacity = app.get_option("--queue-capacity")->count() > 0;
  refuse(count && trace, "--count and --trace measure different things: one at a time");
  const auto context = taskdag::Context::create(settings.engine.context);
  if (best) choose_best(settings, queue);
  refuse(settings.tile > 1 && queue != "shared" && queue != "stealing", "--tile goes with --queue shared or stealing");
  if (settings.tile > 1) settings.warp_workers = true;
  refuse(settings.cells() > (std::uint64_t{1} << 30U) || settings.rows + settings.columns > (1U << 24U),
         "the grid is too large: 2^30 cells, 2^24 rows and columns together");
  refuse(settings.work % 2 != 0, "--work is an even number: a multiplication and an addition at a time");
  settings.measure = count ? Measure::counts : trace ? Measure::trace : Measure::time;

  const std::string name = best ? "best" : queue;
  if (!no_header) std::printf("%s\n", wavefront::header().c_str());
  std::string resources;
  variants.at(queue)(context, settings, [&](const taskdag::engine::Report& report) {
    std::printf("%s\n", wavefront::row(name, context, settings, report).c_str());
    std::fflush(stdout);
    resources = describe(report);
  });
  if (kernels) std::fprintf(stderr, "%s", resources.c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("wavefront", argc, argv, body); }
