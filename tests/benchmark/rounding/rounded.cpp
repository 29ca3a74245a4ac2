#include "rounded.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include "dag/transpose.hpp"

namespace taskdag::benchmark {

const char* to_string(Storage storage) {
  switch (storage) {
    case Storage::in_double:
      return "double";
    case Storage::in_single:
      return "single";
    case Storage::in_bfloat16:
      break;
  }
  return "bfloat16";
}

double rounded(double value, Storage storage) {
  if (storage == Storage::in_double) return value;
  const auto single = static_cast<float>(value);
  if (storage == Storage::in_single || !std::isfinite(single)) return static_cast<double>(single);
  constexpr std::uint32_t kCut = 16;  // bits
  auto bits = std::bit_cast<std::uint32_t>(single);
  const std::uint32_t odd = bits >> kCut & 1U;
  bits += (1U << (kCut - 1)) - 1U + odd;
  return static_cast<double>(std::bit_cast<float>(bits >> kCut << kCut));
}

void round_factor(CsrMatrix& lu, Storage storage) {
  if (storage == Storage::in_double) return;
  const std::vector<Offset> diagonal = diagonal_entries(lu.pattern());
  for (Index i = 0; i < lu.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double pivot = lu.values[static_cast<std::size_t>(diagonal[row])];
    for (auto e = static_cast<std::size_t>(lu.row_offsets[row]); e < static_cast<std::size_t>(lu.row_offsets[row + 1]);
         ++e) {
      if (lu.col_indices[e] < i) lu.values[e] = rounded(lu.values[e], storage);
      if (lu.col_indices[e] > i) lu.values[e] = rounded(lu.values[e] * (1.0 / pivot), storage) * pivot;
    }
  }
}

}  // namespace taskdag::benchmark
