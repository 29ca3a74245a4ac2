#include "sweep.hpp"

#include <chrono>

#include "taskdag/graph.hpp"

namespace sweep {

namespace engine = taskdag::engine;

struct Cells {
  const double* area;
  const Side* sides;  // three a cell
  Index cells;
  int groups;

  /// The number of a task or of a cell, and of a group of energy.
  [[nodiscard]] TASKDAG_TASK std::size_t at(Index of, int group) const {
    return static_cast<std::size_t>(of) * static_cast<std::size_t>(groups) + static_cast<std::size_t>(group);
  }
};

// [snippet task]
/// A cell in one direction: what flows in, and what begins there, is taken or flows out.
struct SweepCell {
  static constexpr auto name = "sweep cell";
  static constexpr engine::WorkerSize worker = engine::warp_worker;  // its lanes have a group of energy each
  Cells mesh;
  const Vector* directions;
  const double* taken;   // by group
  const double* begins;  // by cell and group
  double* flux;          // by task and group

  template <class Context>
  TASKDAG_TASK void operator()(Context& context, Index task) const {
    const Index cell = task % mesh.cells;
    const Index first = task - cell;  // of the direction
    const Vector direction = directions[task / mesh.cells];
    for (int g = context.group().rank(); g < mesh.groups; g += context.group().size()) {
      double in = begins[mesh.at(cell, g)] * mesh.area[cell];
      double out = taken[g] * mesh.area[cell];
      for (int k = 0; k < 3; ++k) {
        const Side& side = mesh.sides[3 * cell + k];
        const double flow = side.normal.x * direction.x + side.normal.y * direction.y;
        if (flow > 0) out += flow;
        if (flow < 0 && side.neighbour >= 0) in -= flow * flux[mesh.at(first + side.neighbour, g)];
      }
      flux[mesh.at(task, g)] = in / out;
    }
  }
};
// [snippet end]

/// A cell, when all directions have been swept: what begins there in the next sweep. It waits for nothing.
struct ScatterInCell {
  static constexpr auto name = "scatter";
  static constexpr engine::WorkerSize worker = engine::warp_worker;
  Cells mesh;
  int directions;
  double source;
  double scattered;
  const double* flux;
  double* all;     // of all directions, by cell and group
  double* begins;  // likewise

  template <class Context>
  TASKDAG_TASK void operator()(Context& context, Index cell) const {
    for (int g = context.group().rank(); g < mesh.groups; g += context.group().size()) {
      double sum = 0;
      for (int d = 0; d < directions; ++d) sum += flux[mesh.at(d * mesh.cells + cell, g)];
      all[mesh.at(cell, g)] = sum / directions;
      begins[mesh.at(cell, g)] = source + scattered * sum / directions;
    }
  }
};

Result run(const taskdag::Context& context, const Problem& problem, const engine::GraphPlan& plan, int repeat) {
  const auto groups = static_cast<std::size_t>(problem.groups);
  const std::size_t in_cells = problem.mesh.area.size() * groups;
  std::vector<Side> side_list;
  for (const auto& sides : problem.mesh.sides) side_list.insert(side_list.end(), sides.begin(), sides.end());
  std::vector<double> taken_list;
  taken_list.reserve(groups);
  for (int g = 0; g < problem.groups; ++g) taken_list.push_back(problem.taken(g));
  const engine::Array<double> area(context, problem.mesh.area);
  const engine::Array<Side> sides(context, side_list);
  const engine::Array<Vector> directions(context, problem.directions);
  const engine::Array<double> taken(context, taken_list);
  const engine::Array<double> begins(context, std::vector<double>(in_cells, problem.source));
  const engine::Array<double> flux(context, in_cells * problem.directions.size());
  const engine::Array<double> all(context, in_cells);

  const Cells cells{area.data(), sides.data(), problem.mesh.cells(), problem.groups};
  // [snippet run]
  const SweepCell sweep{cells, directions.data(), taken.data(), begins.data(), flux.data()};
  engine::GraphRunner<SweepCell> sweeps(context, plan);

  // Cells do not wait for each other here: a graph without edges.
  const std::vector<taskdag::Offset> no_edges(static_cast<std::size_t>(cells.cells) + 1, 0);
  const engine::GraphPlan apart =
      engine::make_graph_plan(context, {cells.cells, cells.cells, no_edges.data(), nullptr});
  engine::GraphRunner<ScatterInCell> scatters(context, apart);
  for (int i = 0; i < problem.iterations; ++i) {
    sweeps.enqueue_run(sweep);  // on CUDA's default stream: the host waits for none of them
    scatters.enqueue_run({cells, static_cast<int>(problem.directions.size()), problem.source, problem.scattered,
                          flux.data(), all.data(), begins.data()});
  }
  engine::Report report = sweeps.report();
  // [snippet end]
  Result result{all.download(), 0, report.finished() ? "" : report.message};
  if (repeat == 0) return result;

  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; ++i) sweeps.enqueue_run(sweep);
  report = sweeps.report();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
  result.milliseconds = time.count() / repeat;
  return result;
}

}  // namespace sweep
