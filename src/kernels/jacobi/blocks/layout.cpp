#include "kernels/jacobi/blocks/layout.hpp"

#include <algorithm>
#include <numeric>

#include "base/index.hpp"

namespace taskdag::kernels {

BlockLayout::BlockLayout(const JacobiBlocks& of) {
  const std::vector<Index>& begin = of.offsets;
  const auto row_at = [&](Index position) { return of.order.empty() ? position : of.order[at(position)]; };
  blocks = static_cast<Index>(begin.size()) - 1;
  const auto size_of = [&](Index block) { return begin[at(block) + 1] - begin[at(block)]; };

  std::vector<Index> sorted(at(blocks));
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](Index a, Index b) {
    if (size_of(a) != size_of(b)) return size_of(a) > size_of(b);
    return row_at(begin[at(a)]) < row_at(begin[at(b)]);
  });

  place.resize(at(begin.back()));
  for (const Index block : sorted) {
    const Index size = size_of(block);
    largest = std::max(largest, size);
    block_entries += std::int64_t{size} * size;
    auto first = static_cast<Index>(row.size() % kSliceRows);
    if (first == 0 || first + size > kSliceRows) {  // the first block of a slice is its largest
      row.resize((row.size() + kSliceRows - 1) / kSliceRows * kSliceRows, -1);
      offset.push_back(offset.back() + std::int64_t{size} * kSliceRows);
      first = 0;
    }
    for (Index k = 0; k < size; ++k) {
      place[at(row_at(begin[at(block)] + k))] = static_cast<Index>(row.size());
      row.push_back(row_at(begin[at(block)] + k));
      span.resize(row.size());
      span.back() = {static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(size)};
    }
  }
  row.resize((offset.size() - 1) * kSliceRows, -1);
  span.resize(row.size());
}

BlockSlices BlockLayout::slices() const {
  return {static_cast<Index>(offset.size()) - 1, row.data(), span.data(), place.data(), offset.data()};
}

}  // namespace taskdag::kernels
