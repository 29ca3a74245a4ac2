#include "rounded_factor.hpp"

#include "dag/transpose.hpp"
#include "taskdag/error.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {
namespace {

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

}  // namespace

bool has_single(SolveSchedule schedule) {
  return solve_schedule_catalogue()[static_cast<std::size_t>(schedule)].single_on_cuda;
}

bool lacks_single(const std::exception& error, Precision precision) {
  return precision == Precision::in_single && dynamic_cast<const Unsupported*>(&error) != nullptr;
}

std::vector<double> reference_application(const Factorization& factorization, const std::vector<double>& b) {
  CsrMatrix lu = factorization.copy_factor();
  if (factorization.info().precision == Precision::in_single) round_to_single(lu);
  return reference_application(lu, b);
}

std::string describe_sweeps(const FactorizationInfo& info) {
  return std::string(to_string(info.lower_schedule)) + "+" + to_string(info.upper_schedule) + ", " +
         to_string(info.precision);
}

}  // namespace taskdag::benchmark
