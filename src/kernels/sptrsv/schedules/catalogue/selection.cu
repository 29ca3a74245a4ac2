#include <algorithm>

#include "backends/cuda/memory.hpp"
#include "kernels/sptrsv/schedules/catalogue/selection.hpp"
#include "taskdag/error.hpp"

namespace taskdag::kernels {

double free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  cuda::check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<double>(free);
}

const CudaSchedule& Selection::row_of(SolveSchedule schedule) const {
  const auto found = std::ranges::find(rows, schedule, &CudaSchedule::schedule);
  if (found == rows.end()) throw InvalidInput("a sweep on CUDA is made from a CUDA schedule");
  return *found;
}

bool Selection::has_numbers(SolveSchedule schedule) const {
  if (input.complex_numbers) return row_of(schedule).complex_numbers;
  return input.precision == Precision::in_double || kernels::row_of(schedule).single_on_cuda;
}

ExpectedSchedule Selection::choose() {
  for (const CudaSchedule& row : rows) {
    if (row.expect == nullptr || (remaining && !row.takes_remaining)) continue;
    if (!has_numbers(row.schedule)) continue;
    if (keep_rows && kernels::row_of(row.schedule).rewrites_rows) continue;
    const std::optional<Expectation> expected = row.expect(*this);
    if (!expected || !is_better(*expected, best)) continue;
    best = {row.schedule, expected->microseconds};
    if (row.settles != nullptr && row.settles(*this)) break;
  }
  return *best;  // flat runs every triangle
}

}  // namespace taskdag::kernels
