#include "kernels/factor/point_block/pattern.hpp"

#include "base/index.hpp"
#include "dag/transpose.hpp"
#include "kernels/factor/fill/levels.hpp"

namespace taskdag::kernels::point_block {

namespace {

/// The full pattern of a symmetric one whose upper triangle is given, each row beginning with its diagonal entry.
Pattern mirrored(const MappedPattern& upper) {
  const Transposed lower = transpose(upper.view());
  Pattern full;
  full.rows = upper.rows;
  full.row_offsets.reserve(at(upper.rows) + 1);
  full.row_offsets.push_back(0);
  const std::size_t entries = 2 * upper.col_indices.size() - at(upper.rows);
  full.columns.reserve(entries);
  full.source.reserve(entries);
  full.mirror.reserve(entries);
  for (Index i = 0; i < upper.rows; ++i) {
    for (Offset t = lower.row_offsets[at(i)]; lower.col_indices[at(t)] < i; ++t) {
      const Index k = lower.col_indices[at(t)];
      // Row k is complete, and its diagonal is known.
      const Offset right = lower.source_entry[at(t)] - upper.row_offsets[at(k)];
      full.columns.push_back(k);
      full.source.push_back(-1);
      full.mirror.push_back(full.diagonal[at(k)] + right);
    }
    full.diagonal.push_back(static_cast<Offset>(full.columns.size()));
    for (Offset e = upper.row_offsets[at(i)]; e < upper.row_offsets[at(i) + 1]; ++e) {
      full.columns.push_back(upper.col_indices[at(e)]);
      full.source.push_back(upper.source_entry[at(e)]);
      full.mirror.push_back(-1);
    }
    full.row_offsets.push_back(static_cast<Offset>(full.columns.size()));
  }
  return full;
}

}  // namespace

Offset checked_elements(std::int64_t blocks, int n) {
  return checked_offset(blocks * n * n, "a factor by point blocks");
}

Pattern make_pattern(const CsrPattern& blocks, std::span<const Index> row_order, std::span<const Index> col_order,
                     const FactorOptions& options, host::ThreadPool& pool) {
  MappedPattern matrix = permute_pattern(blocks, row_order, col_order);
  static_cast<void>(diagonal_entries(matrix.view(), {row_order, true}));  // names the row that lacks one
  const bool ic = options.kind == FactorKind::ic;
  if (ic) {
    MappedPattern upper = upper_triangle(matrix.view());
    for (Offset& source : upper.source_entry) source = matrix.source_entry[at(source)];
    matrix = std::move(upper);
  }
  if (options.levels > 0) {
    matrix = ic ? fill_upper_pattern(matrix, options.levels, nullptr, pool)
                : fill_pattern(matrix, options.levels, nullptr, pool);
  }
  const std::int64_t count = static_cast<std::int64_t>(matrix.col_indices.size()) * (ic ? 2 : 1);
  static_cast<void>(checked_elements(count, options.block_size));
  if (ic) return mirrored(matrix);
  Pattern pattern;
  pattern.rows = matrix.rows;
  pattern.diagonal = diagonal_entries(matrix.view());
  pattern.row_offsets = std::move(matrix.row_offsets);
  pattern.columns = std::move(matrix.col_indices);
  pattern.source = std::move(matrix.source_entry);
  return pattern;
}

}  // namespace taskdag::kernels::point_block
