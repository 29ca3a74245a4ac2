#include "ordering/choice.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "mat/pattern.hpp"
#include "mat/with_pattern.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdagpetsc.h"

namespace taskdag::petsc {
namespace {

/// A colouring, and from how many rows and levels of the natural order on it pays on a GPU.
struct ColouringRule {
  MatOrderingType name;
  PetscInt least_rows;
  PetscInt least_levels;
};

constexpr PetscInt kLeastLevels = 100;
/// With more entries a row blocks have many colours.
constexpr double kEntriesOfBlocks = 12.0;

/// A level costs at least a hop between multiprocessors, however few rows it has. With many entries a row each portion
/// of a block takes long: then single rows (or nodes) are coloured, where levels are narrow, too. Measured:
/// docs/orderings-blocks.md.
ColouringRule rule_for(PetscInt rows, double per_row) {
  constexpr PetscInt kRowsOfWideLevels = 200;
  if (per_row <= kEntriesOfBlocks) return {MATORDERINGTASKDAGBMC, 10000, kLeastLevels};
  return {MATORDERINGTASKDAGCOLOR, 5000, std::max(kLeastLevels, rows / kRowsOfWideLevels)};
}

/// Whether the rows look like points of a grid with 19- or 27-point stencils.
PetscErrorCode has_large_stencils(Mat matrix, bool* large) {
  PetscFunctionBegin;
  constexpr int kLarge = 19;
  PatternLoan loan;
  PetscCall(loan.open(matrix, PETSC_FALSE));
  const PetscErrorCode looked = guarded([&] { *large = grid_stencil(loan.pattern()) >= kLarge; });
  PetscCall(loan.close());
  PetscCall(looked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Stored entries a row. Where only one triangle is stored, the rows of the other one count, too.
PetscErrorCode entries_per_row(Mat matrix, PetscInt rows, PetscBool upper, double* per_row) {
  PetscFunctionBegin;
  *per_row = 0.0;
  if (rows > 0) {
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    *per_row = (upper ? 2.0 : 1.0) * info.nz_used / static_cast<double>(rows);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string describe_levels(PetscInt levels, bool or_more, PetscInt rows, double per_row, bool large) {
  return "auto: " + std::to_string(levels) + (or_more ? " or more" : "") + " levels for " + std::to_string(rows) +
         " rows of about " + std::to_string(std::lround(per_row)) + " entries" + (large ? ", points of a grid" : "");
}

}  // namespace

PetscErrorCode choose_ordering(Mat matrix, const OrderingNeeds& needs, const BackendSettings& backend,
                               OrderingChoice* choice) {
  PetscFunctionBegin;
  bool cuda = false;
  bool in_order = false;
  PetscInt rows = 0;
  PetscInt levels = 0;
  PetscBool upper = PETSC_FALSE;
  PetscBool by_rows = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &upper));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &by_rows));
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  // Levels are those of stored blocks, which are not taken apart to count them.
  PetscInt block_size = 1;
  PetscCall(stored_block_size(matrix, &block_size));
  double per_row = 0.0;
  PetscCall(entries_per_row(matrix, rows, upper, &per_row));
  const ColouringRule rule = rule_for(rows, per_row);
  // One thread block goes through a level in less time than multiprocessors through a hop.
  const PetscInt least_rows = std::max(rule.least_rows, needs.small + 1);
  if (needs.fill_levels == 0 && rows > 0) {
    PetscCall(with_pattern(
        matrix, true, &backend,
        [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
          cuda = context.backend() == Backend::cuda;
          if (!cuda || rows < least_rows) return;
          const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
          levels = dependency_levels(context, pattern, space, triangle, stream, static_cast<Index>(rule.least_levels));
          // Not asked elsewhere: it loads kernels.
          if (by_rows && levels >= kLeastLevels && per_row > kEntriesOfBlocks && !needs.blocks)
            in_order = runs_in_order(context, pattern, space, stream);
        },
        block_size));
  }
  const bool deep = cuda && rows >= least_rows && levels >= rule.least_levels;
  // Elsewhere small boxes of rows are worth it in spite of many entries.
  bool large = in_order;
  if (by_rows && !in_order && !deep && per_row > kEntriesOfBlocks && levels >= kLeastLevels)
    PetscCall(has_large_stencils(matrix, &large));
  PetscCall(guarded([&] {
    choice->name = in_order ? MATORDERINGNATURAL
                   : deep   ? rule.name
                   : large  ? MATORDERINGTASKDAGBMC
                            : MATORDERINGNATURAL;
    if (needs.fill_levels > 0)
      choice->reason = "auto: levels of fill";
    else if (!cuda)
      choice->reason = "auto: host threads";
    else if (rows <= needs.small)
      choice->reason = "auto: no more than " + std::to_string(needs.small) + " rows, one thread block";
    else if (rows < least_rows)
      choice->reason = "auto: fewer than " + std::to_string(least_rows) + " rows";
    else
      choice->reason = describe_levels(levels, levels == rule.least_levels, rows, per_row, large);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
