#include "taskdag/csr.hpp"

#include <limits>

#include "base/missing_diagonal.hpp"
#include "base/validate_row.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

[[noreturn]] void refuse_row(Index row, const std::string& message) {
  throw InvalidInput("row " + std::to_string(row) + " " + message);
}

void validate_shape(const CsrPattern& pattern, const CsrRequirements& requirements) {
  const std::string shape = std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols);
  if (pattern.rows < 0 || pattern.cols < 0) throw InvalidInput("the shape " + shape + " is negative");
  if (requirements.square && pattern.rows != pattern.cols) throw InvalidInput("the matrix is not square: " + shape);
  if (pattern.rows > 0 && pattern.row_offsets == nullptr) throw InvalidInput("the row offsets are missing");
}

void validate_row_offsets(const CsrPattern& pattern, Index row) {
  const Offset begin = pattern.row_offsets[row];
  const Offset end = pattern.row_offsets[row + 1];
  if (end < begin) {
    refuse_row(row, "ends at offset " + std::to_string(end) + ", before its start at " + std::to_string(begin));
  }
}

void require_indices(const CsrPattern& pattern) {
  if (pattern.entries() > 0 && pattern.col_indices == nullptr) throw InvalidInput("the column indices are missing");
}

// All offsets come before any column: until they are known to ascend, none of them may be used to read columns.
void validate_offsets(const CsrPattern& pattern) {
  if (pattern.rows == 0) return;
  if (pattern.row_offsets[0] != 0) {
    refuse_row(0, "starts at offset " + std::to_string(pattern.row_offsets[0]) + ", not at 0");
  }
  for (Index row = 0; row < pattern.rows; ++row) validate_row_offsets(pattern, row);
  require_indices(pattern);
}

/// Whether the columns of all rows are in range, ascend and do not repeat: the columns of one row after the other may
/// not ascend only where a row begins. The count over all entries is one that compilers turn into vector instructions.
bool columns_are_right(const CsrPattern& pattern) {
  const Index* const column = pattern.col_indices;
  const Offset entries = pattern.entries();
  Offset falls = 0;
  for (Offset e = 1; e < entries; ++e) falls += column[e] <= column[e - 1] ? 1 : 0;
  Offset at_begins = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    const Offset begin = pattern.row_offsets[row];
    const Offset end = pattern.row_offsets[row + 1];
    if (begin == end) continue;
    if (column[begin] < 0 || column[end - 1] >= pattern.cols) return false;
    if (begin > 0 && column[begin] <= column[begin - 1]) ++at_begins;
  }
  return falls == at_begins;
}

/// Looks at each entry, and names a fault.
void validate_columns(const CsrPattern& pattern, Index row, bool diagonal) {
  bool found = false;
  Index previous = -1;
  for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
    const Index column = pattern.col_indices[e];
    if (column < 0 || column >= pattern.cols) {
      refuse_row(row, "has column " + std::to_string(column) + ", outside 0 … " + std::to_string(pattern.cols - 1));
    }
    if (column == previous) refuse_row(row, "holds column " + std::to_string(column) + " twice");
    if (column < previous) {
      refuse_row(row, "has column " + std::to_string(column) + " after " + std::to_string(previous) +
                          ", not ascending: sort the entries of each row (in PETSc before "
                          "MatCreateSeqAIJWithArrays() and the like, MatSetValues() sorts)");
    }
    found = found || column == row;
    previous = column;
  }
  if (diagonal && !found) refuse_missing_diagonal(row);
}

}  // namespace

void validate(const CsrPattern& pattern, CsrRequirements requirements) {
  validate_shape(pattern, requirements);
  validate_offsets(pattern);
  if (!requirements.diagonal && columns_are_right(pattern)) return;
  for (Index row = 0; row < pattern.rows; ++row) validate_columns(pattern, row, requirements.diagonal);
}

void validate_row(const CsrPattern& pattern, Index row) {
  validate_row_offsets(pattern, row);
  const Offset begin = pattern.row_offsets[row];
  const Offset end = pattern.row_offsets[row + 1];
  // validate() knows this from all rows in turn.
  if (begin < 0 || end > pattern.entries()) {
    refuse_row(row, "has offsets " + std::to_string(begin) + " to " + std::to_string(end) + " of " +
                        std::to_string(pattern.entries()) + " entries");
  }
  require_indices(pattern);
  validate_columns(pattern, row, false);
}

void multiply(const CsrView& a, std::span<const double> x, std::span<double> y) {
  const CsrPattern& pattern = a.pattern;
  if (std::ssize(x) != pattern.cols || std::ssize(y) != pattern.rows) {
    throw InvalidInput("a product with a " + std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols) +
                       " matrix got x of " + std::to_string(x.size()) + " and y of " + std::to_string(y.size()) +
                       " values");
  }
  const double* operand = x.data();
  double* result = y.data();
  for (Index row = 0; row < pattern.rows; ++row) {
    double sum = 0.0;
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      sum += a.values[e] * operand[pattern.col_indices[e]];
    }
    result[row] = sum;
  }
}

Offset checked_offset(std::int64_t count, const std::string& what) {
  if (count < 0) throw InvalidInput(what + " has a negative number of entries, " + std::to_string(count));
  if (count > std::numeric_limits<Offset>::max()) {
    throw InvalidInput(what + " has " + std::to_string(count) + " entries, more than 32-bit offsets can address");
  }
  return static_cast<Offset>(count);
}

}  // namespace taskdag
