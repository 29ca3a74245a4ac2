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
/// `state` is the paper's dependency matrix, filled up from zeroed memory: a byte per task, four to a word. Bit 0: the
/// upper neighbour has ended, bit 1: the left one has, bits 2 to 7: their wave's number (row + column) modulo 64. So
/// the one atomic operation that resolves a dependency also hands a number on, and a task that runs too early sees it.
/// 10,000 x 10,000 tasks take 100 MB.
struct Grid {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t by_diagonals;  ///< state's layout: 0: row by row, 1: diagonal by diagonal, (rows + columns - 1) · rows
  std::uint32_t steps;         ///< of two floating-point operations, per cell; 0: a cell's task computes nothing
  float factor;                ///< -1; a variable, or the compiler would see through the steps
  float summand;               ///< 1
  std::uint32_t* state;
  float* values;  ///< per cell, row by row; with steps or tiles

  static constexpr std::uint32_t kUpper = 1;
  static constexpr std::uint32_t kLeft = 2;

  [[nodiscard]] TASKDAG_TASK std::size_t place(std::uint32_t row, std::uint32_t column, std::uint32_t of_rows,
                                               std::uint32_t of_columns) const {
    if (by_diagonals != 0) return std::size_t{row + column} * of_rows + row;
    return std::size_t{row} * of_columns + column;
  }
  /// The bits of a task's predecessors.
  TASKDAG_TASK static std::uint32_t needs(std::uint32_t row, std::uint32_t column) {
    return (row > 0 ? kUpper : 0U) | (column > 0 ? kLeft : 0U);
  }
  /// What predecessors in wave `wave` leave in a task's byte.
  TASKDAG_TASK static std::uint32_t mark(std::uint32_t bits, std::uint32_t wave) {
    return bits == 0 ? 0U : bits | (wave % 64U) << 2U;
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

  /// Tells a successor that predecessor `bit` of it, in wave `wave`, has ended. @returns whether none is left
  /// acq_rel: the cells' values go with it; relaxed: the byte itself is all that is handed on.
  TASKDAG_TASK bool resolve(std::size_t successor, std::uint32_t successor_needs, std::uint32_t bit, std::uint32_t wave,
                            bool data) const {
    engine::AtomicRef<std::uint32_t> word(state[successor / 4U]);
    const auto shift = static_cast<std::uint32_t>(successor % 4U * 8U);
    const std::uint32_t more = mark(bit, wave) << shift;
    const std::uint32_t before = data ? word.fetch_or(more, engine::acq_rel) : word.fetch_or(more, engine::relaxed);
    return (((before | more) >> shift) & (kUpper | kLeft)) == successor_needs;
  }
  /// Whether the byte of a task says that all its predecessors have ended.
  [[nodiscard]] TASKDAG_TASK bool resolved(std::size_t task, std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t word = engine::AtomicRef<std::uint32_t>(state[task / 4U]).load(engine::relaxed);
    const std::uint32_t byte = word >> static_cast<std::uint32_t>(task % 4U * 8U) & 0xFFU;
    return byte == mark(needs(row, column), row + column - 1U);
  }
};

/// The end of a task: fails the run if it began too early, and passes on to its right and its lower neighbour. The
/// three memory operations do not depend on each other, so a GPU has them in flight together.
///
/// The right neighbour is created first: it is the child that may stay with the worker. So a worker keeps to its row,
/// and the lanes of a warp that have neighbouring rows advance together: each resolves downwards before any of them
/// looks to its right.
template <class Task, class Context>
TASKDAG_TASK void go_on(Context& context, std::uint32_t row, std::uint32_t column, std::uint32_t rows,
                        std::uint32_t columns, bool data) {
  const Grid& grid = context.data();
  const std::uint32_t wave = row + column;
  bool below = false;
  bool right = false;
  const bool in_order = grid.resolved(grid.place(row, column, rows, columns), row, column);
  if (row + 1 < rows) {
    below = grid.resolve(grid.place(row + 1, column, rows, columns), Grid::needs(row + 1, column), Grid::kUpper, wave,
                         data);
  }
  if (column + 1 < columns) {
    right =
        grid.resolve(grid.place(row, column + 1, rows, columns), Grid::needs(row, column + 1), Grid::kLeft, wave, data);
  }
  if (!in_order) context.fail(row * columns + column);
  if (right) context.template enqueue<Task>(row * columns + column + 1);
  if (below) context.template enqueue<Task>((row + 1) * columns + column);
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
    if (grid.steps != 0) grid.compute(row, column);
    go_on<Cell>(context, row, column, grid.rows, grid.columns, grid.steps != 0);
  }
};

}  // namespace wavefront
