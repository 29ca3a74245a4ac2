/// \file
/// The first lines of a Matrix Market file: the banner and the sizes.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "io/scanner.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/read_options.hpp"

namespace taskdag::input {

enum class Format { coordinate, array };
enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };
/// What the reader of a file takes: a complex one takes real files, too.
enum class Numbers { real, complex };

struct Header {
  Format format = Format::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Index rows = 0;
  Index cols = 0;
  std::int64_t entries = 0;  ///< lines that follow
};

inline std::string lower_case(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower;
}

[[noreturn]] inline void refuse_unsupported(const Scanner& scanner, const std::string& what) {
  throw Unsupported(scanner.location() + what + " files are not supported");
}

inline void read_banner(Scanner& scanner, Header& header, Numbers numbers) {
  if (lower_case(scanner.word()) != "%%matrixmarket") scanner.fail("the file does not start with '%%MatrixMarket'");
  const auto next = [&scanner](const char* what) {
    std::string word = lower_case(scanner.word());
    if (word.empty()) scanner.fail(std::string("the banner ends before the ") + what);
    return word;
  };
  const auto unknown = [&scanner](const char* what, const std::string& word) {
    scanner.fail(std::string("unknown ") + what + " in the banner: " + Scanner::quoted(word));
  };
  const std::string object = next("object");
  const std::string format = next("format");
  const std::string field = next("field");
  const std::string symmetry = next("symmetry");

  if (object != "matrix") unknown("object", object);
  if (format == "array") {
    header.format = Format::array;
  } else if (format != "coordinate") {
    unknown("format", format);
  }
  const auto demand_complex = [&](const std::string& word) {
    if (numbers == Numbers::real) refuse_unsupported(scanner, word);
  };
  if (field == "complex") {
    demand_complex(field);
    header.field = Field::complex;
  } else if (field == "integer") {
    header.field = Field::integer;
  } else if (field == "pattern") {
    header.field = Field::pattern;
  } else if (field != "real") {
    unknown("field", field);
  }
  if (symmetry == "hermitian") {
    demand_complex(symmetry);
    header.symmetry = Symmetry::hermitian;
  } else if (symmetry == "symmetric") {
    header.symmetry = Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header.symmetry = Symmetry::skew_symmetric;
  } else if (symmetry != "general") {
    unknown("symmetry", symmetry);
  }
  if (header.field == Field::pattern && header.format == Format::array) scanner.fail("an array has values, no pattern");
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric) {
    scanner.fail("a pattern has no signs, it cannot be skew-symmetric");
  }
  scanner.finish_line();
}

inline Index read_dimension(Scanner& scanner, const char* what) {
  const std::int64_t count = scanner.whole_number(what);
  if (count > std::numeric_limits<Index>::max()) {
    throw InvalidInput(scanner.location() + "the " + what + " is " + std::to_string(count) +
                       ", more than 32-bit indices can address");
  }
  return static_cast<Index>(count);
}

/// The rest of the sizes line, from its first field on.
inline void read_sizes(Scanner& scanner, Header& header) {
  header.rows = read_dimension(scanner, "number of rows");
  header.cols = read_dimension(scanner, "number of columns");
  if (header.symmetry != Symmetry::general && header.rows != header.cols) {
    scanner.fail("a symmetric matrix must be square, this one is " + std::to_string(header.rows) + " x " +
                 std::to_string(header.cols));
  }
  header.entries = header.format == Format::coordinate ? scanner.whole_number("number of entries")
                                                       : std::int64_t{header.rows} * header.cols;
  scanner.finish_line();
}

/// Holds the announced sizes against the rest of the text, so that a broken header cannot make the reader ask for
/// memory that the file does not justify.
inline void demand_room(const Scanner& scanner, const Header& header, const ReadOptions& options) {
  const bool array = header.format == Format::array;
  // "1\n", "1 1\n", "1 1 1\n", "1 1 1 1\n"
  const std::int64_t of_entry = header.field == Field::pattern ? 4 : header.field == Field::complex ? 8 : 6;
  const std::int64_t shortest = array ? 2 : of_entry;
  // The end of the line of sizes stands for the last line's, which may be absent.
  const std::int64_t room = scanner.bytes_left() / shortest;
  if (header.entries > room) {
    scanner.fail(std::to_string(header.entries) + " entries are announced, the file has room for " +
                 std::to_string(room) + " at most");
  }
  constexpr std::int64_t kRowsPerByte = 16;
  if (header.rows - options.trusted_rows > kRowsPerByte * scanner.bytes_left()) {
    scanner.fail(std::to_string(header.rows) + " rows are announced, too many for the " +
                 std::to_string(scanner.bytes_left()) + " bytes that follow; ReadOptions::trusted_rows takes more");
  }
}

inline Header read_header(Scanner& scanner, const ReadOptions& options, Numbers numbers = Numbers::real) {
  Header header;
  read_banner(scanner, header, numbers);
  if (!scanner.next_content_line()) scanner.fail("the file ends before the line of sizes");
  read_sizes(scanner, header);
  demand_room(scanner, header, options);
  return header;
}

/// The header of a text of which more may follow: none where it is not complete.
inline std::optional<Header> peek_header(std::string_view text, const std::string& name) {
  text = text.substr(0, text.rfind('\n') + 1);  // a last line without its end may go on
  if (text.empty()) return {};
  Scanner scanner(text.data(), text.size(), name);
  Header header;
  read_banner(scanner, header, Numbers::complex);
  if (!scanner.next_content_line()) return {};
  read_sizes(scanner, header);
  return header;
}

/// Demands one more entry line. `read` entries came before.
inline void demand_entry(Scanner& scanner, const Header& header, std::int64_t read) {
  if (scanner.next_content_line()) return;
  scanner.fail("the file ends after " + std::to_string(read) + " of " + std::to_string(header.entries) + " entries");
}

inline void demand_end(Scanner& scanner, const Header& header) {
  if (scanner.next_content_line())
    scanner.fail("more than the " + std::to_string(header.entries) + " entries announced");
}

inline double read_value(Scanner& scanner, Field field) {
  switch (field) {
    case Field::real:
      return scanner.real();
    case Field::integer:
      return scanner.integer();
    case Field::pattern:
    case Field::complex:
      break;
  }
  return 1.0;
}

inline std::complex<double> read_complex_value(Scanner& scanner, Field field) {
  if (field != Field::complex) return read_value(scanner, field);
  const double real = scanner.real();
  return {real, scanner.real()};
}

/// @returns a 0-based index of one that is 1-based in the file.
inline Index read_index(Scanner& scanner, const char* what, Index limit) {
  const std::int64_t index = scanner.whole_number(what);
  if (index < 1 || index > limit) {
    scanner.fail(std::string("the ") + what + " is " + std::to_string(index) + ", outside 1 … " +
                 std::to_string(limit));
  }
  return static_cast<Index>(index - 1);
}

}  // namespace taskdag::input
