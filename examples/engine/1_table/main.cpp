// Makes tables in a workshop whose tasks depend on each other: the first program of docs/engine.md.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "common/options.hpp"
#include "workshop.hpp"

namespace {

/// Every task found what it depends on, and ran once.
void check(const workshop::Made& made, int tables) {
  for (std::size_t table = 0; table < made.parts_found.size(); ++table) {
    if (made.parts_found[table] == workshop::kParts) continue;
    throw std::runtime_error("table " + std::to_string(table) + " was assembled from " +
                             std::to_string(made.parts_found[table]) + " parts");
  }
  for (std::size_t chair = 0; chair < made.tables_found.size(); ++chair) {
    const int set = static_cast<int>(chair) / workshop::kChairsPerSet;
    const int in_set = std::min(workshop::kTablesPerSet, tables - set * workshop::kTablesPerSet);
    if (made.tables_found[chair] == in_set) continue;
    throw std::runtime_error("chair " + std::to_string(chair) + " was fitted to " +
                             std::to_string(made.tables_found[chair]) + " of " + std::to_string(in_set) + " tables");
  }
}

int run(int argc, char** argv) {
  CLI::App app{"Makes tables of four legs and a top, and checks that no table was assembled before its parts."};
  example::EngineOptions options;
  std::string dependencies = "individual";
  int tables = 1000;
  app.add_option("--dependencies", dependencies, "phases, individual, or grouped: dinner sets, chairs wait for tables")
      ->check(CLI::IsMember({"phases", "individual", "grouped"}))
      ->capture_default_str();
  app.add_option("--tables", tables, "how many")->check(CLI::Range(1, 1 << 24))->capture_default_str();
  example::add_engine_options(app, options);
  if (!example::parse(app, argc, argv)) return 0;

  const taskdag::Context context = taskdag::Context::create(options.context);
  const auto make = dependencies == "phases"    ? workshop::make_with_phases
                    : dependencies == "grouped" ? workshop::make_with_grouped_dependencies
                                                : workshop::make_with_individual_dependencies;
  const workshop::Made made = make(context, options, tables);
  example::print_report(context, options, made.report);
  example::require_finished(made.report);
  check(made, tables);
  std::printf("%d tables, each from %d parts; %zu chairs\n", tables, workshop::kParts, made.tables_found.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("table", argc, argv, run); }
