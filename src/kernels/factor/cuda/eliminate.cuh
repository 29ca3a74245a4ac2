/// \file
/// How the lists are run by a kernel of their own. Each form of rows has a source of its own: a process loads all
/// kernels of a source with the first of them.
#pragma once

#include <cstdint>

#include "kernels/factor/cuda/parameters.cuh"
#include "taskdag/factorization.hpp"

namespace taskdag::kernels::elimination {

/// Threads of a block.
inline constexpr int kEliminateBlock = 128;

/// Blocks of so many threads that registers leave room for. registers: whether rows may be in registers.
constexpr int blocks_per_multiprocessor(RowForm widest, bool registers) {
  return registers ? 4 : widest == RowForm::sum ? 5 : 6;
}
/// The same for rows in registers that are alone in a kernel of warps that stay.
constexpr int blocks_with_registers(int held) { return held == 1 ? 8 : held == 2 ? 5 : 4; }

/// Who takes a ticket: a warp for each task, or a block for a task of each of its warps, which is all that it does.
enum class TicketFor : std::uint8_t { warp, block };

struct EliminateLaunch {
  FactorKind kind;
  TicketFor taker;
  int blocks;
  cudaStream_t stream;
};

/// Runs all tasks, none of whose rows has a form after `Widest`; *next_counter is made 0. kRegisters: whether rows may
/// be in registers; not for patterns all of whose rows are. Asynchronous.
template <RowForm Widest, bool kRegisters = false>
void eliminate(const Parameters& parameters, int* next_counter, const EliminateLaunch& how);

/// Runs all rows, all of which have at most so many registers; *next_counter is made 0. Asynchronous.
template <int kHeld>
void eliminate_ahead(const Parameters& parameters, int* next_counter, FactorKind kind, cudaStream_t stream);

}  // namespace taskdag::kernels::elimination
