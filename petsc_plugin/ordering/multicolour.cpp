#include "ordering/multicolour.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "mat/indices.hpp"
#include "mat/matrix_source.hpp"
#include "mat/with_pattern.hpp"
#include "ordering/attached_blocks.hpp"
#include "ordering/matrix_prefix.hpp"
#include "ordering/nodes.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// Empty at first: even an ordering of no rows takes memory, and PETSc's functions must not throw.
using NewOrdering = std::optional<BlockOrdering>;

/// From an ordering of nodes to one of rows.
void expand(const std::vector<Index>& begins, BlockOrdering& ordering) {
  const auto size = [&](Index node) {
    const auto k = static_cast<std::size_t>(node);
    return begins[k + 1] - begins[k];
  };
  std::vector<Index> order;
  order.reserve(static_cast<std::size_t>(begins.back()));
  RowBlocks expanded;
  expanded.colour_offsets = ordering.blocks.colour_offsets;
  for (Index b = 0; b < ordering.blocks.blocks(); ++b) {
    const auto block = static_cast<std::size_t>(b);
    for (Index p = ordering.blocks.block_offsets[block]; p < ordering.blocks.block_offsets[block + 1]; ++p) {
      const Index node = ordering.order[static_cast<std::size_t>(p)];
      const Index first = begins[static_cast<std::size_t>(node)];
      for (Index row = first; row < first + size(node); ++row) order.push_back(row);
    }
    expanded.block_offsets.push_back(static_cast<Index>(order.size()));
  }
  ordering.order = std::move(order);
  ordering.blocks = std::move(expanded);
}

/// From the graph of the nodes, which the host has; an order is the same wherever it is made. It comes to the host.
void order_graph(const Context& context, const CsrPattern& nodes, const std::vector<Index>& begins, PetscInt block_size,
                 MulticolourOptions colours, NewOrdering* ordering) {
  colours.on_device = false;
  const double share = static_cast<double>(nodes.rows) / begins.back();
  if (block_size == 0) block_size = default_block_size(begins.back());
  BlockOrderingOptions options;
  options.block_size = std::max<Index>(1, static_cast<Index>(std::lround(share * static_cast<double>(block_size))));
  ordering->emplace(block_size == 1 ? multicolour(context, nodes, MemorySpace::host, colours)
                                    : block_multicolour(context, nodes, MemorySpace::host, options));
  expand(begins, **ordering);
  (*ordering)->block_size = static_cast<Index>(block_size);
}

