/// \file
/// Numbers that a hand-over by value could mistake for something else, and numbers at the ends of the range, in each
/// place of an input, and what may come of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "base/handover.hpp"
#include "fault/watchdog.hpp"
#include "support/effort.hpp"

namespace taskdag::test {

/// Each case of it says what it is at, so that one which hangs is named.
class PayloadFixture : public BackendTest {
 protected:
  ~PayloadFixture() override { watch(""); }
};

struct Number {
  const char* name;
  std::uint64_t bits;
  /// Its inverse is so near the end of the range that rounding decides whether products overflow: no diagonal's.
  bool delicate_inverse = false;
};

inline constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kQuiet = std::uint64_t{1} << 51;
inline constexpr Number kNumbers[] = {
    {"the reserved NaN", kNotYetBits},
    {"its negative", kNotYetBits ^ kSign},
    {"its signalling twin", kNotYetBits ^ kQuiet},
    {"the signalling twin's negative", kNotYetBits ^ kQuiet ^ kSign},
    {"the payload above", kNotYetBits + 1},
    {"the payload below", kNotYetBits - 1},
    {"its high word over zeros", kNotYetBits & 0xFFFFFFFF00000000ULL},
    {"its low word alone", kNotYetBits & 0x00000000FFFFFFFFULL},
    {"the default NaN", 0x7FF8000000000000ULL},
    {"all bits set", ~std::uint64_t{0}},
    {"infinity", 0x7FF0000000000000ULL},
    {"minus infinity", 0xFFF0000000000000ULL},
    {"the smallest subnormal", 1},
    {"minus the largest subnormal", kSign | 0x000FFFFFFFFFFFFFULL, true},
    {"minus zero", kSign},
};

inline double value_of(const Number& number) { return std::bit_cast<double>(number.bits); }

/// How a schedule computes rows, which shows where numbers are not finite.
/// as_they_are: NaN where the reference has one, infinities and zeros likewise.
/// scaled: multiplied by the inverse pivot before they are summed up, as the schedule cells does: where that is
/// infinite the sum of infinities may be a NaN. rewritten: what the reference finds not finite is not finite, and what
/// it finds finite is that number, or not finite since a rewritten row reads more operands.
enum class Rows : std::uint8_t { as_they_are, scaled, rewritten };

/// The same numbers but for rounding.
inline testing::AssertionResult like(const std::vector<double>& x, const std::vector<double>& reference, Rows rows) {
  double size = std::numeric_limits<double>::min();
  for (const double r : reference) {
    if (std::isfinite(r)) size = std::max(size, std::abs(r));
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool close =
        std::isfinite(x[i]) && std::isfinite(reference[i]) && std::abs(x[i] - reference[i]) <= kForwardBound * size;
    const bool same = close || x[i] == reference[i] || (std::isnan(x[i]) && std::isnan(reference[i]));
    if (same || (rows == Rows::rewritten && !std::isfinite(x[i]))) continue;
    if (rows == Rows::scaled && std::isnan(x[i]) && !std::isfinite(reference[i])) continue;
    return testing::AssertionFailure() << "entry " << i << " is " << x[i] << ", the reference's is " << reference[i];
  }
  return testing::AssertionSuccess();
}

inline Rows rows_of(SolveSchedule schedule) {
  const bool rewrites =
      std::ranges::find(solve_schedule_catalogue(), schedule, &SolveScheduleInfo::schedule)->rewrites_rows;
  if (rewrites) return Rows::rewritten;
  return schedule == SolveSchedule::cells || schedule == SolveSchedule::automatic ? Rows::scaled : Rows::as_they_are;
}

inline SolveOutcome outcome_of(const std::vector<double>& x) {
  return all_finite(x) ? SolveOutcome::success : SolveOutcome::non_finite;
}

inline std::vector<Problem> problems() {
  std::vector<Problem> result;
  result.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20, .wind = 0.5})});
  result.push_back({"random", mirrored(make_erdos_renyi_lower(300, 0.02, 5), 0.75)});
  return result;
}

enum class Place { entry, diagonal, right_hand_side };
inline constexpr Place kPlaces[] = {Place::entry, Place::diagonal, Place::right_hand_side};
inline const char* name_of(Place place) {
  return place == Place::entry ? "an entry" : place == Place::diagonal ? "the diagonal" : "the right-hand side";
}

/// The place of row `row`'s entry in the values: the first beside the diagonal in the `triangle`, or, where that is
/// asked for or there is none, the one on the diagonal.
inline std::size_t entry_of(const CsrMatrix& a, Index row, bool diagonal, Triangle triangle) {
  std::size_t found = 0;
  for (auto e = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row)]);
       e < static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(row) + 1]); ++e) {
    const Index column = a.col_indices[e];
    if (!diagonal && (triangle == Triangle::lower ? column < row : column > row)) return e;
    if (column == row) found = e;
  }
  return found;
}

/// Calls body(description, values, b) for each number in each place of some rows; by point blocks of so many rows in
/// the first element of the block that is there.
template <class Body>
void for_each_number(const CsrMatrix& a, Triangle triangle, const Body& body, Index block_size = 1) {
  const std::vector<double> good = right_hand_side(a.rows * block_size);
  const auto elements = static_cast<std::size_t>(block_size) * static_cast<std::size_t>(block_size);
  int count = 0;
  for (const Number& number : kNumbers) {
    for (const Place place : kPlaces) {
      if (place == Place::diagonal && number.delicate_inverse) continue;
      for (const Index row : {Index{0}, a.rows / 2, a.rows - 1}) {
        if (place == Place::entry && row == (triangle == Triangle::lower ? 0 : a.rows - 1)) continue;  // has none
        if (++count % (kSanitized ? 7 : 1) != 0) continue;
        std::vector<double> values = a.values;
        std::vector<double> b = good;
        if (place == Place::right_hand_side) {
          b[static_cast<std::size_t>(row * block_size)] = value_of(number);
        } else {
          values[elements * entry_of(a, row, place == Place::diagonal, triangle)] = value_of(number);
        }
        body(std::string(number.name) + " in " + name_of(place) + " of row " + std::to_string(row), values, b);
      }
    }
  }
}

}  // namespace taskdag::test
