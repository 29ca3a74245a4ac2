#include "right_hand_sides.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/handover.hpp"

namespace taskdag::benchmark {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRelative = 1e-9;
// Denormal numbers have no relative precision; this many of the smallest one is more than sums of them lose.
constexpr double kAbsolute = 1e-317;

enum Kind { normal, one_nan, one_infinity, denormal, mixed, wide_range, zeros, not_yet_bits, all_nan, payloads };

}  // namespace

const char* rhs_kind_name(int kind) {
  static constexpr const char* kNames[kRhsKinds] = {
      "random",     "a NaN", "an infinity",         "denormal numbers", "NaNs and infinities",
      "wide range", "zeros", "the bits of not yet", "all NaN",          "NaNs of any payload"};
  return kNames[kind];
}

std::vector<double> make_rhs(int kind, std::size_t size, std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> b(size);
  for (double& value : b) value = uniform(random);
  const auto somewhere = [&]() -> double& { return b[random() % size]; };
  switch (static_cast<Kind>(kind)) {
    case normal:
      break;
    case one_nan:
      somewhere() = kNaN;
      break;
    case one_infinity:
      somewhere() = uniform(random) < 0.0 ? -kInfinity : kInfinity;
      break;
    case denormal:
      for (double& value : b) value *= 1e-310;
      break;
    case mixed:
      for (int k = 0; k < 4; ++k) somewhere() = kNaN;
      for (int k = 0; k < 4; ++k) somewhere() = kInfinity;
      for (int k = 0; k < 4; ++k) somewhere() = -kInfinity;
      break;
    case wide_range:
      for (double& value : b) value *= std::pow(10.0, 150.0 * uniform(random));
      break;
    case zeros:
      for (double& value : b) value = value < 0.0 ? -0.0 : 0.0;
      break;
    case not_yet_bits:
      for (int k = 0; k < 8; ++k) somewhere() = not_yet();
      break;
    case all_nan:
      std::fill(b.begin(), b.end(), kNaN);
      break;
    case payloads:
      for (int k = 0; k < 8; ++k) somewhere() = from_bits(0x7FF0000000000001ULL | random());
      break;
  }
  return b;
}

bool same_solution(const std::vector<double>& x, const std::vector<double>& reference, NotFinite expected) {
  double size = 0.0;
  for (const double value : reference) {
    if (std::isfinite(value)) size = std::max(size, std::abs(value));
  }
  const double bound = kRelative * size + kAbsolute;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (expected == NotFinite::any && !std::isfinite(reference[i])) {
      if (std::isfinite(x[i])) return false;
    } else if (std::isnan(reference[i])) {
      if (!std::isnan(x[i])) return false;
    } else if (std::isinf(reference[i])) {
      if (x[i] != reference[i]) return false;
    } else if (!(std::abs(x[i] - reference[i]) <= bound)) {
      return false;
    }
  }
  return true;
}

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

}  // namespace taskdag::benchmark
