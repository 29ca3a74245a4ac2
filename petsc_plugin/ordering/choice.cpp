#include "ordering/choice.hpp"

#include <algorithm>
#include <cmath>

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

/// A level costs at least a hop between multiprocessors, however few rows it has. With many entries a row each cell of
/// a block takes long: then single rows (or nodes) are coloured, where levels are narrow, too. Measured:
/// docs/orderings-blocks.md.
ColouringRule rule_for(PetscInt rows, double per_row) {
  constexpr PetscInt kRowsOfWideLevels = 200;
  if (per_row <= kEntriesOfBlocks) return {MATORDERINGTASKDAGBMC, 10000, kLeastLevels};
  return {MATORDERINGTASKDAGCOLOR, 5000, std::max(kLeastLevels, rows / kRowsOfWideLevels)};
}

/// Grids with 19- or 27-point stencils.
struct LargeStencils {
  bool of_rows = false;    ///< a row a point: small boxes are worth it in spite of many entries
  bool of_points = false;  ///< one or three rows a point: pencils
};

PetscErrorCode find_large_stencils(Mat matrix, LargeStencils* found) {
  PetscFunctionBegin;
  constexpr int kLarge = 19;
  constexpr Index kUnknowns = 3;
  *found = {};
  PetscBool rows = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &rows));
  if (!rows) PetscFunctionReturn(PETSC_SUCCESS);
  PatternLoan loan;
  PetscCall(loan.open(matrix, PETSC_FALSE));
  const PetscErrorCode looked = guarded([&] {
    found->of_rows = grid_stencil(loan.pattern()) >= kLarge;
    found->of_points = found->of_rows || grid_stencil(loan.pattern(), kUnknowns) >= kLarge;
  });
  PetscCall(loan.close());
  PetscCall(looked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode choose_ordering(Mat matrix, const OrderingNeeds& needs, const BackendSettings& backend,
                               OrderingChoice* choice) {
  PetscFunctionBegin;
  bool cuda = false;
  bool grids_in_order = false;
  PetscInt rows = 0;
  PetscInt levels = 0;
  PetscBool upper = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQSBAIJ, &upper));
  PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
  // Levels are those of stored blocks, which are not taken apart to count them.
  PetscInt block_size = 1;
  PetscCall(stored_block_size(matrix, &block_size));
  double per_row = 0.0;
  if (rows > 0) {
    MatInfo info;
    PetscCall(MatGetInfo(matrix, MAT_LOCAL, &info));
    // Where only one triangle is stored, the rows of the other one count, too.
    per_row = (upper ? 2.0 : 1.0) * info.nz_used / static_cast<double>(rows);
  }
  const ColouringRule rule = rule_for(rows, per_row);
  // One thread block goes through a level in less time than multiprocessors through a hop.
  const PetscInt least_rows = std::max(rule.least_rows, needs.small + 1);
  if (needs.fill_levels == 0 && rows > 0) {
    PetscCall(with_pattern(
        matrix, true, &backend,
        [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
          cuda = context.backend() == Backend::cuda;
          grids_in_order = !needs.blocks && runs_grids_in_order(context);
          const Triangle triangle = upper ? Triangle::upper : Triangle::lower;
          if (cuda && rows >= least_rows)
            levels =
                dependency_levels(context, pattern, space, triangle, stream, static_cast<Index>(rule.least_levels));
        },
        block_size));
  }
  const bool deep = cuda && rows >= least_rows && levels >= rule.least_levels;
  LargeStencils stencils;
  if (per_row > kEntriesOfBlocks && cuda && rows >= least_rows && levels >= kLeastLevels && (grids_in_order || !deep))
    PetscCall(find_large_stencils(matrix, &stencils));
  const bool in_order = grids_in_order && stencils.of_points;
  const bool of_boxes = !deep && stencils.of_rows;
  PetscCall(guarded([&] {
    choice->name = in_order   ? MATORDERINGNATURAL
                   : deep     ? rule.name
                   : of_boxes ? MATORDERINGTASKDAGBMC
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
      choice->reason = "auto: " + std::to_string(levels) + (levels == rule.least_levels ? " or more" : "") +
                       " levels for " + std::to_string(rows) + " rows of about " +
                       std::to_string(std::lround(per_row)) + " entries" +
                       (in_order || of_boxes ? ", points of a grid" : "");
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