/// For matrices that keep blocks: a block is a node. The order is one of rows.
PetscErrorCode order_stored_blocks(Mat matrix, PetscInt block_size, const MulticolourOptions& colours,
                                   NewOrdering* ordering) {
  PetscFunctionBegin;
  std::vector<Index> begins;
  PetscCall(find_nodes(matrix, &begins));
  PetscCall(with_node_pattern(matrix, [&](const Context& context, const CsrPattern& nodes) {
    order_graph(context, nodes, begins, block_size, colours, ordering);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Plain AIJ has looked for nodes itself, unless it was told not to. Other types of AIJ, those on devices among them,
/// never look: there the option says whether they are wanted.
PetscErrorCode nodes_wanted(Mat matrix, bool* wanted) {
  PetscFunctionBegin;
  PetscBool plain = PETSC_FALSE;
  PetscBool off = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &plain));
  if (plain) {
    std::vector<Index> begins;
    PetscCall(find_nodes(matrix, &begins));
    *wanted = !begins.empty();
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  const char* prefix = nullptr;
  PetscCall(MatGetOptionsPrefix(matrix, &prefix));
  PetscCall(PetscOptionsGetBool(nullptr, prefix, "-mat_no_inode", &off, nullptr));
  *wanted = off == PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Leaves `ordering` empty where rows stand for themselves. The pattern is the host's, which PETSc keeps for matrices
/// in device memory, too. `wanted`: where the graph of the nodes is ordered; null: on the host.
PetscErrorCode order_equal_rows(Mat matrix, PetscInt block_size, const MulticolourOptions& colours,
                                const BackendSettings* wanted, NewOrdering* ordering) {
  PetscFunctionBegin;
  PetscBool aij = PETSC_FALSE;
  bool look = false;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &aij));
  if (!aij) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(nodes_wanted(matrix, &look));
  if (!look) PetscFunctionReturn(PETSC_SUCCESS);
  PatternLoan rows;
  NodeGraph graph;
  PetscCall(rows.open(matrix, PETSC_FALSE));
  const PetscErrorCode worked = guarded([&] { graph = find_node_graph(rows.pattern()); });
  PetscCall(rows.close());
  PetscCall(worked);
  if (graph.begins.empty()) PetscFunctionReturn(PETSC_SUCCESS);
  std::optional<BackendChoice> backend;
  BackendSettings settings;
  MatrixSummary summary;
  if (wanted) {
    MatrixSource source;
    settings = *wanted;
    PetscCall(source.inspect(matrix, true));
    summary = {source.rows(), source.on_device()};
    PetscCall(source.reset());
  } else {
    settings.wanted = Backend::host;
  }
  PetscCall(choose_backend(settings, summary, &backend));
  PetscCall(
      guarded([&] { order_graph(backend->context, graph.pattern(), graph.begins, block_size, colours, ordering); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Row by row, and on a GPU the order may stay there: colours.on_device. The graph of A + Aᵀ counts, so the upper
/// triangle alone gives the same.
PetscErrorCode order_rows(Mat matrix, PetscInt block_size, const MulticolourOptions& colours,
                          const BackendSettings* wanted, NewOrdering* ordering) {
  PetscFunctionBegin;
  const BlockOrderingOptions blocks{static_cast<Index>(block_size), colours.on_device};
  PetscCall(with_pattern(
      matrix, true, wanted, [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
        ordering->emplace(block_size == 1 ? multicolour(context, pattern, space, colours, stream)
                                          : block_multicolour(context, pattern, space, blocks, stream));
      }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// An order of rows whose nodes stay whole. `wanted`: where rows are ordered that stand for themselves.
PetscErrorCode order_whole_nodes(Mat matrix, PetscInt block_size, const BackendSettings* wanted, NewOrdering* ordering,
                                 bool on_device = false) {
  PetscFunctionBegin;
  PetscInt stored = 1;
  MulticolourOptions colours;
  colours.on_device = on_device;
  PetscCall(stored_block_size(matrix, &stored));
  if (block_size == 1) PetscCall(read_color_form(matrix, &colours.form));
  if (stored > 1)
    PetscCall(order_stored_blocks(matrix, block_size, colours, ordering));
  else
    PetscCall(order_equal_rows(matrix, block_size, colours, wanted, ordering));
  if (!*ordering) PetscCall(order_rows(matrix, block_size, colours, wanted, ordering));
  if (colours.form == ColourForm::speculative)
    PetscCall(PetscInfo(matrix, "taskdag_color by tasks: %d colours, others in the next run\n",
                        static_cast<int>((*ordering)->blocks.colours())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of matrices that keep blocks PETSc's orders are of these: only the blocks of the ordering are of rows.
PetscErrorCode shrink_order(Mat matrix, BlockOrdering& ordering) {
  PetscFunctionBegin;
  PetscInt stored = 1;
  PetscCall(stored_block_size(matrix, &stored));
  if (stored == 1) PetscFunctionReturn(PETSC_SUCCESS);
  const auto step = static_cast<std::size_t>(stored);
  std::vector<Index>& order = ordering.order;
  for (std::size_t k = 0; k < order.size() / step; ++k) order[k] = order[k * step] / static_cast<Index>(stored);
  order.resize(order.size() / step);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For MatGetOrdering(): two objects. Of one with two references PCILU would give back only one, and PETSc may permute
/// the columns' later.
PetscErrorCode order(Mat matrix, PetscInt block_size, IS* row, IS* col) {
  PetscFunctionBegin;
  NewOrdering ordering;
  PetscCall(order_whole_nodes(matrix, block_size, nullptr, &ordering));
  PetscCall(shrink_order(matrix, *ordering));
  PetscCall(make_index_set_with_blocks(matrix, *ordering, row));
  PetscCall(ISDuplicate(*row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For a preconditioner of our own, which destroys both: one set for rows and columns.
PetscErrorCode order_on(Mat matrix, PetscInt block_size, const BackendSettings& backend, IS* row, IS* col) {
  PetscFunctionBegin;
  NewOrdering ordering;
  PetscCall(order_whole_nodes(matrix, block_size, &backend, &ordering));
  PetscCall(make_index_set_with_blocks(matrix, *ordering, row));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(*row)));
  *col = *row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// For a factor of our own.
PetscErrorCode own_order(Mat matrix, PetscInt block_size, const BackendSettings& backend, OwnOrder* order) {
  PetscFunctionBegin;
  NewOrdering ordering;
  PetscCall(order_whole_nodes(matrix, block_size, &backend, &ordering, true));
  PetscCall(take_own_order(matrix, *ordering, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode order_color(Mat matrix, MatOrderingType, IS* row, IS* col) { return order(matrix, 1, row, col); }

PetscErrorCode order_color_on(Mat matrix, PetscInt /*block_size*/, const BackendSettings& backend, IS* row, IS* col) {
  return order_on(matrix, 1, backend, row, col);
}

PetscErrorCode own_order_color(Mat matrix, PetscInt /*block_size*/, const BackendSettings& backend, OwnOrder* order) {
  return own_order(matrix, 1, backend, order);
}

PetscErrorCode order_bmc(Mat matrix, MatOrderingType, IS* row, IS* col) {
  PetscFunctionBegin;
  PetscInt block_size = 0;
  PetscCall(read_bmc_block_size(matrix, &block_size));
  PetscCall(order(matrix, block_size, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode order_bmc_on(Mat matrix, PetscInt block_size, const BackendSettings& backend, IS* row, IS* col) {
  PetscFunctionBegin;
  if (block_size == 0) PetscCall(read_bmc_block_size(matrix, &block_size));
  PetscCall(order_on(matrix, block_size, backend, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode own_order_bmc(Mat matrix, PetscInt block_size, const BackendSettings& backend, OwnOrder* order) {
  PetscFunctionBegin;
  if (block_size == 0) PetscCall(read_bmc_block_size(matrix, &block_size));
  PetscCall(own_order(matrix, block_size, backend, order));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_color_form(Mat matrix, ColourForm* form) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(read_with_prefixes(matrix, by_color, &settings));
  *form = settings.shared.color_form;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_bmc_block_size(Mat matrix, PetscInt* rows) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(read_with_prefixes(matrix, by_bmc, &settings));
  *rows = settings.shared.bmc_block_size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
