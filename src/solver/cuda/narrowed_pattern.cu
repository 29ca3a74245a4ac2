#include <limits>
#include <string>

#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "base/index.hpp"
#include "csr/narrow.hpp"
#include "solver/cuda/input.hpp"
#include "solver/narrowed_pattern_impl.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

namespace {

class CudaNarrowedPattern final : public NarrowedPattern::Impl {
 public:
  CudaNarrowedPattern(Index rows, Offset entries, cudaStream_t s)
      : rows_(rows), offsets_(at(rows) + 1, s), columns_(at(entries), s) {}

  void take(const std::int64_t* row_offsets, const std::int64_t* col_indices, cudaStream_t s) {
    const ScratchArray<int> bad(1, s);
    check(cudaMemsetAsync(bad.data(), 0, sizeof(int), s), "clearing a number");
    const auto entries = static_cast<std::int64_t>(columns_.size());
    kernels::narrow(std::int64_t{rows_} + 1, row_offsets, entries, offsets_.data(), bad.data(), s);
    kernels::narrow(entries, col_indices, std::int64_t{rows_} - 1, columns_.data(), bad.data(), s);
    if (fetch(bad.data(), s) != 0) throw InvalidInput("an offset or a column of the pattern is out of range");
  }

  [[nodiscard]] CsrPattern view() const override { return {rows_, rows_, offsets_.data(), columns_.data()}; }
  [[nodiscard]] std::int64_t bytes() const override { return offsets_.bytes() + columns_.bytes(); }

 private:
  Index rows_;
  DeviceArray<Offset> offsets_;
  DeviceArray<Index> columns_;
};

}  // namespace

std::unique_ptr<NarrowedPattern::Impl> narrow_pattern(Index rows, const std::int64_t* row_offsets,
                                                      const std::int64_t* col_indices, Stream stream) {
  const cudaStream_t s = native(stream);
  const std::int64_t entries = fetch(row_offsets + rows, s);
  if (entries < 0 || entries > std::numeric_limits<Offset>::max()) {
    throw InvalidInput("the pattern has " + std::to_string(entries) + " entries, more than 32-bit offsets can address");
  }
  auto pattern = std::make_unique<CudaNarrowedPattern>(rows, static_cast<Offset>(entries), s);
  pattern->take(row_offsets, col_indices, s);
  return pattern;
}

}  // namespace taskdag::cuda
