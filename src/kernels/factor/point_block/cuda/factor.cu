#include <algorithm>
#include <vector>

#include "backends/cuda/check.hpp"
#include "base/index.hpp"
#include "dag/levels.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"
#include "kernels/factor/point_block/cuda/launches.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// Most elements that a warp keeps in shared memory: of its row (four warps have 64 KiB of it then), and of a row that
/// it needs; and of how many of these.
constexpr int kMostStaged = 2048;
constexpr int kMostFetched = 512;
constexpr int kMostAhead = 4;

/// Most blocks of a row, and of one right of its diagonal.
struct Longest {
  std::int64_t row = 0;
  std::int64_t right = 0;
};
Longest longest_rows(const std::vector<RowEntries>& rows) {
  Longest longest;
  for (const RowEntries& row : rows) {
    longest.row = std::max<std::int64_t>(longest.row, row.end - row.first);
    longest.right = std::max<std::int64_t>(longest.right, row.end - row.diagonal - 1);
  }
  return longest;
}

std::vector<RowEntries> in_order(const Pattern& pattern) {
  std::vector<RowEntries> rows;
  rows.reserve(at(pattern.rows));
  const Schedule schedule(Triangle::lower, compute_levels(pattern.view(), Triangle::lower));
  for (const Index i : schedule.order()) {
    rows.push_back({i, pattern.row_offsets[at(i)], pattern.diagonal[at(i)], pattern.row_offsets[at(i) + 1]});
  }
  return rows;
}

}  // namespace

DeviceFactor::DeviceFactor(const Pattern& pattern, int block_size, cudaStream_t stream)
    : rows_(pattern.rows),
      blocks_(static_cast<Offset>(pattern.columns.size())),
      block_size_(block_size),
      offsets_(cuda::upload(pattern.row_offsets, stream)),
      columns_(cuda::upload(pattern.columns, stream)),
      diagonal_(cuda::upload(pattern.diagonal, stream)),
      source_(cuda::upload(pattern.source, stream)),
      mirror_(cuda::upload(pattern.mirror, stream)),
      values_(pattern.columns.size() * at(block_size) * at(block_size), stream),
      done_(at(pattern.rows) + 1, stream),
      report_(1, stream) {
  const std::vector<RowEntries> rows = in_order(pattern);
  order_ = cuda::upload(rows, stream);
  const Longest longest = longest_rows(rows);
  const int block = block_size * block_size;
  staged_ = static_cast<int>(std::min<std::int64_t>(longest.row * block, kMostStaged));
  const std::int64_t before = pattern.symmetric() ? 2 : 1;
  const std::int64_t wanted = std::min<std::int64_t>((before + longest.right) * block, kMostFetched / block * block);
  fetched_ = wanted >= before * block ? static_cast<int>(wanted) : 0;
  ahead_ = std::clamp(2 * kMostFetched / std::max(fetched_, 1), 1, kMostAhead);
}

FactorReport DeviceFactor::factor(const double* values, const Pivoting& pivoting, cudaStream_t stream) {
  const FactorReport nothing;
  cuda::copy_to_device(report_.data(), &nothing, 1, stream);
  cuda::check(cudaMemsetAsync(done_.data(), 0, done_.size() * sizeof(int), stream), "clearing flags");
  launch_factor({rows_, block_size_, staged_, fetched_, ahead_, offsets_.data(), columns_.data(), diagonal_.data(),
                 source_.data(), mirror_.data(), order_.data(), values, values_.data(), done_.data(),
                 done_.data() + rows_, report_.data(), pivoting},
                stream);
  return cuda::fetch(report_.data(), stream);
}

std::int64_t DeviceFactor::bytes() const {
  return offsets_.bytes() + columns_.bytes() + diagonal_.bytes() + source_.bytes() + mirror_.bytes() + order_.bytes() +
         values_.bytes() + done_.bytes() + report_.bytes();
}

}  // namespace taskdag::kernels::point_block
