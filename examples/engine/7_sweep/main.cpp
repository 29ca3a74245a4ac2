// A transport sweep on an unstructured mesh: a graph of tasks that is no triangular solve, run in all ways.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/options.hpp"
#include "mesh.hpp"
#include "sweep.hpp"

namespace {

using taskdag::engine::GraphWay;

/// Tasks and reference add up in one order, but a GPU rounds a product and a sum at once.
constexpr double kTolerance = 1e-12;

bool agrees(const std::vector<double>& flux, const std::vector<double>& reference) {
  for (std::size_t k = 0; k < flux.size(); ++k) {
    if (!(std::abs(flux[k] - reference[k]) <= kTolerance * std::abs(reference[k]))) return false;
  }
  return flux.size() == reference.size();
}

std::vector<GraphWay> ways_of(const std::string& name) {
  if (name != "all") return {taskdag::engine::graph_way_from(name)};
  return {GraphWay::launches, GraphWay::barriers, GraphWay::waits, GraphWay::lists, GraphWay::counters};
}

int run(int argc, char** argv) {
  CLI::App app{"Sweeps over an unstructured mesh in several directions, and compares them with serial ones."};
  taskdag::ContextOptions where;
  std::string backend = "auto";
  std::string way_name = "all";
  taskdag::engine::GraphOptions options;
  sweep::Problem problem;
  int side = 100;
  int directions = 16;
  int repeat = 10;
  unsigned seed = 1;
  app.add_option("--side", side, "cells: twice the square of it")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--directions", directions, "of the particles")->check(CLI::Range(1, 500))->capture_default_str();
  app.add_option("--groups", problem.groups, "of energy")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--iterations", problem.iterations, "sweeps, each with what the one before has scattered")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--repeat", repeat, "sweeps that are timed")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--seed", seed, "of the mesh")->capture_default_str();
  app.add_option("--way", way_name, "launches|barriers|waits|lists|counters|auto|all")->capture_default_str();
  app.add_option("--cores", options.cores, "that lists are made for, 0: as many as there are")->capture_default_str();
  app.add_option("--backend", backend, "auto|cuda|host")->check(CLI::IsMember({"auto", "cuda", "host"}));
  app.add_option("--threads", where.threads, "host threads, 0: all of this process")->check(CLI::NonNegativeNumber);
  if (!example::parse(app, argc, argv)) return 0;
  if (backend != "auto") where.backend = backend == "host" ? taskdag::Backend::host : taskdag::Backend::cuda;

  const taskdag::Context context = taskdag::Context::create(where);
  problem.mesh = sweep::make_mesh(side, seed);
  problem.directions = sweep::make_directions(directions);
  const sweep::Upwind upwind = sweep::make_upwind(problem.mesh, problem.directions);
  const std::vector<double> reference = sweep::serial_flux(problem);

  std::printf("device,cells,directions,groups,tasks,edges,levels,way,portions,plan_ms,sweep_ms,right\n");
  bool all_right = true;
  for (const GraphWay way : ways_of(way_name)) {
    options.way = way;
    const auto start = std::chrono::steady_clock::now();
    const taskdag::engine::GraphPlan plan = taskdag::engine::make_graph_plan(context, upwind.edges(), options);
    const std::chrono::duration<double, std::milli> planned = std::chrono::steady_clock::now() - start;
    const sweep::Result result = sweep::run(context, problem, plan, repeat);
    if (!result.message.empty()) throw std::runtime_error(result.message);
    const bool right = agrees(result.flux, reference);
    all_right = all_right && right;
    std::printf("%s,%d,%d,%d,%d,%zu,%d,%s,%d,%.3f,%.4f,%s\n", context.device_name().c_str(), problem.mesh.cells(),
                directions, problem.groups, plan.tasks(), upwind.before.size(), plan.levels, to_string(plan.way),
                plan.portions(), planned.count(), result.milliseconds, right ? "yes" : "no");
  }
  if (!all_right) throw std::runtime_error("the flux is not that of the serial sweeps");
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return example::guarded_main("sweep", argc, argv, run); }
