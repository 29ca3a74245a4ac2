#include "taskdag/io/matrix_market.hpp"

#include <complex>
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

/// How the field of a file becomes values of this type.
template <class Value>
struct Reader;
template <>
struct Reader<double> {
  using Matrix = CsrMatrix;
  static constexpr auto numbers = input::Numbers::real;
  static double read(Scanner& scanner, input::Field field) { return input::read_value(scanner, field); }
  static double conjugate(double value) { return value; }
};
template <>
struct Reader<std::complex<double>> {
  using Matrix = ComplexMatrix;
  static constexpr auto numbers = input::Numbers::complex;
  static std::complex<double> read(Scanner& scanner, input::Field field) {
    return input::read_complex_value(scanner, field);
  }
  static std::complex<double> conjugate(std::complex<double> value) { return std::conj(value); }
};

// An entry off the diagonal of a symmetric file is mirrored whichever triangle it lies in. A file that gives both (i,
// j) and (j, i) thus holds each of the two twice, and duplicates are summed.
template <class Value>
Triplets<Value> read_entries(Scanner& scanner, const Header& header) {
  const bool mirrored = header.symmetry != Symmetry::general;
  const double sign = header.symmetry == Symmetry::skew_symmetric ? -1.0 : 1.0;
  Triplets<Value> triplets;
  triplets.rows = header.rows;
  triplets.cols = header.cols;
  triplets.reserve(mirrored ? 2 * header.entries : header.entries);
  for (std::int64_t read = 0; read < header.entries; ++read) {
    input::demand_entry(scanner, header, read);
    const Index i = input::read_index(scanner, "row", header.rows);
    const Index j = input::read_index(scanner, "column", header.cols);
    const Value value = Reader<Value>::read(scanner, header.field);
    if (i == j && header.symmetry == Symmetry::skew_symmetric) {
      scanner.fail("a skew-symmetric file cannot hold an entry on the diagonal");
    }
    if (i == j && header.symmetry == Symmetry::hermitian && Reader<Value>::conjugate(value) != value) {
      scanner.fail("the diagonal of a hermitian file is real");
    }
    scanner.finish_line();
    triplets.add(i, j, value);
    const bool conjugated = header.symmetry == Symmetry::hermitian;
    if (mirrored && i != j) triplets.add(j, i, sign * (conjugated ? Reader<Value>::conjugate(value) : value));
  }
  input::demand_end(scanner, header);
  return triplets;
}

template <class Value>
typename Reader<Value>::Matrix parse_matrix(Scanner& scanner, const std::string& name, const ReadOptions& options) {
  const Header header = input::read_header(scanner, options, Reader<Value>::numbers);
  if (header.format == Format::array) input::refuse_unsupported(scanner, "dense (array) matrix");
  checked_offset(header.entries, name);
  Triplets<Value> triplets = read_entries<Value>(scanner, header);
  checked_offset(std::ssize(triplets.row), name);
  return input::to_csr<typename Reader<Value>::Matrix>(std::move(triplets));
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

template <class Value>
typename Reader<Value>::Matrix parse(const char* text, std::size_t size, const std::string& name,
                                     const ReadOptions& options) {
  Scanner scanner(text, size, name);
  try {
    return parse_matrix<Value>(scanner, name, checked(options));
  } catch (const std::bad_alloc&) {
    refuse_for_memory(name);
  }
}

}  // namespace

CsrMatrix parse_matrix_market(const char* text, std::size_t size, const std::string& name, const ReadOptions& options) {
  return parse<double>(text, size, name, options);
}

CsrMatrix read_matrix_market(const std::string& path, const ReadOptions& options) {
  const input::FileText text = input::read_file(path, checked(options));
  return parse_matrix_market(text.bytes.get(), text.size, path, options);
}

ComplexMatrix parse_complex_matrix_market(const char* text, std::size_t size, const std::string& name,
                                          const ReadOptions& options) {
  return parse<std::complex<double>>(text, size, name, options);
}

ComplexMatrix read_complex_matrix_market(const std::string& path, const ReadOptions& options) {
  const input::FileText text = input::read_file(path, checked(options));
  return parse_complex_matrix_market(text.bytes.get(), text.size, path, options);
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
