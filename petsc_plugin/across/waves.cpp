#include "across/waves.hpp"

#include <algorithm>
#include <numeric>

#include "across/messages.hpp"
#include "mat/indices.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// Rows, and which of their neighbours come before them.
struct RowsBefore {
  CsrPattern graph;
  PetscInt first;
  const std::vector<PetscInt>& ghosts;

  [[nodiscard]] bool is_before(Index row, Index neighbour) const {
    return neighbour < graph.rows ? neighbour < row : ghosts[at(neighbour - graph.rows)] < first + row;
  }
};

/// Gives each row what rule(row, value) makes of the values of the rows before it, own rows first in `value`, then
/// ghosts. Rows of other ranks before a row are of ranks before its own, so there are no more rounds than ranks.
/// Collective.
template <class Rule>
PetscErrorCode walk(MPI_Comm comm, PetscSF forest, const RowsBefore& rows, std::vector<Index>& value,
                    const Rule& rule) {
  PetscFunctionBegin;
  std::vector<Index> waiting;
  PetscCall(guarded(comm, [&] {
    value.assign(at(rows.graph.rows) + rows.ghosts.size(), -1);
    waiting.resize(at(rows.graph.rows));
  }));
  std::iota(waiting.begin(), waiting.end(), 0);
  const auto found = [&](Index row) {
    for (Offset e = rows.graph.row_offsets[row]; e < rows.graph.row_offsets[row + 1]; ++e) {
      const Index neighbour = rows.graph.col_indices[e];
      if (rows.is_before(row, neighbour) && value[at(neighbour)] < 0) return false;
    }
    value[at(row)] = rule(row, value);
    return true;
  };
  for (int left = 1; left > 0;) {
    std::erase_if(waiting, found);
    left = waiting.empty() ? 0 : 1;
    PetscCall(broadcast(forest, MPI_INT, value.data(), value.data() + rows.graph.rows));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One more than the largest value on any rank.
PetscErrorCode count_values(MPI_Comm comm, const std::vector<Index>& value, Index* count) {
  PetscFunctionBegin;
  *count = value.empty() ? 0 : *std::ranges::max_element(value) + 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_INT, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// About so many waves: more would be more messages, fewer would let ranks wait longer for those before them.
constexpr Index enough_waves = 32;

}  // namespace

PetscErrorCode find_waves(MPI_Comm comm, const CsrPattern& graph, PetscInt first, Numbering* numbering) {
  PetscFunctionBegin;
  const RowsBefore rows{graph, first, numbering->ghosts};
  const auto largest = [&](Index row, Index least, const auto& of) {
    for (Offset e = graph.row_offsets[row]; e < graph.row_offsets[row + 1]; ++e) {
      if (rows.is_before(row, graph.col_indices[e])) least = std::max(least, of(graph.col_indices[e]));
    }
    return least;
  };
  std::vector<Index> level;
  Index levels = 0;
  PetscMPIInt ranks = 1;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCall(walk(comm, numbering->forest, rows, level, [&](Index row, const std::vector<Index>& value) {
    return largest(row, 0, [&](Index neighbour) { return value[at(neighbour)] + 1; });
  }));
  PetscCall(count_values(comm, level, &levels));
  const Index of_a_wave = ranks == 1 ? std::max(levels, Index{1}) : (levels + enough_waves - 1) / enough_waves;
  PetscCall(walk(comm, numbering->forest, rows, numbering->colour, [&](Index row, const std::vector<Index>& value) {
    return largest(row, level[at(row)] / of_a_wave,
                   [&](Index neighbour) { return value[at(neighbour)] + (neighbour < graph.rows ? 0 : 1); });
  }));
  PetscCall(count_values(comm, numbering->colour, &numbering->colours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
