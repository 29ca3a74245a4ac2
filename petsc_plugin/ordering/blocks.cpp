#include "ordering/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "boundary.hpp"
#include "mat/matrix_source.hpp"
#include "mat/pattern.hpp"
#include "options.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

constexpr const char* kAttachment = "TaskDAGRowBlocks";

/// What travels with an index set. PETSc keeps it for as long as the set.
struct Attachment {
  std::vector<Index> order;  ///< what the index set points to
  std::shared_ptr<const RowBlocks> blocks;
  std::string text;
  PetscObjectId matrix = 0;  ///< the pattern that the blocks are of
  PetscObjectState pattern = 0;
};

PetscErrorCode destroy_attachment(void* pointer) {
  return guarded([&] { delete static_cast<Attachment*>(pointer); });
}

std::string text_of(const BlockOrdering& ordering) {
  std::string colours = std::to_string(ordering.blocks.colours()) + " colours";
  if (ordering.shape == BlockShape::points) return colours;
  return std::to_string(ordering.blocks.blocks()) + " blocks of about " + std::to_string(ordering.block_size) +
         " rows (" + to_string(ordering.shape) + "), " + colours;
}

/// Takes `ordering` apart.
PetscErrorCode make_index_sets(Mat matrix, BlockOrdering& ordering, IS* row, IS* col) {
  PetscFunctionBegin;
  std::unique_ptr<Attachment> attachment;
  PetscObjectId id = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  PetscCall(guarded([&] {
    attachment = std::make_unique<Attachment>();
    attachment->text = text_of(ordering);
    attachment->order = std::move(ordering.order);
    attachment->blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  }));
  attachment->matrix = id;
  attachment->pattern = matrix->nonzerostate;
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(attachment->order.size()), attachment->order.data(),
                            PETSC_USE_POINTER, row));
  PetscContainer container = nullptr;
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(set_container<destroy_attachment>(container, attachment.release()));
  PetscCall(
      PetscObjectCompose(reinterpret_cast<PetscObject>(*row), kAttachment, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(*row)));
  *col = *row;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null where nothing is attached.
