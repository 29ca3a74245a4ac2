// Compressed files: the first byte says which compression, and whether the text may be as long as it wants by default.
#include "fuzz/memory_file.hpp"
#include "fuzz/property.hpp"
#include "io/read_file.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace taskdag;
  if (size == 0) return 0;
  constexpr input::Compression kCompressions[] = {input::Compression::gzip, input::Compression::xz,
                                                  input::Compression::bzip2, input::Compression::zstd};
  constexpr std::int64_t kShort = 4096;
  const bool is_short = (data[0] & 4U) != 0;
  const ReadOptions options = {.trusted_rows = 1000, .max_text_bytes = is_short ? kShort : 0};
  const fuzz::MemoryFile memory(data + 1, size - 1);
  try {
    input::InputFile file(memory.open_again(), "input");
    const input::FileText text = input::read_file(file, kCompressions[data[0] & 3U], options);
    fuzz::require(!is_short || text.size <= kShort, "max_text_bytes bounds the text");
    fuzz::require(file.bytes_read() == static_cast<std::int64_t>(size - 1), "the file is read to its end");
    validate(parse_matrix_market(text.bytes.get(), text.size, "input", options).pattern());
  } catch (const Error&) {
  }
  return 0;
}
