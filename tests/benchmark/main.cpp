/// \file
/// Benchmarks on a GPU, every result checked: see docs/benchmarks.md.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "application.hpp"
#include "ata.hpp"
#include "calibrate.hpp"
#include "ilu0.hpp"
#include "jacobi.hpp"
#include "many.hpp"
#include "point_block.hpp"
#include "soak.hpp"
#include "sor.hpp"
#include "sptrsv.hpp"
#include "taskdag/context.hpp"

namespace taskdag::benchmark {
namespace {

constexpr int kSkipped = 77;

void add_common(CLI::App& part, Options& options, std::vector<std::string>& schedules) {
  part.add_option("--schedule", schedules, "Schedules by name, or all")->default_str("auto");
  part.add_option_function<std::string>(
      "--engine-scheduler", [&](const std::string& name) { options.run.scheduler = engine::scheduler_from(name); },
      "Of the schedule engine: megakernel, controller, timesliced");
  part.add_option_function<std::string>(
      "--engine-dependencies",
      [&](const std::string& name) { options.run.dependencies = engine::dependencies_from(name); },
      "Of the schedule engine: ordered, individual, phases");
  part.add_option("--only", options.only, "Problems by name");
  part.add_flag("--table", options.table, "The ten problems of the table alone");
  part.add_flag("--all", options.all, "Small files of TASKDAG_MATRIX_DIR and special problems, too");
  part.add_flag("--smoke", options.smoke, "Two small problems");
  part.add_option("--hang-seconds", options.hang_seconds, "End the program when a step takes longer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_measuring(CLI::App& part, Options& options) {
  part.add_option("--repeat", options.timing.repeat, "Measured runs")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  part.add_option("--time-limit-ms", options.timing.total_ms, "For the runs of one measurement")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

void add_files(CLI::App& part, Options& options) {
  part.add_option("--csv", options.csv, "File for the rows");
  part.add_option("--json", options.json, "File for the rows, one JSON object a line");
  part.add_flag("--resume", options.resume, "Leave out what the CSV file has, and add to it");
}

void choose_schedules(const std::vector<std::string>& names, Options& options) {
  for (const std::string& name : names) {
    if (name == "all") {
      for (const SolveSchedule schedule : solve_schedules(Backend::cuda)) options.schedules.push_back(schedule);
    } else {
      options.schedules.push_back(solve_schedule_from(name));
    }
  }
  if (options.precisions.empty()) options.precisions = {Precision::in_double};
  if (options.schedules.empty()) options.schedules = {SolveSchedule::automatic};
}

int main_of(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  CLI::App app("Benchmarks of TaskDAG on a GPU. Exit status 1: a failure or a wrong result, 4: a hang, 77: no GPU");
  app.require_subcommand(1);
  Options options;
  std::vector<std::string> schedules;
  CLI::App& sptrsv = *app.add_subcommand("sptrsv", "Triangular solves against cuSPARSE");
  CLI::App& ilu0 = *app.add_subcommand("ilu0", "ILU(0), IC(0) and their application against cuSPARSE");
  CLI::App& soak = *app.add_subcommand("soak", "Many solves on good and bad numbers, each compared");
  CLI::App& many = *app.add_subcommand("many", "Applications to several right-hand sides at once against cuSPARSE");
  CLI::App& jacobi = *app.add_subcommand("jacobi", "Jacobi sweeps in every form against kernel by kernel");
  CLI::App& sor = *app.add_subcommand("sor", "SOR iterations against cuSPARSE's solves and products");
  CLI::App& point_block = *app.add_subcommand("point_block", "Factorisations by point blocks against those by rows");
  CLI::App& ata = *app.add_subcommand("ata", "Adaptive task aggregation and what it is compared with");
  CLI::App& application = *app.add_subcommand("application", "Applications of an ILU(0) beside the bytes they need");
  CLI::App& calibrate = *app.add_subcommand("calibrate", "What models of time go by on this GPU, measured and kept");
  calibrate.add_option("--repeat", options.timing.repeat, "Measurements beside the one that is kept");
  for (CLI::App* part : {&sptrsv, &ilu0, &soak, &many, &jacobi, &sor, &point_block, &ata, &application}) {
    add_common(*part, options, schedules);
    add_files(*part, options);
  }
  add_measuring(sptrsv, options);
  add_measuring(ilu0, options);
  add_measuring(many, options);
  add_measuring(jacobi, options);
  add_measuring(sor, options);
  add_measuring(point_block, options);
  add_measuring(ata, options);
  add_measuring(application, options);
  CLI::Option& study = *ata.add_flag("--study", options.study, "S and R of the aggregations in place of all schedules");
  CLI::Option& classes =
      *ata.add_flag("--classes", options.classes, "Wide, L-shape and parallel problems, a warp a row, push and pull")
           ->excludes(&study);
  ata.add_flag("--sizes", options.sizes, "These problems, tasks by the equations and by warps and levels")
      ->excludes(&study)
      ->excludes(&classes);
  ata.add_option("--budget-seconds", options.budget_seconds, "Begin no measurement later")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  sptrsv.add_flag("--transposed", options.transposed, "Solve with the transposed triangles");
  sptrsv.add_option("--rhs", options.rhs, "Right-hand sides of one solve")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  jacobi.add_option_function<std::vector<std::string>>(
      "--forms",
      [&](const std::vector<std::string>& names) {
        for (const std::string& name : names) options.forms.push_back(jacobi_form_from(name));
      },
      "Forms by name; default: all, and solves to a tolerance");
  jacobi.add_flag("--solves", options.jacobi_solves, "Solves to a tolerance alone");
  for (CLI::App* part : {&ilu0, &application}) {
    part->add_option_function<std::vector<std::string>>(
        "--precision",
        [&](const std::vector<std::string>& names) {
          for (const std::string& name : names) options.precisions.push_back(precision_from(name));
        },
        "Precisions of the factor in applications: double, single, auto; default: double");
  }
  ilu0.add_flag("--block-order", options.block_order, "Rows in the order taskdag_bmc, for the schedule blocks");
  soak.add_option("--solves", options.solves, "Solves, all problems together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  soak.add_option("--seed", options.seed, "Of the right-hand sides")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  choose_schedules(schedules, options);
  if (probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return kSkipped;
  }
  if (calibrate.parsed()) return run_calibrate(options.timing.repeat);
  if (sptrsv.parsed()) return run_sptrsv(options);
  if (ilu0.parsed()) return run_ilu0(options);
  if (many.parsed()) return run_many(options);
  if (jacobi.parsed()) return run_jacobi(options);
  if (sor.parsed()) return run_sor(options);
  if (ata.parsed()) return run_ata(options);
  if (application.parsed()) return run_application(options);
  if (point_block.parsed()) return run_point_block(options);
  return run_soak(options);
}

}  // namespace
}  // namespace taskdag::benchmark

int main(int argc, char** argv) {
  try {
    return taskdag::benchmark::main_of(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taskdag_bench: %s\n", error.what());
    return 1;
  }
}