PetscErrorCode attachment_of(IS row, const Attachment** attachment) {
  PetscFunctionBegin;
  *attachment = nullptr;
  PetscObject object = nullptr;
  if (row) PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(row), kAttachment, &object));
  if (object) {
    void* pointer = nullptr;
    PetscCall(PetscContainerGetPointer(reinterpret_cast<PetscContainer>(object), &pointer));
    *attachment = static_cast<const Attachment*>(pointer);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Where the nodes begin in which PETSc has gathered rows of equal pattern; empty where every row is one.
PetscErrorCode find_nodes(Mat matrix, std::vector<Index>* begins) {
  PetscFunctionBegin;
  PetscInt nodes = 0;
  PetscInt rows = 0;
  PetscInt* sizes = nullptr;
  begins->clear();
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  PetscCall(MatInodeGetInodeSizes(matrix, &nodes, &sizes, nullptr));
  if (!sizes || nodes == 0 || nodes == rows) PetscFunctionReturn(PETSC_SUCCESS);
  // Older releases give the nodes' sizes, newer ones the offsets.
  const bool offsets = sizes[0] == 0;
  PetscCall(guarded([&] {
    begins->assign(1, 0);
    for (PetscInt k = 0; k < nodes; ++k) begins->push_back(offsets ? sizes[k + 1] : begins->back() + sizes[k]);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

PetscErrorCode host_context(std::optional<BackendChoice>* backend) {
  BackendSettings settings;
  settings.wanted = Backend::host;
  return choose_backend(settings, {}, backend);
}

/// The ordering of the nodes' graph, expanded.
PetscErrorCode order_nodes(Mat matrix, PetscInt block_size, const std::vector<Index>& begins, BlockOrdering* ordering) {
  PetscFunctionBegin;
  std::optional<BackendChoice> backend;
  PetscCall(host_context(&backend));
  CsrPattern nodes;
  PetscCall(open_pattern(matrix, PETSC_TRUE, &nodes));
  const double share = static_cast<double>(nodes.rows) / begins.back();
  BlockOrderingOptions options;
  options.block_size = std::max<Index>(1, static_cast<Index>(share * block_size));
  PetscCall(guarded([&] {
    *ordering = block_multicolour(backend->context, nodes, MemorySpace::host, options);
    expand(begins, *ordering);
    ordering->block_size = block_size;
  }));
  PetscCall(close_pattern(matrix, PETSC_TRUE, &nodes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lends the pattern to work(context, pattern, space, stream), which may throw. `wanted`: settings; null: the host,
/// unless the matrix lies on a device.
template <class Work>
PetscErrorCode with_pattern(Mat matrix, bool upper_is_enough, const BackendSettings* wanted, const Work& work) {
  PetscFunctionBegin;
  MatrixSource source;
  std::optional<BackendChoice> backend;
  PetscCall(source.inspect(matrix, upper_is_enough));
  BackendSettings settings;
  if (wanted)
    settings = *wanted;
  else
    settings.wanted = source.on_device() ? Backend::cuda : Backend::host;
  PetscCall(choose_backend(settings, {source.rows(), source.on_device()}, &backend));
  const bool cuda = backend->context.backend() == Backend::cuda;
  Stream stream;
  if (cuda) PetscCall(current_stream(&stream));
  PetscCall(source.open(matrix, cuda));
  PetscCall(guarded([&] { work(backend->context, source.view().pattern, source.space(), stream); }));
  PetscCall(source.close());
  PetscCall(source.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Row by row. The graph of A + Aᵀ counts, so the upper triangle alone gives the same.
PetscErrorCode order_rows(Mat matrix, PetscInt block_size, const BackendSettings* wanted, BlockOrdering* ordering) {
  return with_pattern(matrix, true, wanted,
                      [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
                        *ordering = block_multicolour(context, pattern, space, {block_size}, stream);
                      });
}

/// Rows of a block as the options say.
PetscErrorCode block_size_of(Mat matrix, const std::string& name, PetscInt* size) {
  PetscFunctionBegin;
  *size = 1;
  if (name == MATORDERINGTASKDAGCOLOR) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(read_bmc_block_size(size));
  PetscInt rows = 0;
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  if (*size == 0) *size = default_block_size(rows);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode order_of(Mat matrix, MatOrderingType type, IS* row, IS* col) {
  PetscFunctionBegin;
  std::vector<Index> begins;
  BlockOrdering ordering;
  PetscInt block_size = 1;
  PetscCall(block_size_of(matrix, type, &block_size));
  PetscCall(find_nodes(matrix, &begins));
  if (begins.empty())
    PetscCall(order_rows(matrix, block_size, nullptr, &ordering));
  else
    PetscCall(order_nodes(matrix, block_size, begins, &ordering));
  PetscCall(make_index_sets(matrix, ordering, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether the sweeps in natural order are so deep that colours pay: on a GPU a level costs at least a hop between
/// multiprocessors, however few rows it has. With many entries a row there are many colours, and each cell of a colour
/// takes long: measured on an H200, docs/orderings-blocks.md.
constexpr PetscInt kLeastLevels = 100;
bool colours_pay(PetscInt rows, PetscInt levels, double entries_per_row) {
  constexpr PetscInt kLeastRows = 10000;
  constexpr double kMostEntries = 40.0;
  return rows >= kLeastRows && levels >= kLeastLevels && entries_per_row <= kMostEntries;
}

}  // namespace

PetscErrorCode register_block_orderings() {
  PetscFunctionBegin;
  PetscCall(MatOrderingRegister(MATORDERINGTASKDAGCOLOR, order_of));
  PetscCall(MatOrderingRegister(MATORDERINGTASKDAGBMC, order_of));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool is_block_ordering(const std::string& name) {
  return name == MATORDERINGTASKDAGCOLOR || name == MATORDERINGTASKDAGBMC;
}

PetscErrorCode make_block_ordering(Mat matrix, const std::string& name, const BackendSettings& backend, IS* row,
                                   IS* col) {
  PetscFunctionBegin;
  BlockOrdering ordering;
  PetscInt block_size = 1;
  PetscCall(block_size_of(matrix, name, &block_size));
  PetscCall(order_rows(matrix, block_size, &backend, &ordering));
  PetscCall(make_index_sets(matrix, ordering, row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode attached_blocks(Mat matrix, IS row, std::shared_ptr<const RowBlocks>* blocks) {
  PetscFunctionBegin;
  blocks->reset();
  const Attachment* attachment = nullptr;
  PetscCall(attachment_of(row, &attachment));
  if (!attachment) PetscFunctionReturn(PETSC_SUCCESS);
  PetscObjectId id = 0;
  PetscCall(PetscObjectGetId(reinterpret_cast<PetscObject>(matrix), &id));
  if (attachment->matrix == id && attachment->pattern == matrix->nonzerostate) *blocks = attachment->blocks;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode describe_blocks(IS row, std::string* text) {
  PetscFunctionBegin;
  const Attachment* attachment = nullptr;
  PetscCall(attachment_of(row, &attachment));
  PetscCall(guarded([&] { *text = attachment ? attachment->text : ""; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_ordering(Mat matrix, PetscInt fill_levels, const BackendSettings& backend,
                               OrderingChoice* choice) {
  PetscFunctionBegin;
  bool cuda = false;
  PetscInt rows = 0;
  PetscInt levels = 0;
  PetscBool upper = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &upper));
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  if (fill_levels == 0 && rows > 0) {
    PetscCall(with_pattern(matrix, true, &backend,
                           [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
                             cuda = context.backend() == Backend::cuda;
                             const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
                             if (cuda)
                               levels = dependency_levels(context, pattern, space, triangle, stream, kLeastLevels);
                           }));
  }
  double per_row = 0.0;
  if (rows > 0) {
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    // Where only one triangle is stored, the rows of the other one count, too.
    per_row = (upper ? 2.0 : 1.0) * info.nz_used / rows;
  }
  const bool blocks = cuda && colours_pay(rows, levels, per_row);
  PetscCall(guarded([&] {
    choice->name = blocks ? MATORDERINGTASKDAGBMC : MATORDERINGNATURAL;
    if (fill_levels > 0)
      choice->reason = "auto: levels of fill";
    else if (!cuda)
      choice->reason = "auto: host threads";
    else
      choice->reason = "auto: " + std::to_string(levels) + (levels == kLeastLevels ? " or more" : "") + " levels for " +
                       std::to_string(rows) + " rows of about " + std::to_string(std::lround(per_row)) + " entries";
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
