/// \file
/// The wavefront as tasks: a grid of cells, each after its upper and its left neighbour (Kartsaklis et al., "CUDA
/// Grid-Level Task Progression Algorithms", section III).
#pragma once

#include "taskdag/engine/platform.hpp"
#include "taskdag/engine/task_type.hpp"

namespace wavefront {

namespace engine = taskdag::engine;

/// The grid in memory of the backend.
///
/// `state` is the paper's dependency matrix, counted up from zeroed memory: a word per task; the lower four bits count
/// the predecessors that have ended, the bits above sum up their wave numbers (row + column). So the one atomic
/// operation that resolves a dependency also hands a number on, and a task that ran too early, twice or never leaves
/// wrong numbers.
struct Grid {
  static constexpr std::uint32_t kCountBits = 4;

  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t by_diagonals;  ///< state's layout: 0: row by row, 1: diagonal by diagonal, (rows + columns - 1) · rows
  std::uint32_t steps;         ///< of two floating-point operations, per cell; 0: a cell's task computes nothing
  float factor;                ///< -1; a variable, or the compiler would see through the steps
  float summand;               ///< 1
  std::uint32_t* state;        ///< per task
  float* values;               ///< per cell, row by row; with steps or tiles

  [[nodiscard]] TASKDAG_TASK std::size_t place(std::uint32_t row, std::uint32_t column, std::uint32_t of_rows,
                                               std::uint32_t of_columns) const {
    if (by_diagonals != 0) return std::size_t{row + column} * of_rows + row;
    return std::size_t{row} * of_columns + column;
  }
  /// Predecessors of a task.
  TASKDAG_TASK static std::uint32_t needs(std::uint32_t row, std::uint32_t column) {
    return (row > 0 ? 1U : 0U) + (column > 0 ? 1U : 0U);
  }
  /// The number of a wave from the word of one of its tasks.
  TASKDAG_TASK static std::uint32_t wave(std::uint32_t word, std::uint32_t needs) {
    return needs == 0 ? 0 : (word >> kCountBits) / needs + 1U;
  }

  /// x -> 1 - x, `steps` times, then undone where that leaves 1 - x: exact whether or not the compiler fuses the two
  /// operations, so the result can be compared with a closed form.
  [[nodiscard]] TASKDAG_TASK float work(float x) const {
    for (std::uint32_t k = 0; k < steps; ++k) x = x * factor + summand;
    return steps % 2 == 0 ? x : 1.0F - x;
  }
  /// Computes a cell from its neighbours: row + column, by way of the greater neighbour + 1.
  TASKDAG_TASK void compute(std::uint32_t row, std::uint32_t column) const {
    const std::size_t cell = std::size_t{row} * columns + column;
    float greatest = -1.0F;
    if (row > 0) greatest = values[cell - columns];
    if (column > 0 && values[cell - 1] > greatest) greatest = values[cell - 1];
    values[cell] = work(greatest) + 1.0F;
  }

  /// Tells a successor that one more of its predecessors, in wave `wave`, has ended. @returns whether it was the last
  /// acq_rel: the cells' values go with it; relaxed: the word itself is all that is handed on.
  TASKDAG_TASK bool resolve(std::size_t successor, std::uint32_t successor_needs, std::uint32_t wave, bool data) const {
    engine::AtomicRef<std::uint32_t> word(state[successor]);
    const std::uint32_t more = (wave << kCountBits) + 1U;
    const std::uint32_t before = data ? word.fetch_add(more, engine::acq_rel) : word.fetch_add(more, engine::relaxed);
    return (before & ((1U << kCountBits) - 1U)) + 1U == successor_needs;
  }
};

/// Passes a finished task on to its right and its lower neighbour. The right one first: it is the child that may stay
/// with the worker, so a worker keeps to its row, and the lanes of a warp that work on neighbouring rows advance
/// together.
template <class Task, class Context>
TASKDAG_TASK void go_on(Context& context, std::uint32_t row, std::uint32_t column, std::uint32_t rows,
                        std::uint32_t columns, std::uint32_t wave, bool data) {
  const Grid& grid = context.data();
  bool below = false;
  bool right = false;
  if (row + 1 < rows) {
    below = grid.resolve(grid.place(row + 1, column, rows, columns), Grid::needs(row + 1, column), wave, data);
  }
  if (column + 1 < columns) {
    right = grid.resolve(grid.place(row, column + 1, rows, columns), Grid::needs(row, column + 1), wave, data);
  }
  if (right) context.template enqueue<Task>(row * columns + column + 1);
  if (below) context.template enqueue<Task>((row + 1) * columns + column);
}

/// The wave of a task that has begun; fails the run if it began too early.
template <class Context>
TASKDAG_TASK std::uint32_t begin(Context& context, std::uint32_t row, std::uint32_t column, std::uint32_t rows,
                                 std::uint32_t columns) {
  const Grid& grid = context.data();
  const std::uint32_t needs = Grid::needs(row, column);
  const std::uint32_t word =
      engine::AtomicRef<std::uint32_t>(grid.state[grid.place(row, column, rows, columns)]).load(engine::relaxed);
  if ((word & ((1U << Grid::kCountBits) - 1U)) != needs) context.fail(row * columns + column);
  return Grid::wave(word, needs);
}

/// One cell; the item is its number, row by row. Lane 0 of the worker does everything, as in the paper.
template <int Lanes>
struct Cell {
  using Item = std::uint32_t;
  static constexpr auto name = "cell";
  static constexpr engine::WorkerSize worker{Lanes};
  static constexpr int max_children = 2;
  static constexpr bool waits = false;

  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const Item& item) {
    if (context.group().rank() != 0) return;
    const Grid& grid = context.data();
    const std::uint32_t row = item / grid.columns;
    const std::uint32_t column = item % grid.columns;
    const std::uint32_t wave = begin(context, row, column, grid.rows, grid.columns);
    if (grid.steps != 0) grid.compute(row, column);
    go_on<Cell>(context, row, column, grid.rows, grid.columns, wave, grid.steps != 0);
  }
};

}  // namespace wavefront
