#include "krylov/shape.hpp"

#include "taskdag/engine/loop/stage.hpp"

namespace taskdag::krylov {

std::vector<std::uint32_t> cut_rows(const CsrPattern& a, std::uint32_t block, int threads) {
  std::vector<std::uint32_t> cut(static_cast<std::size_t>(threads) + 1, 0);
  const std::int64_t work = std::int64_t{a.entries()} + a.rows;
  Index row = 0;
  for (int t = 1; t <= threads; ++t) {
    const std::int64_t share = work * t / threads;
    while (row < a.rows && std::int64_t{a.row_offsets[row + 1]} + row + 1 <= share) ++row;
    cut[static_cast<std::size_t>(t)] = block * static_cast<std::uint32_t>(t == threads ? a.rows : row);
  }
  return cut;
}

int threads_of_loop(const Context& context, std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t least_of_a_thread = 2000;
  return entries + rows < least_of_a_thread * context.threads() ? 1 : context.threads();
}

int threads_of_row(std::int64_t rows, std::int64_t entries) {
  constexpr std::int64_t large = 1000000;
  const std::int64_t of_a_thread = entries > large ? 5 : 8;
  int threads = 1;
  while (threads < 32 && threads * of_a_thread * rows < entries) threads *= 2;
  return threads;
}

std::uint32_t rows_together(const CsrPattern& pattern) {
  static_assert(engine::TaskGroup::most == 3);
  bool in_twos = pattern.rows % 2 == 0;
  bool in_threes = pattern.rows % 3 == 0;
  for (Index row = 1; row < pattern.rows && (in_twos || in_threes); ++row) {
    const bool in_a_two = in_twos && row % 2 != 0;
    const bool in_a_three = in_threes && row % 3 != 0;
    if ((!in_a_two && !in_a_three) || has_columns_of_row_before(pattern, row)) continue;
    in_twos = in_twos && !in_a_two;
    in_threes = in_threes && !in_a_three;
  }
  return in_threes ? 3U : in_twos ? 2U : 1U;
}

}  // namespace taskdag::krylov
