/// \file
/// What a rank has of a matrix whose rows are worked on in an order by colours over all ranks.
#pragma once

#include <vector>

#include "across/messages.hpp"
#include "across/numbering.hpp"
#include "compat.hpp"
#include "mat/held.hpp"
#include "taskdag/across_ranks.hpp"

namespace taskdag::petsc {

/// Which rows a part has from others.
enum class GhostRows {
  none,  ///< elements of vectors alone, as SOR needs them
  all    ///< also rows, as factorisations need them
};

/// Own rows of one colour, by their places.
struct ColourRange {
  Index first;
  Index inner;  ///< those from here on are ghosts nowhere
  Index last;
};

/// The part of one rank. All functions that take an object of PETSc are collective.
class RankPart {
 public:
  /// Takes the pattern. `order`, `blocks`: as number_rows(). What one rank alone meets is an error on all.
  PetscErrorCode take(Mat matrix, GhostRows wanted, RowOrder order, const OwnBlocks* blocks);
  /// The pattern for RankFactor or RankSor, which takes it out of here.
  RankRows take_rows() { return std::move(pattern_); }

  /// Where the matrix' entries in columns of own rows are in that pattern, `rows`, in the matrix' order, and those in
  /// other columns; where entries of ghosts' rows come from.
  void list_places(const RankRows& rows, std::vector<Offset>& own, std::vector<Offset>& outer) const;
  [[nodiscard]] GhostEntries ghost_entries() const { return {ghost_rank_, ghost_entry_}; }

  /// The values of own rows in the order of that pattern, which stay here, of a matrix with the same pattern.
  PetscErrorCode read_values(Mat matrix);
  [[nodiscard]] const double* values() const { return values_.data(); }

  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index ghosts() const { return static_cast<Index>(numbering_.ghosts.size()); }
  [[nodiscard]] Index colours() const { return numbering_.colours; }
  [[nodiscard]] ColourRange range(Index colour) const;
  [[nodiscard]] Index colour_of(Index place) const;
  /// The row at a place, by its number in the matrix.
  [[nodiscard]] PetscInt global(Index place) const {
    return first_ + numbering_.order[static_cast<std::size_t>(place)];
  }
  /// The place of the first row of the matrix; −1 on ranks that do not have it.
  [[nodiscard]] Index place_of_first() const;

  /// The order for RankSweeps, and the ghosts' global numbers. It lasts as long as this.
  [[nodiscard]] RankOrder order() const { return {numbering_.begins, numbering_.order}; }
  [[nodiscard]] const std::vector<PetscInt>& ghost_numbers() const { return numbering_.ghosts; }

  /// Elements of vectors, by colour; entries of rows from the diagonal on, by colour.
  [[nodiscard]] const ColourMessages& elements() const { return elements_; }
  [[nodiscard]] const ColourMessages& entries() const { return entries_; }

  /// Calls work(first, last) for the own rows of each colour, Triangle::lower: ascending, upper: descending, and then
  /// copies their roots to leaves: `messages` is elements() or entries(). What the last colour has is needed by no row
  /// of the sweep, and goes out only where `tells_last`. Rows that are ghosts nowhere are worked on meanwhile.
  template <class Work>
  PetscErrorCode sweep(Triangle direction, const ColourMessages& messages, const double* roots, double* leaves,
                       bool tells_last, const Work& work) const {
    PetscFunctionBegin;
    for (Index k = 0; k < colours(); ++k) {
      const Index colour = direction == Triangle::lower ? k : colours() - 1 - k;
      const ColourRange rows = range(colour);
      const bool tells = tells_last || k + 1 < colours();
      work(rows.first, rows.inner);
      if (tells) PetscCall(messages.begin(colour, roots, leaves));
      work(rows.inner, rows.last);
      if (tells) PetscCall(messages.end(colour, roots, leaves));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Between a rank's part of a vector and an array in the order of places.
  void sort(const double* from, double* to) const;
  void sort_back(const double* from, double* to) const;

 private:
  void sort_entries(const OwnPattern& pattern);
  PetscErrorCode take_ghost_rows(const OwnPattern& pattern, MPI_Comm comm);
  PetscErrorCode make_element_messages(MPI_Comm comm);

  Index rows_ = 0;
  PetscInt first_ = 0;
  Numbering numbering_;
  RankRows pattern_;
  std::vector<Offset> target_;  ///< of each entry of own rows as the matrix has them: its place in the pattern
  std::vector<double> values_;
  std::vector<int> ghost_rank_;  ///< of each entry of ghosts' rows
  std::vector<Offset> ghost_entry_;
  ColourMessages elements_;
  ColourMessages entries_;
};

}  // namespace taskdag::petsc
