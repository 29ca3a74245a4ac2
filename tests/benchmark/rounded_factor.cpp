#include "rounded_factor.hpp"

#include <vector>

#include "dag/transpose.hpp"

namespace taskdag::benchmark {

bool has_single(SolveSchedule schedule) {
  return solve_schedule_catalogue()[static_cast<std::size_t>(schedule)].single_on_cuda;
}

void round_to_single(CsrMatrix& lu) {
  const auto rounded = [](double value) { return static_cast<double>(static_cast<float>(value)); };
  const std::vector<Offset> diagonal = diagonal_entries(lu.pattern());
  for (Index i = 0; i < lu.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double pivot = lu.values[static_cast<std::size_t>(diagonal[row])];
    for (auto e = static_cast<std::size_t>(lu.row_offsets[row]); e < static_cast<std::size_t>(lu.row_offsets[row + 1]);
         ++e) {
      if (lu.col_indices[e] < i) lu.values[e] = rounded(lu.values[e]);
      if (lu.col_indices[e] > i) lu.values[e] = rounded(lu.values[e] * (1.0 / pivot)) * pivot;
    }
  }
}

}  // namespace taskdag::benchmark
