#include "taskdag/complex.hpp"

#include "base/index.hpp"
#include "base/whole_blocks.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

/// Element (r, c) of the real block of a number.
double part(const std::complex<double>& number, std::size_t r, std::size_t c) {
  if (r == c) return number.real();
  return r > c ? number.imag() : -number.imag();
}

}  // namespace

void real_blocks(std::span<const std::complex<double>> values, Index block_size, double* blocks) {
  require_whole_blocks(static_cast<std::int64_t>(values.size()), block_size);
  const std::size_t n = at(block_size);
  // The two columns of a number's block are those of its block's column.
  for (std::size_t first = 0; first < values.size(); first += n, blocks += 4 * n) {
    double* const left = blocks;
    double* const right = blocks + 2 * n;
    for (std::size_t r = 0; r < n; ++r) {
      const std::complex<double> number = values[first + r];
      left[2 * r] = number.real();
      left[2 * r + 1] = number.imag();
      right[2 * r] = -number.imag();
      right[2 * r + 1] = number.real();
    }
  }
}

std::vector<double> real_blocks(std::span<const std::complex<double>> values, Index block_size) {
  std::vector<double> blocks(4 * values.size());
  real_blocks(values, block_size, blocks.data());
  return blocks;
}

CsrMatrix real_rows(const CsrPattern& pattern, std::span<const std::complex<double>> values) {
  if (values.size() != at(pattern.entries())) {
    throw InvalidInput(std::to_string(values.size()) + " complex values for " + std::to_string(pattern.entries()) +
                       " entries");
  }
  CsrMatrix real;
  real.rows = checked_offset(std::int64_t{pattern.rows} * 2, "a vector of complex numbers");
  real.cols = checked_offset(std::int64_t{pattern.cols} * 2, "a vector of complex numbers");
  const Offset entries = checked_offset(std::int64_t{pattern.entries()} * 4, "a complex matrix by real rows");
  real.row_offsets.reserve(at(real.rows) + 1);
  real.col_indices.reserve(at(entries));
  real.values.reserve(at(entries));
  for (Index i = 0; i < pattern.rows; ++i) {
    for (std::size_t r = 0; r < 2; ++r) {
      for (Offset e = pattern.row_offsets[i]; e < pattern.row_offsets[i + 1]; ++e) {
        for (std::size_t c = 0; c < 2; ++c) {
          real.col_indices.push_back(2 * pattern.col_indices[e] + static_cast<Index>(c));
          real.values.push_back(part(values[at(e)], r, c));
        }
      }
      real.row_offsets.push_back(static_cast<Offset>(real.col_indices.size()));
    }
  }
  return real;
}

}  // namespace taskdag
