/// \file
/// Matrix Market files: coordinate matrices and array vectors, plain or compressed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "taskdag/complex.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"
#include "taskdag/io/read_options.hpp"

namespace taskdag {

/// Reads a coordinate file (real, integer or pattern; general, symmetric or skew-symmetric) into a full CSR matrix:
/// the mirrored triangle is added, duplicates are summed, pattern entries become 1. Accepts CRLF, comments and blank
/// lines, a byte-order mark of UTF-8, and symmetric files that store either triangle (or both halves mixed).
///
/// Values: NaN and infinities as they are; Fortran's exponents (1.5D+03); what is too small for a double (1e-400) is 0.
/// What is too large for one (1e400) is refused, and in an integer file whole numbers beyond 2^53, which doubles do not
/// hold exactly.
///
/// Names that end in .gz, .xz, .bz2 or .zst are decompressed on the fly, and held against the checksums in them: .gz
/// and .bz2 have such always, .xz and .zst unless their writer left them out.
/// @throws ParseError with file and line for a malformed header or entry, an index out of range, missing or surplus
///         entries, a truncated or corrupt file, sizes beyond `options`; InvalidInput where the result overflows 32-bit
///         offsets; Unsupported for complex, hermitian and array files: the first two are for
///         read_complex_matrix_market().
/// Source: Boisvert, Pozo, Remington, "The Matrix Market Exchange Formats", NISTIR 5935, 1996.
TASKDAG_API CsrMatrix read_matrix_market(const std::string& path, const ReadOptions& options = {});

/// The same from memory; `name` stands for the file in messages. max_text_bytes does not count.
TASKDAG_API CsrMatrix parse_matrix_market(const char* text, std::size_t size, const std::string& name,
                                          const ReadOptions& options = {});

/// The same of complex files, and of real ones; hermitian files get conjugated values in the other triangle, and have a
/// real diagonal. Solvers take real_blocks() or real_rows() of what comes out (taskdag/complex.hpp).
TASKDAG_API ComplexMatrix read_complex_matrix_market(const std::string& path, const ReadOptions& options = {});
TASKDAG_API ComplexMatrix parse_complex_matrix_market(const char* text, std::size_t size, const std::string& name,
                                                      const ReadOptions& options = {});

/// Reads a vector: an array file of n×1, or a coordinate file of n×1 (absent entries are 0).
/// @throws as read_matrix_market
TASKDAG_API std::vector<double> read_matrix_market_vector(const std::string& path, const ReadOptions& options = {});

/// The same from memory, as above.
TASKDAG_API std::vector<double> parse_matrix_market_vector(const char* text, std::size_t size, const std::string& name,
                                                           const ReadOptions& options = {});

/// Writes a general real coordinate file with 17 significant digits: reading it back gives the same bits.
/// @throws Error where the file cannot be written completely
TASKDAG_API void write_matrix_market(const std::string& path, const CsrView& a);

/// Writes an n×1 array file, 17 significant digits.
TASKDAG_API void write_matrix_market_vector(const std::string& path, std::span<const double> x);

}  // namespace taskdag
