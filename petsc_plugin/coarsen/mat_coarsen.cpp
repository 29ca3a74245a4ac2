#include "coarsen/mat_coarsen.hpp"

#include "mat/local_block.hpp"
#include "mat/with_pattern.hpp"
#include "shared_error.hpp"
#include "taskdag/aggregation.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// Each step takes several passes over all rows.
constexpr int kMostDistance = 1000;

/// Of the rank's own rows and columns, where its part of the graph lies.
PetscErrorCode aggregate(MatCoarsen coarsen, Aggregation* found) {
  PetscFunctionBegin;
  Mat block = nullptr;
  PetscInt distance = 0;
  PetscCall(local_block(coarsen->graph, &block));
  PetscCall(MatCoarsenMISKGetDistance(coarsen, &distance));
  PetscCheck(distance > 0 && distance <= kMostDistance, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_coarsen_misk_distance must be 1 to %d", kMostDistance);
  const AggregationOptions options{static_cast<int>(distance)};
  PetscCall(with_pattern(block, true, nullptr,
                         [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
                           *found = aggregate_rows(context, pattern, space, options, stream);
                         }));
  PetscCall(PetscInfo(coarsen, "taskdag: %d aggregates of %d rows\n", static_cast<int>(found->count()),
                      static_cast<int>(found->aggregate.size())));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Without a walk to the end of the list, as PetscCDAppendID() has it.
PetscErrorCode prepend(PetscCoarsenData* lists, Index list, PetscInt row) {
  PetscFunctionBegin;
  PetscCDIntNd* const rest = lists->array[list];
  lists->array[list] = nullptr;
  PetscCall(PetscCDAppendID(lists, list, row));
  lists->array[list]->next = rest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Each list is that of a root, which comes first. Rows have PETSc's global numbers in them, the first one `first`.
PetscErrorCode fill_lists(const Aggregation& found, PetscInt first, PetscCoarsenData* lists) {
  PetscFunctionBegin;
  const auto rows = static_cast<Index>(found.aggregate.size());
  lists->chk_sz = rows;  // one piece of memory for all
  for (Index row = rows - 1; row >= 0; --row) {
    const Index aggregate = found.aggregate[static_cast<std::size_t>(row)];
    if (aggregate < 0) continue;
    const Index root = found.roots[static_cast<std::size_t>(aggregate)];
    if (root != row) PetscCall(prepend(lists, root, first + row));
  }
  for (const Index root : found.roots) PetscCall(prepend(lists, root, first + root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// On several ranks GAMG asks a matrix which rows of others are in this rank's aggregates: none.
PetscErrorCode say_no_ghosts(Mat graph, PetscCoarsenData* lists) {
  PetscFunctionBegin;
  PetscInt rows = 0;
  Mat none = nullptr;
  PetscCall(MatGetLocalSize(graph, &rows, nullptr));
  PetscCall(MatCreateAIJ(PetscObjectComm(reinterpret_cast<PetscObject>(graph)), rows, rows, PETSC_DETERMINE,
                         PETSC_DETERMINE, 0, nullptr, 0, nullptr, &none));
  PetscCall(MatAssemblyBegin(none, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(none, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscCDSetMat(lists, none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The order of the rows that PETSc gives for greedy methods does not count, and aggregates do not overlap, whether
/// they are asked to or not.
PetscErrorCode apply(MatCoarsen coarsen) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(coarsen->graph));
  PetscMPIInt ranks = 1;
  PetscInt first = 0;
  PetscInt rows = 0;
  Aggregation found;
  PetscCall(share_error(comm, aggregate(coarsen, &found)));
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(MatGetOwnershipRange(coarsen->graph, &first, nullptr));
  PetscCall(MatGetLocalSize(coarsen->graph, &rows, nullptr));
  PetscCall(PetscCDCreate(rows, &coarsen->agg_lists));
  PetscCall(fill_lists(found, first, coarsen->agg_lists));
  if (ranks > 1) PetscCall(say_no_ghosts(coarsen->graph, coarsen->agg_lists));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_from_options(MatCoarsen coarsen, OptionItems /*items*/) {
  PetscFunctionBegin;
  PetscInt distance = 0;
  PetscBool given = PETSC_FALSE;
  auto* const object = reinterpret_cast<PetscObject>(coarsen);
  PetscCall(PetscOptionsGetInt(object->options, object->prefix, "-mat_coarsen_misk_distance", &distance, &given));
  if (given) PetscCall(MatCoarsenMISKSetDistance(coarsen, distance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(MatCoarsen coarsen, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscInt distance = 0;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  PetscCall(MatCoarsenMISKGetDistance(coarsen, &distance));
  if (ascii)
    PetscCall(PetscViewerASCIIPrintf(viewer, "aggregates: by TaskDAG, around an independent set of distance %d\n",
                                     static_cast<int>(distance)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The distance is where PETSc's `misk` has it, so that MatCoarsenMISKSetDistance() sets it, which GAMG calls whatever
/// the type.
PetscErrorCode create(MatCoarsen coarsen) {
  PetscFunctionBegin;
  coarsen->ops->apply = apply;
  coarsen->ops->setfromoptions = set_from_options;
  coarsen->ops->view = view;
  PetscCall(MatCoarsenMISKSetDistance(coarsen, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode register_coarsen() {
  PetscFunctionBegin;
  PetscCall(MatCoarsenRegister(MATCOARSENTASKDAG, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
