#include "taskdag/block_jacobi.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/index.hpp"
#include "solver/checks.hpp"
#include "solver/impl.hpp"
#include "taskdag/block_ordering.hpp"

namespace taskdag {

namespace {

void check_blocks(const JacobiBlocks& blocks, Index rows) {
  const std::vector<Index>& offsets = blocks.offsets;
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != rows) {
    throw InvalidInput("the offsets of the blocks of block Jacobi do not go from 0 to the number of rows, " +
                       std::to_string(rows));
  }
  for (std::size_t block = 0; block + 1 < offsets.size(); ++block) {
    const std::int64_t size = std::int64_t{offsets[block + 1]} - offsets[block];
    if (size >= 1 && size <= kMostRowsOfJacobiBlock) continue;
    throw InvalidInput("block " + std::to_string(block) + " of block Jacobi has " + std::to_string(size) +
                       " rows; dense inverses are for 1 to " + std::to_string(kMostRowsOfJacobiBlock));
  }
  check_order(blocks.order, rows, Backend::host, "row");
}

void check_options(const BlockJacobiOptions& options) {
  if (options.sweeps < 1) throw InvalidInput("block Jacobi needs at least one sweep");
  if (!std::isfinite(options.damping) || options.damping == 0.0) {
    throw InvalidInput("the damping of block Jacobi must be finite and not 0");
  }
  if (options.long_row < 0) throw InvalidInput("rows are long from some number of entries on, or never: 0");
}

void require_values(const BlockJacobi::Impl& impl) {
  if (impl.facade.has_values) return;
  throw InvalidInput(impl.facade.tried ? "the last update_values() failed: block Jacobi needs another one first"
                                       : "block Jacobi is applied before its first update_values()");
}

}  // namespace

JacobiBlocks blocks_of_graph(const Context& context, const CsrPattern& pattern, MemorySpace space, Index block_size,
                             Stream stream) {
  if (block_size < 0 || block_size > kMostRowsOfJacobiBlock) {
    throw InvalidInput("blocks of block Jacobi have 1 to " + std::to_string(kMostRowsOfJacobiBlock) + " rows, not " +
                       std::to_string(block_size));
  }
  const Index size = block_size > 0 ? block_size : kDefaultRowsOfJacobiBlock;
  BlockOrdering found = block_multicolour(context, pattern, space, {.block_size = size}, stream);
  return with_memory_errors("block Jacobi", pattern.rows, [&] {
    JacobiBlocks blocks{std::move(found.order), {0}};
    const std::vector<Index>& offsets = found.blocks.block_offsets;
    for (std::size_t block = 0; block + 1 < offsets.size(); ++block) {
      const Index rows = offsets[block + 1] - offsets[block];
      const Index pieces = pieces_of(rows, kMostRowsOfJacobiBlock);
      for (Index piece = 1; piece <= pieces; ++piece) {
        blocks.offsets.push_back(offsets[block] + static_cast<Index>(std::int64_t{rows} * piece / pieces));
      }
    }
    return blocks;
  });
}

JacobiBlocks consecutive_blocks(Index rows, Index block_size) {
  if (block_size < 1) throw InvalidInput("a block has at least one row");
  if (rows < 0) throw InvalidInput("the number of rows is negative");
  return with_memory_errors("block Jacobi", rows, [&] {
    JacobiBlocks blocks;
    while (blocks.offsets.back() < rows)
      blocks.offsets.push_back(end_of_piece(blocks.offsets.back(), block_size, rows));
    return blocks;
  });
}

BlockJacobi::BlockJacobi(const Context& context, const CsrPattern& pattern, MemorySpace space,
                         const JacobiBlocks& blocks, const BlockJacobiOptions& options, Stream stream) {
  const bool cuda = context.backend() == Backend::cuda;
  if (!cuda) require_host_memory(space);
  check_options(options);
  check_pattern(pattern, space, false, "block Jacobi");
  check_blocks(blocks, pattern.rows);
  impl_ = with_memory_errors("block Jacobi", pattern.rows, [&] {
    return cuda ? cuda::make_block_jacobi(context, pattern, space_of(pattern, space), blocks, options, stream)
                : host::make_block_jacobi(context, pattern, blocks, options);
  });
  impl_->facade.keeps_matrix = options.sweeps > 1 || options.keep_matrix;
}

BlockJacobi::~BlockJacobi() = default;
BlockJacobi::BlockJacobi(BlockJacobi&&) noexcept = default;
BlockJacobi& BlockJacobi::operator=(BlockJacobi&&) noexcept = default;

FactorStatus BlockJacobi::update_values(const CsrView& a, MemorySpace space, Stream stream) {
  if (a.pattern.rows != info().rows) {
    throw InvalidInput("new values for " + std::to_string(a.pattern.rows) + " rows, block Jacobi was made for " +
                       std::to_string(info().rows));
  }
  require_array(a.pattern.row_offsets, a.pattern.rows, "row_offsets");
  if (space == MemorySpace::host) {
    require_array(a.pattern.col_indices, a.pattern.entries(), "col_indices");
    require_array(a.values, a.pattern.entries(), "values");
  }
  impl_->check_space(space);
  impl_->refuse_capture(stream, "new values for block Jacobi");
  impl_->facade.has_values = false;
  impl_->facade.tried = true;
  const FactorStatus status = with_memory_errors(
      "block Jacobi", info().rows, [&] { return impl_->update_values(a, space_of(a.pattern, space), stream); });
  impl_->facade.has_values = true;
  return status;
}

void BlockJacobi::apply(const double* b, double* x, MemorySpace space, bool transposed, Stream stream) {
  require_values(*impl_);
  require_array(b, info().rows, "b");
  require_array(x, info().rows, "x");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "block Jacobi with vectors in host memory");
  with_memory_errors("block Jacobi", info().rows, [&] { impl_->apply(b, x, space, transposed, stream); });
}

void BlockJacobi::iterate(const double* b, double* x, MemorySpace space, Stream stream) {
  require_values(*impl_);
  if (!impl_->facade.keeps_matrix) {
    throw InvalidInput("block Jacobi with one sweep has not kept the matrix: ask for keep_matrix");
  }
  require_array(b, info().rows, "b");
  require_array(x, info().rows, "x");
  if (info().rows > 0 && b == x) throw InvalidInput("b and x of sweeps from a vector are two arrays");
  impl_->check_space(space);
  if (space == MemorySpace::host) impl_->refuse_capture(stream, "block Jacobi with vectors in host memory");
  with_memory_errors("block Jacobi", info().rows, [&] { impl_->iterate(b, x, space, stream); });
}

const BlockJacobiInfo& BlockJacobi::info() const { return impl_->info; }

}  // namespace taskdag
