#include <algorithm>
#include <utility>

#include "backends/cuda/check.hpp"
#include "base/index.hpp"
#include "dag/levels.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/point_block/block.hpp"
#include "kernels/factor/point_block/cuda/factor.hpp"
#include "kernels/factor/point_block/cuda/launches.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// Most elements of a row that a warp keeps in shared memory: four warps have 64 KiB of it then.
constexpr int kMostStaged = 2048;

/// The rows of a triangle by levels, `together` in a warp; −1 fills up the last warp of a level.
std::vector<Index> by_levels(const CsrPattern& pattern, Triangle triangle, int together) {
  const Schedule schedule(triangle, compute_levels(pattern, triangle));
  std::vector<Index> rows;
  rows.reserve(at(pattern.rows));
  for (Index level = 0; level < schedule.levels(); ++level) {
    const auto order = schedule.order().begin();
    const auto offsets = schedule.level_offsets();
    rows.insert(rows.end(), order + offsets[at(level)], order + offsets[at(level) + 1]);
    while (rows.size() % at(together) != 0) rows.push_back(-1);
  }
  return rows;
}

/// Lanes that a row of blocks gets: so many that it takes about two rounds.
int lanes_of_row(const Pattern& pattern, int block_size) {
  const double off_diagonal = static_cast<double>(pattern.columns.size()) - pattern.rows;
  const double in_triangle = pattern.rows > 0 ? off_diagonal / (2.0 * pattern.rows) : 0.0;
  for (const int lanes : {8, 16}) {
    if (lanes >= block_size && in_triangle <= 2.0 * (lanes / block_size)) return lanes;
  }
  return kWarpLanes;
}

SweepOrder make_order(const CsrPattern& pattern, Triangle triangle, int lanes, cudaStream_t stream) {
  const int together = kWarpLanes / lanes;
  const std::vector<Index> rows = by_levels(pattern, triangle, together);
  SweepOrder order;
  order.rows = cuda::upload(rows, stream);
  order.tasks = static_cast<Index>(rows.size() / at(together));
  order.lanes = lanes;
  return order;
}

int longest_row(const Pattern& pattern) {
  Offset most = 0;
  for (Index i = 0; i < pattern.rows; ++i) {
    most = std::max(most, pattern.row_offsets[at(i) + 1] - pattern.row_offsets[at(i)]);
  }
  return most;
}

}  // namespace

DeviceFactor::DeviceFactor(const Pattern& pattern, int block_size, cudaStream_t stream)
    : pattern_(&pattern),
      block_size_(block_size),
      offsets_(cuda::upload(pattern.row_offsets, stream)),
      columns_(cuda::upload(pattern.columns, stream)),
      diagonal_(cuda::upload(pattern.diagonal, stream)),
      source_(cuda::upload(pattern.source, stream)),
      mirror_(cuda::upload(pattern.mirror, stream)),
      order_(cuda::upload(by_levels(pattern.view(), Triangle::lower, 1), stream)),
      lower_(make_order(pattern.view(), Triangle::lower, lanes_of_row(pattern, block_size), stream)),
      upper_(make_order(pattern.view(), Triangle::upper, lanes_of_row(pattern, block_size), stream)),
      values_(pattern.columns.size() * at(block_size) * at(block_size), stream),
      done_(at(pattern.rows) + 1, stream),
      slots_(2 * at(pattern.rows) * at(block_size), stream),
      tickets_(2, stream),
      report_(1, stream) {
  const std::int64_t longest = std::int64_t{longest_row(pattern)} * block_size * block_size;
  staged_ = static_cast<int>(std::min<std::int64_t>(longest, kMostStaged));
}

FactorReport DeviceFactor::factor(const double* values, double amount, cudaStream_t stream) {
  const FactorReport nothing;
  cuda::copy_to_device(report_.data(), &nothing, 1, stream);
  cuda::check(cudaMemsetAsync(done_.data(), 0, done_.size() * sizeof(int), stream), "clearing flags");
  launch_factor({pattern_->rows, block_size_, staged_, offsets_.data(), columns_.data(), diagonal_.data(),
                 source_.data(), mirror_.data(), order_.data(), values, values_.data(), done_.data(),
                 done_.data() + pattern_->rows, report_.data(), amount},
                stream);
  return cuda::fetch(report_.data(), stream);
}

void DeviceFactor::prepare_transposed(cudaStream_t stream) {
  if (transposes()) return;
  const Transposed turned = transpose(pattern_->view());
  const int lanes = lower_.lanes;
  turned_ = Turned{cuda::upload(turned.row_offsets, stream),
                   cuda::upload(diagonal_entries(turned.view()), stream),
                   cuda::upload(turned.col_indices, stream),
                   cuda::upload(turned.source_entry, stream),
                   make_order(turned.view(), Triangle::lower, lanes, stream),
                   make_order(turned.view(), Triangle::upper, lanes, stream)};
}

void DeviceFactor::apply(bool transposed, const double* b, const Index* in, double* x, const Index* out, int* flag,
                         cudaStream_t stream) {
  const bool turn = transposed && !pattern_->symmetric();
  const std::int64_t elements = std::int64_t{pattern_->rows} * block_size_;
  double* const first = slots_.data();
  double* const second = slots_.data() + elements;
  if (start_.must_reset(stream)) launch_reset(first, 2 * elements, tickets_.data(), stream);
  const SweepRows rows = turn ? SweepRows{turned_->offsets.data(), turned_->diagonal.data(), turned_->columns.data(),
                                          turned_->blocks.data()}
                              : SweepRows{offsets_.data(), diagonal_.data(), columns_.data(), nullptr};
  const SweepOrder& lower = turn ? turned_->lower : lower_;
  const SweepOrder& upper = turn ? turned_->upper : upper_;
  // The inverse diagonal blocks belong to U.
  launch_sweep({Triangle::lower, turn, turn, block_size_, lower.lanes, lower.tasks, lower.rows.data(), rows,
                values_.data(), b, in, first, second, nullptr, nullptr, tickets_.data(), tickets_.data() + 1, nullptr},
               stream);
  launch_sweep({Triangle::upper, turn, !turn, block_size_, upper.lanes, upper.tasks, upper.rows.data(), rows,
                values_.data(), first, nullptr, second, first, x, out, tickets_.data() + 1, tickets_.data(), flag},
               stream);
  start_.launched();
}

std::int64_t DeviceFactor::bytes() const {
  std::int64_t sum = offsets_.bytes() + columns_.bytes() + diagonal_.bytes() + source_.bytes() + mirror_.bytes() +
                     order_.bytes() + lower_.rows.bytes() + upper_.rows.bytes() + values_.bytes() + done_.bytes() +
                     slots_.bytes() + tickets_.bytes() + report_.bytes();
  if (turned_) {
    sum += turned_->offsets.bytes() + turned_->diagonal.bytes() + turned_->columns.bytes() + turned_->blocks.bytes() +
           turned_->lower.rows.bytes() + turned_->upper.rows.bytes();
  }
  return sum;
}

}  // namespace taskdag::kernels::point_block
