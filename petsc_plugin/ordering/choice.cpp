#include "ordering/choice.hpp"

#include <cmath>

#include "mat/with_pattern.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

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

PetscErrorCode choose_ordering(Mat matrix, PetscInt fill_levels, const BackendSettings& backend,
                               OrderingChoice* choice) {
  PetscFunctionBegin;
  bool cuda = false;
  PetscInt rows = 0;
  PetscInt levels = 0;
  PetscBool upper = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &upper));
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  // Levels are those of stored blocks, which are not taken apart to count them.
  PetscInt block_size = 1;
  PetscCall(stored_block_size(matrix, &block_size));
  if (fill_levels == 0 && rows > 0) {
    PetscCall(with_pattern(
        matrix, true, &backend,
        [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
          cuda = context.backend() == Backend::cuda;
          const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
          if (cuda) levels = dependency_levels(context, pattern, space, triangle, stream, kLeastLevels);
        },
        block_size));
  }
  double per_row = 0.0;
  if (rows > 0) {
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    // Where only one triangle is stored, the rows of the other one count, too.
    per_row = (upper ? 2.0 : 1.0) * info.nz_used / static_cast<double>(rows);
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
