#include "taskdag/block_ordering.hpp"

#include <algorithm>

#include "base/index.hpp"
#include "base/validate_row.hpp"
#include "context/state.hpp"
#include "dag/levels.hpp"
#include "dag/row_blocks.hpp"
#include "kernels/ordering/colouring/block_colouring.hpp"
#include "solver/block_ordering_impl.hpp"
#include "solver/checks.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag {

namespace {

BlockOrdering order_on_host(const Context& context, const CsrPattern& pattern, const kernels::BlockSize& size) {
  host::ThreadPool& pool = *context.state()->pool;
  const kernels::HostGraph graph = kernels::symmetrised_graph(pattern, pool);
  return size.rows == 1 ? kernels::order_by_points(graph.view(), pool)
                        : kernels::order_by_blocks(graph.view(), size, pool);
}

/// For each block or row, which range of `offsets` it lies in.
std::vector<Index> ranges_of(const std::vector<Index>& offsets) {
  std::vector<Index> range(at(offsets.back()));
  for (std::size_t p = 0; p + 1 < offsets.size(); ++p) {
    std::fill(range.begin() + offsets[p], range.begin() + offsets[p + 1], static_cast<Index>(p));
  }
  return range;
}

/// `position`: of each row; empty: as it is.
std::optional<std::string> find_coupled_blocks(const RowBlocks& blocks, const CsrPattern& pattern,
                                               const std::vector<Index>& position) {
  const std::vector<Index> block = ranges_of(blocks.block_offsets);
  const std::vector<Index> colour = ranges_of(blocks.colour_offsets);
  const auto block_of = [&](Index row) { return block[at(position.empty() ? row : position[at(row)])]; };
  for (Index row = 0; row < pattern.rows; ++row) {
    const Index mine = block_of(row);
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      const Index other = block_of(pattern.col_indices[e]);
      if (other != mine && colour[at(other)] == colour[at(mine)]) {
        return "row " + std::to_string(row) + " couples two blocks of colour " + std::to_string(colour[at(mine)]);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

DeviceOrder::~DeviceOrder() = default;

const char* to_string(BlockShape shape) {
  switch (shape) {
    case BlockShape::points:
      return "points";
    case BlockShape::grid:
      return "grid";
    case BlockShape::grown:
      break;
  }
  return "grown";
}

const char* to_string(ColourForm form) {
  switch (form) {
    case ColourForm::automatic:
      return "auto";
    case ColourForm::hashed:
      return "hashed";
    case ColourForm::speculative:
      break;
  }
  return "speculative";
}

Index default_block_size(Index rows) {
  constexpr Index kLeast = 16;
  constexpr Index kMost = 256;
  constexpr Index kBlocks = 256;
  return std::clamp(rows / kBlocks, kLeast, kMost);
}

int grid_stencil(const CsrPattern& pattern) {
  check_shape(pattern, "a stencil");
  if (pattern.rows == 0) return 0;
  const kernels::StencilSample sample = kernels::sample_stencils(pattern.rows, [&](Index row, const auto& add) {
    validate_row(pattern, row);
    for (Offset e = pattern.row_offsets[row]; e < pattern.row_offsets[row + 1]; ++e) {
      if (pattern.col_indices[e] != row) add(pattern.col_indices[e]);
    }
  });
  const auto grid = kernels::find_grid(sample, pattern.rows, {default_block_size(pattern.rows)});
  return grid ? static_cast<int>(grid->stencil) : 0;
}

bool runs_in_order(const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  check_pattern(pattern, space, false, "an ordering");
  if (context.backend() == Backend::host || pattern.rows == 0) return false;
  return with_memory_errors("an ordering", pattern.rows,
                            [&] { return cuda::runs_in_order(context, pattern, space, stream); });
}

BlockOrdering block_multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                const BlockOrderingOptions& options, Stream stream) {
  if (context.backend() == Backend::host) require_host_memory(space);
  if (options.block_size < 0) throw InvalidInput("the block size is negative");
  check_pattern(pattern, space, false, "an ordering");
  const bool asked = options.block_size > 0;
  const kernels::BlockSize size{asked ? options.block_size : default_block_size(pattern.rows), asked};
  if (pattern.rows == 0) {
    BlockOrdering nothing;
    nothing.block_size = size.rows;
    return nothing;
  }
  return with_memory_errors("an ordering", pattern.rows, [&] {
    return context.backend() == Backend::cuda
               ? cuda::order_blocks(context, pattern, space, size, options.on_device, stream)
               : order_on_host(context, pattern, size);
  });
}

BlockOrdering multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                          const MulticolourOptions& options, Stream stream) {
  if (options.form != ColourForm::speculative || pattern.rows == 0) {
    return block_multicolour(context, pattern, space, {.block_size = 1, .on_device = options.on_device}, stream);
  }
  if (context.backend() == Backend::host) require_host_memory(space);
  check_pattern(pattern, space, false, "an ordering");
  return with_memory_errors("an ordering", pattern.rows, [&] {
    return speculative_multicolour(context, pattern, space, options.scheduler, stream);
  });
}

BlockOrdering multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
  return multicolour(context, pattern, space, MulticolourOptions{}, stream);
}

Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space, Triangle triangle,
                        Stream stream, Index most) {
  if (context.backend() == Backend::host) require_host_memory(space);
  check_pattern(pattern, space, false, "a triangular solve");
  if (pattern.rows == 0 || most <= 0) return 0;
  return with_memory_errors("the levels", pattern.rows, [&] {
    return context.backend() == Backend::cuda ? cuda::dependency_levels(context, pattern, space, triangle, stream, most)
                                              : std::min(count_levels(pattern, triangle).levels, most);
  });
}

std::optional<std::string> find_fault(const RowBlocks& blocks, const CsrPattern& pattern,
                                      std::span<const Index> order) {
  validate(pattern, {.square = true});
  const std::vector<Index> position = invert_permutation(order);
  if (!order.empty() && position.size() != at(pattern.rows)) throw InvalidInput("the order is not one of these rows");
  return with_memory_errors("the blocks of an ordering", pattern.rows, [&] {
    auto fault = find_shape_fault(blocks, pattern.rows);
    return fault ? fault : find_coupled_blocks(blocks, pattern, position);
  });
}

}  // namespace taskdag
