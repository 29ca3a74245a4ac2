#include "rounded_factor.hpp"

#include "rounding/rounded.hpp"
#include "taskdag/error.hpp"
#include "triangular_case.hpp"

namespace taskdag::benchmark {

bool has_single(SolveSchedule schedule) {
  return solve_schedule_catalogue()[static_cast<std::size_t>(schedule)].single_on_cuda;
}

bool lacks_single(const std::exception& error, Precision precision) {
  return precision == Precision::in_single && dynamic_cast<const Unsupported*>(&error) != nullptr;
}

std::vector<double> reference_application(const Factorization& factorization, const std::vector<double>& b) {
  CsrMatrix lu = factorization.copy_factor();
  if (factorization.info().precision == Precision::in_single) round_factor(lu, Storage::in_single);
  return reference_application(lu, b);
}

std::string describe_sweeps(const FactorizationInfo& info) {
  return std::string(to_string(info.lower_schedule)) + "+" + to_string(info.upper_schedule) + ", " +
         to_string(info.precision);
}

}  // namespace taskdag::benchmark
