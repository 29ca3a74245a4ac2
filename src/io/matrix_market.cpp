#include "taskdag/io/matrix_market.hpp"

#include <new>

#include "io/header.hpp"
#include "io/read_file.hpp"
#include "io/scanner.hpp"
#include "io/triplets.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using input::Format;
using input::Header;
using input::Scanner;
using input::Symmetry;
using input::Triplets;

// An entry off the diagonal of a symmetric file is mirrored whichever triangle it lies in. A file that gives both (i,
// j) and (j, i) thus holds each of the two twice, and duplicates are summed.
Triplets read_entries(Scanner& scanner, const Header& header) {
  const bool mirrored = header.symmetry != Symmetry::general;
  const double sign = header.symmetry == Symmetry::skew_symmetric ? -1.0 : 1.0;
  Triplets triplets;
  triplets.rows = header.rows;
  triplets.cols = header.cols;
  triplets.reserve(mirrored ? 2 * header.entries : header.entries);
  for (std::int64_t read = 0; read < header.entries; ++read) {
    input::demand_entry(scanner, header, read);
    const Index i = input::read_index(scanner, "row", header.rows);
    const Index j = input::read_index(scanner, "column", header.cols);
    const double value = input::read_value(scanner, header.field);
    if (i == j && header.symmetry == Symmetry::skew_symmetric) {
      scanner.fail("a skew-symmetric file cannot hold an entry on the diagonal");
    }
    scanner.finish_line();
    triplets.add(i, j, value);
    if (mirrored && i != j) triplets.add(j, i, sign * value);
  }
  input::demand_end(scanner, header);
  return triplets;
}

CsrMatrix parse_matrix(Scanner& scanner, const std::string& name, const ReadOptions& options) {
  const Header header = input::read_header(scanner, options);
  if (header.format == Format::array) input::refuse_unsupported(scanner, "dense (array) matrix");
  checked_offset(header.entries, name);
  Triplets triplets = read_entries(scanner, header);
  checked_offset(std::ssize(triplets.row), name);
  return to_csr(std::move(triplets));
}

std::vector<double> parse_vector(Scanner& scanner, const ReadOptions& options) {
  const Header header = input::read_header(scanner, options);
  if (header.symmetry != Symmetry::general) input::refuse_unsupported(scanner, "symmetric vector");
  if (header.cols != 1) {
    scanner.fail("a vector has one column, this file has " + std::to_string(header.cols));
  }
  std::vector<double> x(static_cast<std::size_t>(header.rows), 0.0);
  for (std::int64_t read = 0; read < header.entries; ++read) {
    input::demand_entry(scanner, header, read);
    if (header.format == Format::array) {
      x.data()[read] = input::read_value(scanner, header.field);
    } else {
      const Index i = input::read_index(scanner, "row", header.rows);
      input::read_index(scanner, "column", header.cols);
      x.data()[i] += input::read_value(scanner, header.field);
    }
    scanner.finish_line();
  }
  input::demand_end(scanner, header);
  return x;
}

[[noreturn]] void refuse_for_memory(const std::string& name) {
  throw OutOfMemory("host memory is exhausted by the content of " + name);
}

/// @returns the options, which are a caller's.
const ReadOptions& checked(const ReadOptions& options) {
  if (options.trusted_rows < 0) throw InvalidInput("ReadOptions::trusted_rows is negative");
  if (options.max_text_bytes < 0) throw InvalidInput("ReadOptions::max_text_bytes is negative");
  return options;
}

}  // namespace

CsrMatrix parse_matrix_market(const char* text, std::size_t size, const std::string& name, const ReadOptions& options) {
  Scanner scanner(text, size, name);
  try {
    return parse_matrix(scanner, name, checked(options));
  } catch (const std::bad_alloc&) {
    refuse_for_memory(name);
  }
}

CsrMatrix read_matrix_market(const std::string& path, const ReadOptions& options) {
  const input::FileText text = input::read_file(path, checked(options));
  return parse_matrix_market(text.bytes.get(), text.size, path, options);
}

std::vector<double> parse_matrix_market_vector(const char* text, std::size_t size, const std::string& name,
                                               const ReadOptions& options) {
  Scanner scanner(text, size, name);
  try {
    return parse_vector(scanner, checked(options));
  } catch (const std::bad_alloc&) {
    refuse_for_memory(name);
  }
}

std::vector<double> read_matrix_market_vector(const std::string& path, const ReadOptions& options) {
  const input::FileText text = input::read_file(path, checked(options));
  return parse_matrix_market_vector(text.bytes.get(), text.size, path, options);
}

}  // namespace taskdag
