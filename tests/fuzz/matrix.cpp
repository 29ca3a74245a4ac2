// Matrix Market files of matrices: what is read is a valid matrix, and reads the same when it has been written.
#include "fuzz/memory_file.hpp"
#include "fuzz/property.hpp"
#include "fuzz/same_values.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag::fuzz {
namespace {

// Few rows without entries: a run shall cost microseconds.
constexpr ReadOptions kOptions = {.trusted_rows = 1000};

void check_read_back(const CsrMatrix& a) {
  const MemoryFile file;
  write_matrix_market(file.path(), a.view());
  const CsrMatrix read = read_matrix_market(file.path(), {.trusted_rows = a.rows});
  require(read.rows == a.rows && read.cols == a.cols, "sizes are read back");
  require(read.row_offsets == a.row_offsets && read.col_indices == a.col_indices, "the pattern is read back");
  require(same_values(read.values, a.values), "values are read back");
}

}  // namespace
}  // namespace taskdag::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taskdag;
  CsrMatrix a;
  try {
    a = parse_matrix_market(reinterpret_cast<const char*>(data), size, "input", fuzz::kOptions);
  } catch (const Error&) {
    return 0;
  }
  validate(a.pattern());
  fuzz::check_read_back(a);
  return 0;
}
