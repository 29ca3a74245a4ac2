/// \file
/// Multicolour and block multicolour orderings: independent rows, or independent compact blocks of rows, side by side.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "taskdag/context.hpp"
#include "taskdag/device_order.hpp"
#include "taskdag/engine/report.hpp"
#include "taskdag/export.hpp"
#include "taskdag/row_blocks.hpp"
#include "taskdag/schedule.hpp"

namespace taskdag {

struct BlockOrderingOptions {
  /// Rows that a block is to have, on average: 0: default_block_size(), 1: points, as multicolour() gives them.
  Index block_size = 0;
  /// CUDA: the order stays where it was made, in BlockOrdering::device_order.
  bool on_device = false;
};

/// How the blocks of an ordering came about.
enum class BlockShape {
  points,  ///< a block is a row
  grid,    ///< boxes of a regular grid in its natural order, which the pattern shows
  grown,   ///< grown from seeds, row by row
};

/// "points", "grid", "grown".
TASKDAG_API const char* to_string(BlockShape shape);

struct BlockOrdering {
  std::vector<Index> order;  ///< order[new] = old; empty where it is in device_order
  RowBlocks blocks;          ///< in the new numbering; inside a block rows keep their order
  BlockShape shape = BlockShape::points;
  Index block_size = 0;  ///< what was aimed at
  std::shared_ptr<const DeviceOrder> device_order = {};
};

/// Rows of a block where the user names no size: 256, less where the matrix has fewer than 65536 rows, so that there
/// are 256 blocks, but not below 16. Boxes of grids in space may have others: 512 points with a 7-point stencil and a
/// million rows, 64 with 19 or 27 points (BlockOrdering::block_size).
TASKDAG_API Index default_block_size(Index rows);

/// Points of the stencil, 3 to 27, if rows look like points of a regular grid in its natural order; else 0. 256 rows
/// are looked at, so a long row elsewhere may be missed. `pattern` lies in host memory, whole or one triangle of it; of
/// its rows only those that are looked at are checked. @throws InvalidInput where such a row or the shape is wrong
TASKDAG_API int grid_stencil(const CsrPattern& pattern);

/// Whether the context's device goes through triangles of this pattern as fast in their own order as by blocks: all
/// entries are those of a grid with 19- or 27-point stencils in its natural order, one or three unknowns a point, which
/// the schedule `cells` runs by pencils. Needs CUDA, compute capability 9.0 or newer, and memory for pencils.
/// `pattern` lies in `space`; all of it is looked at on the device. Synchronises `stream`. @throws as
/// block_multicolour()
TASKDAG_API bool runs_in_order(const Context& context, const CsrPattern& pattern, MemorySpace space,
                               Stream stream = {});

/// Block multicolour ordering of the graph of A + Aᵀ, on the context's backend: compact blocks of about the given size,
/// coloured so that coupled blocks differ; rows are sorted by colour, then block, then index.
///
/// Where most rows couple to the same offsets, as on a regular grid in natural order (3-, 5-, 7-, 9-, 19-, 27-point
/// stencils), blocks are boxes of that grid. Elsewhere seeds are chosen at a distance that gives the size (a maximal
/// independent set of that distance, by a hash of the index), blocks grow around them breadth-first, a row joining the
/// block of most of its neighbours; blocks of more than twice the size are cut. A row with very many neighbours is a
/// block by itself, rows without neighbours share blocks. docs/orderings-blocks.md has the details and sources.
///
/// The result depends on the pattern and the options alone: neither on the number of threads, nor on the backend.
/// `pattern` lies in `space`; one in device memory is not copied to the host. Synchronises `stream`.
/// @throws InvalidInput unless the pattern is square and valid (one in device memory is trusted to be), for a negative
///         block size, for device memory on the host backend; DeviceError, OutOfMemory
TASKDAG_API BlockOrdering block_multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                            const BlockOrderingOptions& options = {}, Stream stream = {});

/// How a multicolour ordering finds its colours.
enum class ColourForm {
  automatic,    ///< hashed
  hashed,       ///< the same colours each time, whatever the backend
  speculative,  ///< by tasks of the engine, greedily, conflicts mended: *the colours differ from run to run*, and with
                ///< them the iterations of what is built on them
};
TASKDAG_API const char* to_string(ColourForm form);

struct MulticolourOptions {
  ColourForm form = ColourForm::automatic;
  engine::Scheduler scheduler = engine::Scheduler::automatic;  ///< of the form speculative
  bool on_device = false;                                      ///< as in BlockOrderingOptions; not for speculative
};

/// Multicolour ordering of the graph of A + Aᵀ: rows sorted by colour, then index; every block is one row. As
/// block_multicolour() in everything else, but for the form speculative, whose result is checked, and which takes a
/// pattern in device memory through the host.
TASKDAG_API BlockOrdering multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                      const MulticolourOptions& options, Stream stream = {});
TASKDAG_API BlockOrdering multicolour(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                      Stream stream = {});

/// How many levels the strict `triangle` of a square pattern has: the longest chain of rows that wait for each other in
/// a triangular solve in this order, which is what an ordering by colours shortens. `pattern` lies in `space`.
/// Not more than `most`, where counting may stop. Synchronises `stream`. @throws as block_multicolour()
TASKDAG_API Index dependency_levels(const Context& context, const CsrPattern& pattern, MemorySpace space,
                                    Triangle triangle, Stream stream = {},
                                    Index most = std::numeric_limits<Index>::max());

/// What is wrong with blocks for the host matrix `pattern` renumbered by order[new] = old (empty: as it is), in words;
/// nothing where they keep the contract of RowBlocks. Cost: one pass over the entries, serial.
/// @throws InvalidInput unless `order` is empty or a permutation of the rows
TASKDAG_API std::optional<std::string> find_fault(const RowBlocks& blocks, const CsrPattern& pattern,
                                                  std::span<const Index> order = {});

}  // namespace taskdag
