#include "across/numbering.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "mat/indices.hpp"
#include "shared_error.hpp"
#include "taskdag/across_ranks.hpp"

namespace taskdag::petsc {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// An own row, and a row of another rank that has it as a column.
struct Edge {
  Index row;
  PetscInt neighbour;  ///< global
};

/// The graph of A + Aᵀ: own rows, neighbours as RankColouring numbers them.
struct Graph {
  std::vector<Offset> offsets;  ///< by row, and the end
  std::vector<Index> neighbours;
};

/// Who has which own row as a column. Collective.
PetscErrorCode find_incoming(MPI_Comm comm, PetscLayout layout, const OwnPattern& pattern,
                             std::vector<Edge>* incoming) {
  PetscFunctionBegin;
  std::vector<PetscInt> columns;
  std::vector<PetscInt> rows;
  std::vector<PetscInt> found;
  PetscCall(guarded(comm, [&] {
    for (Index i = 0; i < pattern.rows; ++i) {
      for (Offset e = pattern.offsets[at(i)]; e < pattern.offsets[at(i) + 1]; ++e) {
        if (pattern.owns(pattern.columns[at(e)])) continue;
        columns.push_back(pattern.columns[at(e)]);
        rows.push_back(pattern.first + i);
      }
    }
  }));
  Held<PetscSF> entries;
  const PetscInt* degree = nullptr;
  PetscCall(PetscSFCreate(comm, entries.out()));
  PetscCall(PetscSFSetGraphLayout(entries, layout, static_cast<PetscInt>(columns.size()), nullptr, PETSC_OWN_POINTER,
                                  columns.data()));
  PetscCall(PetscSFComputeDegreeBegin(entries, &degree));
  PetscCall(PetscSFComputeDegreeEnd(entries, &degree));
  const PetscInt total = std::accumulate(degree, degree + pattern.rows, PetscInt{0});
  PetscCall(guarded(comm, [&] { found.resize(static_cast<std::size_t>(total)); }));
  PetscCall(PetscSFGatherBegin(entries, MPIU_INT, rows.data(), found.data()));
  PetscCall(PetscSFGatherEnd(entries, MPIU_INT, rows.data(), found.data()));
  PetscCall(guarded(comm, [&] {
    auto next = found.begin();
    for (Index i = 0; i < pattern.rows; ++i) {
      for (PetscInt k = 0; k < degree[i]; ++k) incoming->push_back({i, *next++});
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void collect_ghosts(const OwnPattern& pattern, const std::vector<Edge>& incoming, std::vector<PetscInt>& ghosts) {
  for (const PetscInt column : pattern.columns) {
    if (!pattern.owns(column)) ghosts.push_back(column);
  }
  for (const Edge& edge : incoming) ghosts.push_back(edge.neighbour);
  std::ranges::sort(ghosts);
  ghosts.erase(std::unique(ghosts.begin(), ghosts.end()), ghosts.end());
}

/// Calls add(row, neighbour) for the edges from own rows, for some of them twice.
template <class Add>
void for_edges(const OwnPattern& pattern, const std::vector<Edge>& incoming, const Numbering& numbering,
               const Add& add) {
  const Index rows = pattern.rows;
  for (Index i = 0; i < rows; ++i) {
    for (Offset e = pattern.offsets[at(i)]; e < pattern.offsets[at(i) + 1]; ++e) {
      const PetscInt column = pattern.columns[at(e)];
      if (column == pattern.first + i) continue;
      const bool own = pattern.owns(column);
      const Index j = own ? static_cast<Index>(column - pattern.first) : rows + numbering.find_ghost(column);
      add(i, j);
      if (own) add(j, i);
    }
  }
  for (const Edge& edge : incoming) add(edge.row, rows + numbering.find_ghost(edge.neighbour));
}

Graph make_graph(const OwnPattern& pattern, const std::vector<Edge>& incoming, const Numbering& numbering) {
  const Index rows = pattern.rows;
  std::vector<std::int64_t> next(at(rows) + 1, 0);
  for_edges(pattern, incoming, numbering, [&](Index row, Index) { ++next[at(row) + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::int64_t> begins(next.begin(), next.end() - 1);
  Graph graph;
  graph.neighbours.resize(static_cast<std::size_t>(next.back()));
  for_edges(pattern, incoming, numbering, [&](Index row, Index neighbour) {
    graph.neighbours[static_cast<std::size_t>(next[at(row)]++)] = neighbour;
  });
  graph.offsets.reserve(at(rows) + 1);
  graph.offsets.push_back(0);
  auto last = graph.neighbours.begin();
  for (Index i = 0; i < rows; ++i) {
    const auto begin = graph.neighbours.begin() + begins[at(i)];
    const auto end = graph.neighbours.begin() + next[at(i)];
    std::sort(begin, end);
    last = std::unique_copy(begin, end, last);
    graph.offsets.push_back(checked_offset(last - graph.neighbours.begin(), "the graph of a rank's rows"));
  }
  graph.neighbours.erase(last, graph.neighbours.end());
  return graph;
}

/// Brings ghosts, which stand behind own rows, up to date. Collective.
PetscErrorCode update_ghosts(PetscSF forest, Index rows, std::span<Index> numbers) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(forest, MPI_INT, numbers.data(), numbers.data() + rows, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest, MPI_INT, numbers.data(), numbers.data() + rows, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// One colouring to its end. Collective.
PetscErrorCode run_colouring(MPI_Comm comm, PetscSF forest, Index rows, RankColouring& colouring) {
  PetscFunctionBegin;
  for (int left = 1; left > 0;) {
    left = colouring.advance() > 0 ? 1 : 0;
    PetscCall(update_ghosts(forest, rows, colouring.colours()));
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode count_colours(MPI_Comm comm, std::span<const Index> colour, Index* colours) {
  PetscFunctionBegin;
  *colours = colour.empty() ? 0 : *std::ranges::max_element(colour) + 1;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, colours, 1, MPI_INT, MPI_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_colours(MPI_Comm comm, const OwnPattern& pattern, const Graph& graph, Numbering* numbering) {
  PetscFunctionBegin;
  const Index rows = pattern.rows;
  const auto total = static_cast<Index>(at(rows) + numbering->ghosts.size());
  std::vector<Index> degree;
  std::optional<RankColouring> colouring;
  PetscCall(guarded(comm, [&] {
    degree.resize(at(total));
    for (Index i = 0; i < rows; ++i) degree[at(i)] = graph.offsets[at(i) + 1] - graph.offsets[at(i)];
  }));
  PetscCall(update_ghosts(numbering->forest, rows, degree));
  PetscCall(guarded(comm, [&] {
    std::vector<std::int64_t> global(at(total));
    std::iota(global.begin(), global.begin() + rows, std::int64_t{pattern.first});
    std::ranges::copy(numbering->ghosts, global.begin() + rows);
    colouring.emplace(CsrPattern{rows, total, graph.offsets.data(), graph.neighbours.data()}, global, degree);
  }));
  PetscCall(run_colouring(comm, numbering->forest, rows, *colouring));
  PetscCall(count_colours(comm, colouring->colours(), &numbering->colours));
  colouring->reverse(numbering->colours);
  PetscCall(run_colouring(comm, numbering->forest, rows, *colouring));
  PetscCall(count_colours(comm, colouring->colours(), &numbering->colours));
  PetscCall(guarded(comm, [&] { numbering->colour.assign(colouring->colours().begin(), colouring->colours().end()); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By colour, rows that are ghosts elsewhere first. users: how many ranks have a row as a ghost.
void sort_rows(Index rows, const PetscInt* users, Numbering& numbering) {
  std::vector<Index>& order = numbering.order;
  order.resize(at(rows));
  std::iota(order.begin(), order.end(), 0);
  const auto group = [&](Index row) { return 2 * numbering.colour[at(row)] + (users[row] > 0 ? 0 : 1); };
  std::ranges::stable_sort(order, {}, group);
  numbering.place.resize(at(rows));
  for (Index p = 0; p < rows; ++p) numbering.place[at(order[at(p)])] = p;
  const auto begin_of = [&](Index wanted) {
    return static_cast<Index>(std::ranges::lower_bound(order, wanted, {}, group) - order.begin());
  };
  for (Index c = 0; c < numbering.colours; ++c) {
    numbering.begins.push_back(begin_of(2 * c));
    numbering.inner.push_back(begin_of(2 * c + 1));
  }
  numbering.begins.push_back(rows);
}

}  // namespace

PetscErrorCode read_own_pattern(Mat matrix, OwnPattern* pattern) {
  PetscFunctionBegin;
  PetscInt begin = 0;
  PetscInt end = 0;
  PetscInt entries = 0;
  PetscInt count = 0;
  const PetscInt* columns = nullptr;
  PetscCall(MatGetOwnershipRange(matrix, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    PetscCall(MatGetRow(matrix, row, &count, &columns, nullptr));
    const bool has = std::find(columns, columns + count, row) != columns + count;
    entries += count;
    PetscCall(MatRestoreRow(matrix, row, &count, &columns, nullptr));
    PetscCheck(has, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONGSTATE, "TaskDAG: row %" PetscInt_FMT " has no diagonal entry",
               row);
    PetscCall(check_fits(entries, "entries"));
  }
  pattern->first = begin;
  pattern->rows = static_cast<Index>(end - begin);
  PetscCall(guarded([&] {
    pattern->offsets.reserve(static_cast<std::size_t>(end - begin) + 1);
    pattern->offsets.push_back(0);
    pattern->columns.resize(static_cast<std::size_t>(entries));
  }));
  for (PetscInt row = begin; row < end; ++row) {
    const Offset place = pattern->offsets.back();
    PetscCall(MatGetRow(matrix, row, &count, &columns, nullptr));
    std::copy_n(columns, count, pattern->columns.begin() + place);
    pattern->offsets.push_back(place + static_cast<Offset>(count));  // there is room
    PetscCall(MatRestoreRow(matrix, row, &count, &columns, nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

Index Numbering::find_ghost(PetscInt global) const {
  const auto found = std::ranges::lower_bound(ghosts, global);
  return found != ghosts.end() && *found == global ? static_cast<Index>(found - ghosts.begin()) : -1;
}

PetscErrorCode number_rows(Mat matrix, const OwnPattern& pattern, Numbering* numbering) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  PetscLayout layout = nullptr;
  std::vector<Edge> incoming;
  Graph graph;
  const PetscInt* users = nullptr;
  PetscCall(MatGetLayouts(matrix, &layout, nullptr));
  PetscCall(find_incoming(comm, layout, pattern, &incoming));
  PetscCall(guarded(comm, [&] {
    collect_ghosts(pattern, incoming, numbering->ghosts);
    graph = make_graph(pattern, incoming, *numbering);
  }));
  PetscCall(PetscSFCreate(comm, numbering->forest.out()));
  PetscCall(PetscSFSetGraphLayout(numbering->forest, layout, static_cast<PetscInt>(numbering->ghosts.size()), nullptr,
                                  PETSC_OWN_POINTER, numbering->ghosts.data()));
  PetscCall(find_colours(comm, pattern, graph, numbering));
  PetscCall(PetscSFComputeDegreeBegin(numbering->forest, &users));
  PetscCall(PetscSFComputeDegreeEnd(numbering->forest, &users));
  PetscCall(guarded(comm, [&] { sort_rows(pattern.rows, users, *numbering); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
