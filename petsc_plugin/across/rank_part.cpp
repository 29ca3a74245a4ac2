#include "across/rank_part.hpp"

#include <algorithm>
#include <numeric>

#include "mat/indices.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// The matrix by rows of entries: itself, or a copy.
PetscErrorCode as_aij(Mat matrix, Held<Mat>* aij) {
  PetscFunctionBegin;
  PetscBool local = PETSC_FALSE;
  PetscBool spread = PETSC_FALSE;
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATSEQAIJ, &local));
  PetscCall(PetscObjectBaseTypeCompare(reinterpret_cast<PetscObject>(matrix), MATMPIAIJ, &spread));
  if (local || spread)
    PetscCall(aij->share(matrix));
  else
    PetscCall(MatConvert(matrix, MATAIJ, MAT_INITIAL_MATRIX, aij->out()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Rows of ghosts as their ranks have them, from the diagonal on.
struct FetchedRows {
  std::vector<Offset> offsets;    ///< by ghost, and the end
  std::vector<PetscSFNode> from;  ///< by entry: where it is
  std::vector<PetscInt> columns;  ///< global
};

/// Counts the entries and says where they are. bounds: of own rows, then of ghosts, where entries begin and end.
void list_entries(const Numbering& numbering, const PetscSFNode* owners, std::span<const Offset> begins,
                  std::span<const Offset> ends, FetchedRows& rows) {
  const std::size_t own = numbering.order.size();
  rows.offsets.push_back(0);
  for (std::size_t g = 0; g < numbering.ghosts.size(); ++g) {
    for (Offset e = begins[own + g]; e < ends[own + g]; ++e) rows.from.push_back({owners[g].rank, e});
    rows.offsets.push_back(checked_offset(static_cast<std::int64_t>(rows.from.size()), "rows of other ranks"));
  }
}

PetscErrorCode get_owners(PetscSF forest, const PetscSFNode** owners) {
  PetscFunctionBegin;
  PetscCall(PetscSFGetGraph(forest, nullptr, nullptr, nullptr, owners));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// `global`: of the columns of own rows, by entry. Collective.
PetscErrorCode fetch_rows(MPI_Comm comm, const Numbering& numbering, const RankRows& own,
                          const std::vector<PetscInt>& global, FetchedRows* rows) {
  PetscFunctionBegin;
  const std::size_t count = numbering.order.size();
  std::vector<Offset> begins;
  std::vector<Offset> ends;
  const PetscSFNode* owners = nullptr;
  PetscCall(guarded(comm, [&] {
    begins.resize(count + numbering.ghosts.size());
    ends.resize(begins.size());
    for (std::size_t row = 0; row < count; ++row) {
      begins[row] = own.diagonals[at(numbering.place[row])];
      ends[row] = own.offsets[at(numbering.place[row]) + 1];
    }
  }));
  PetscCall(broadcast(numbering.forest, MPI_INT, begins.data(), begins.data() + count));
  PetscCall(broadcast(numbering.forest, MPI_INT, ends.data(), ends.data() + count));
  PetscCall(get_owners(numbering.forest, &owners));
  PetscCall(guarded(comm, [&] {
    list_entries(numbering, owners, begins, ends, *rows);
    rows->columns.resize(rows->from.size());
  }));
  Held<PetscSF> entries;
  PetscCall(PetscSFCreate(comm, entries.out()));
  PetscCall(PetscSFSetGraph(entries, own.own_entries(), static_cast<PetscInt>(rows->from.size()), nullptr,
                            PETSC_OWN_POINTER, rows->from.data(), PETSC_USE_POINTER));
  PetscCall(broadcast(entries, MPIU_INT, global.data(), rows->columns.data()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

/// Colour and sequence say where a column stands in a row; in the matrix' order the sequence alone, as on one rank.
void RankPart::sort_entries(const OwnPattern& pattern) {
  struct Entry {
    Index colour;
    PetscInt sequence;
    Index column;
    Offset entry;
  };
  std::vector<Entry> row;
  const bool by_colours = numbering_.row_order == RowOrder::by_colours;
  target_.resize(pattern.columns.size());
  values_.resize(pattern.columns.size());
  pattern_.rows = rows_;
  pattern_.offsets.reserve(at(rows_) + 1);
  pattern_.offsets.push_back(0);
  pattern_.columns.reserve(pattern.columns.size());
  for (const Index i : numbering_.order) {
    row.clear();
    for (Offset e = pattern.offsets[at(i)]; e < pattern.offsets[at(i) + 1]; ++e) {
      const PetscInt global = pattern.columns[at(e)];
      const bool own = pattern.owns(global);
      const Index j = own ? static_cast<Index>(global - first_) : rows_ + numbering_.find_ghost(global);
      row.push_back({by_colours ? numbering_.colour[at(j)] : 0, numbering_.sequence[at(j)],
                     own ? numbering_.place[at(j)] : j, e});
    }
    std::ranges::sort(row, {}, [](const Entry& entry) { return std::pair(entry.colour, entry.sequence); });
    for (const Entry& entry : row) {
      if (entry.column == numbering_.place[at(i)])
        pattern_.diagonals.push_back(static_cast<Offset>(pattern_.columns.size()));
      target_[at(entry.entry)] = static_cast<Offset>(pattern_.columns.size());
      pattern_.columns.push_back(entry.column);
    }
    pattern_.offsets.push_back(static_cast<Offset>(pattern_.columns.size()));
  }
}

/// Appends them, without the columns that the rank does not know: no row of its own has any of these.
PetscErrorCode RankPart::take_ghost_rows(const OwnPattern& pattern, MPI_Comm comm) {
  PetscFunctionBegin;
  FetchedRows fetched;
  std::vector<PetscInt> global;
  std::vector<Index> colour;
  std::vector<PetscSFNode> from;
  PetscCall(guarded(comm, [&] {
    global.resize(pattern.columns.size());
    for (std::size_t e = 0; e < global.size(); ++e) global[at(target_[e])] = pattern.columns[e];
  }));
  PetscCall(fetch_rows(comm, numbering_, pattern_, global, &fetched));
  PetscCall(guarded(comm, [&] {
    pattern_.ghosts = ghosts();
    for (Index g = 0; g < ghosts(); ++g) {
      pattern_.diagonals.push_back(static_cast<Offset>(pattern_.columns.size()));
      for (Offset e = fetched.offsets[at(g)]; e < fetched.offsets[at(g) + 1]; ++e) {
        const PetscInt column = fetched.columns[at(e)];
        const Index ghost = pattern.owns(column) ? -1 : numbering_.find_ghost(column);
        if (!pattern.owns(column) && ghost < 0) continue;
        pattern_.columns.push_back(ghost < 0 ? numbering_.place[at(static_cast<Index>(column - first_))]
                                             : rows_ + ghost);
        colour.push_back(numbering_.colour[at(rows_ + g)]);
        from.push_back(fetched.from[at(e)]);
        ghost_rank_.push_back(static_cast<int>(fetched.from[at(e)].rank));
        ghost_entry_.push_back(static_cast<Offset>(fetched.from[at(e)].index));
      }
      pattern_.offsets.push_back(checked_offset(static_cast<std::int64_t>(pattern_.columns.size()), "a rank's rows"));
    }
  }));
  PetscCall(entries_.make(comm, pattern_.own_entries(), colour, from, colours()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankPart::make_element_messages(MPI_Comm comm) {
  PetscFunctionBegin;
  std::vector<Index> place;
  std::vector<PetscSFNode> from;
  const PetscSFNode* owners = nullptr;
  PetscCall(guarded(comm, [&] { place.resize(at(ghosts())); }));
  PetscCall(broadcast(numbering_.forest, MPI_INT, numbering_.place.data(), place.data()));
  PetscCall(get_owners(numbering_.forest, &owners));
  PetscCall(guarded(comm, [&] {
    for (Index g = 0; g < ghosts(); ++g) from.push_back({owners[g].rank, place[at(g)]});
  }));
  const std::span<const Index> colour(numbering_.colour.begin() + rows_, numbering_.colour.end());
  PetscCall(elements_.make(comm, rows_, colour, from, colours()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode RankPart::take(Mat matrix, GhostRows wanted, RowOrder order, const OwnBlocks* blocks) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  OwnPattern pattern;
  Held<Mat> aij;
  PetscCall(as_aij(matrix, &aij));
  PetscCall(share_error(comm, read_own_pattern(aij, &pattern)));
  PetscCall(number_rows(aij, pattern, order, blocks, &numbering_));
  rows_ = pattern.rows;
  first_ = pattern.first;
  PetscCall(guarded(comm, [&] { sort_entries(pattern); }));
  pattern_.blocks = std::move(numbering_.blocks);
  PetscCall(make_element_messages(comm));
  if (wanted == GhostRows::all) PetscCall(take_ghost_rows(pattern, comm));
  pattern_.ghosts = ghosts();
  PetscFunctionReturn(PETSC_SUCCESS);
}

void RankPart::list_places(const RankRows& rows, std::vector<Offset>& own, std::vector<Offset>& outer) const {
  for (const Offset place : target_) (rows.columns[at(place)] < rows_ ? own : outer).push_back(place);
}

PetscErrorCode RankPart::read_values(Mat matrix) {
  PetscFunctionBegin;
  Held<Mat> aij;
  PetscInt count = 0;
  const PetscScalar* row = nullptr;
  std::size_t next = 0;
  PetscCall(as_aij(matrix, &aij));
  for (PetscInt k = first_; k < first_ + rows_; ++k) {
    PetscCall(MatGetRow(aij, k, &count, nullptr, &row));
    const bool fits = next + static_cast<std::size_t>(count) <= target_.size();
    for (PetscInt e = 0; fits && e < count; ++e) values_[at(target_[next++])] = PetscRealPart(row[e]);
    PetscCall(MatRestoreRow(aij, k, &count, nullptr, &row));
    PetscCheck(fits, PETSC_COMM_SELF, PETSC_ERR_PLIB, "the pattern has changed, and has not been analysed again");
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

ColourRange RankPart::range(Index colour) const {
  const std::size_t c = at(colour);
  return {numbering_.begins[c], numbering_.inner[c], numbering_.begins[c + 1]};
}

Index RankPart::colour_of(Index place) const { return numbering_.colour[at(numbering_.order[at(place)])]; }

Index RankPart::place_of_first() const { return first_ == 0 && rows_ > 0 ? numbering_.place.front() : -1; }

void RankPart::sort(const double* from, double* to) const {
  for (Index p = 0; p < rows_; ++p) to[p] = from[numbering_.order[at(p)]];
}

void RankPart::sort_back(const double* from, double* to) const {
  for (Index p = 0; p < rows_; ++p) to[numbering_.order[at(p)]] = from[p];
}

}  // namespace taskdag::petsc
