// Matrix Market files of vectors: what is read reads the same when it has been written.
#include "fuzz/memory_file.hpp"
#include "fuzz/property.hpp"
#include "fuzz/same_values.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taskdag;
  std::vector<double> x;
  try {
    x = parse_matrix_market_vector(reinterpret_cast<const char*>(data), size, "input", {.trusted_rows = 1000});
  } catch (const Error&) {
    return 0;
  }
  const fuzz::MemoryFile file;
  write_matrix_market_vector(file.path(), x);
  fuzz::require(fuzz::same_values(read_matrix_market_vector(file.path()), x), "values are read back");
  return 0;
}
