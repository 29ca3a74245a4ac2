/// \file
/// A matrix of a hierarchy as a rank multiplies by it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "compat.hpp"
#include "mat/held.hpp"
#include "mat/operand.hpp"
#include "mat/state.hpp"
#include "taskdag/cycle.hpp"

namespace taskdag::petsc {

/// Whether several ranks have it.
bool is_on_ranks(Mat matrix);
/// PETSc's type of a matrix by rows of entries, on as many ranks.
MatType type_by_rows(Mat matrix);

/// Matrices whose arrays are lent at the same time.
using OpenMatrices = std::vector<std::unique_ptr<OpenMatrix>>;

class RankMatrix {
 public:
  /// What a rank has of a matrix on several ranks.
  enum class Reach {
    dealt_out,    ///< its rows; entries in columns of other ranks stand apart
    all_columns,  ///< its rows, where the operand is on each rank as a whole
    whole         ///< all
  };

  /// Takes pattern and values as they are now. On one rank any reach is all. Collective.
  PetscErrorCode take(Mat matrix, Reach reach);
  /// After take(): lends the arrays, and brings them to where the context works. Not collective.
  PetscErrorCode open(bool any_shape, const Context& context, OpenMatrices* opened);
  // After open(), also when the arrays are lent no more:
  [[nodiscard]] const CsrView& view() const { return inner_.view(); }
  [[nodiscard]] Place place() const { return inner_.place(); }
  /// Of Reach::dealt_out on several ranks.
  [[nodiscard]] CycleOuter outer() const { return {outer_.view(), ghosts_}; }
  [[nodiscard]] Place outer_place() const { return outer_matrix_ ? outer_.place() : Place{}; }
  [[nodiscard]] const std::vector<std::int64_t>& ghosts() const { return ghosts_; }
  PetscErrorCode reset();

 private:
  PetscErrorCode split();
  PetscErrorCode take_rows(bool again);
  PetscErrorCode gather(bool again);
  PetscErrorCode gather_pattern(const CsrView& rows, const std::vector<double>& values);

  MatState of_;  ///< what was taken
  Reach reach_ = Reach::dealt_out;
  Held<Mat> given_;
  Held<Mat> rows_;          ///< with all columns, where they are to be gathered
  Held<Mat> inner_matrix_;  ///< that is read
  Held<Mat> outer_matrix_;  ///< and its entries in columns of other ranks
  std::vector<std::int64_t> ghosts_;
  Operand inner_;
  Operand outer_;
};

}  // namespace taskdag::petsc
