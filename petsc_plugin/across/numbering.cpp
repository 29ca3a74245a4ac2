#include "across/numbering.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "across/messages.hpp"
#include "across/waves.hpp"
#include "mat/indices.hpp"
#include "shared_error.hpp"
#include "taskdag/across_ranks.hpp"

namespace taskdag::petsc {
namespace {

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

/// What gets a colour: rows, or blocks of them.
struct Units {
  Index own = 0;
  std::vector<Index> of;  ///< of own rows, then of ghosts
  std::vector<std::int64_t> global;
  std::vector<std::uint64_t> priority;
  Graph graph;

  [[nodiscard]] Index total() const { return static_cast<Index>(global.size()); }
};

/// What is told of each row: its place among rows of one colour, that of the first row of its block, and where rows are
/// coloured its degree.
struct RowWords {
  std::vector<PetscInt> sequence;
  std::vector<PetscInt> head;
  std::vector<Index> degree;
};

void describe_rows(const OwnPattern& pattern, const Graph& graph, RowWords& words) {
  for (Index i = 0; i < pattern.rows; ++i) {
    words.sequence[at(i)] = words.head[at(i)] = pattern.first + i;
    words.degree[at(i)] = graph.offsets[at(i) + 1] - graph.offsets[at(i)];
  }
}

/// Blocks come in the order of their first rows, as on one rank: so the colours of one rank go on in those of the next.
void describe_blocks(const OwnPattern& pattern, const OwnBlocks& own, RowWords& words) {
  if (pattern.rows == 0) return;
  const std::vector<Index>& order = *own.order;
  const std::vector<Index>& begins = own.blocks->block_offsets;
  std::vector<std::pair<Index, Index>> blocks;  // first row, block
  blocks.reserve(at(own.blocks->blocks()));
  for (Index b = 0; b < own.blocks->blocks(); ++b) {
    blocks.emplace_back(*std::min_element(order.begin() + begins[at(b)], order.begin() + begins[at(b) + 1]), b);
  }
  std::ranges::sort(blocks);
  Index next = 0;
  for (const auto& [row, block] : blocks) {
    const PetscInt head = pattern.first + next;
    for (Index p = begins[at(block)]; p < begins[at(block) + 1]; ++p) {
      words.sequence[at(order[at(p)])] = pattern.first + next++;
      words.head[at(order[at(p)])] = head;
    }
  }
}

/// Own rows' words, and those of ghosts behind them. Collective.
PetscErrorCode exchange_words(MPI_Comm comm, const OwnPattern& pattern, const Graph& graph, const OwnBlocks* blocks,
                              const Numbering& numbering, RowWords* words) {
  PetscFunctionBegin;
  const std::size_t rows = at(pattern.rows);
  PetscCall(guarded(comm, [&] {
    words->sequence.resize(rows + numbering.ghosts.size());
    words->head.resize(words->sequence.size());
    words->degree.resize(words->sequence.size());
    if (blocks)
      describe_blocks(pattern, *blocks, *words);
    else
      describe_rows(pattern, graph, *words);
  }));
  const PetscSF forest = numbering.forest;
  PetscCall(broadcast(forest, MPIU_INT, words->sequence.data(), words->sequence.data() + rows));
  PetscCall(broadcast(forest, MPIU_INT, words->head.data(), words->head.data() + rows));
  PetscCall(broadcast(forest, MPI_INT, words->degree.data(), words->degree.data() + rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The graph of blocks from that of rows.
Graph contract(const Graph& rows, const std::vector<Index>& unit_of, Index units) {
  std::vector<std::vector<Index>> near(at(units));
  for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
    for (Offset e = rows.offsets[i]; e < rows.offsets[i + 1]; ++e) {
      const Index neighbour = unit_of[at(rows.neighbours[at(e)])];
      if (neighbour != unit_of[i]) near[at(unit_of[i])].push_back(neighbour);
    }
  }
  Graph graph;
  graph.offsets.push_back(0);
  for (std::vector<Index>& list : near) {
    std::ranges::sort(list);
    list.erase(std::unique(list.begin(), list.end()), list.end());
    graph.neighbours.insert(graph.neighbours.end(), list.begin(), list.end());
    graph.offsets.push_back(static_cast<Offset>(graph.neighbours.size()));
  }
  return graph;
}

/// Units in the order of their heads, own ones first. A head tells a unit from all others. Blocks are coloured in that
/// order, rows in that of taskdag_color.
Units make_units(const OwnPattern& pattern, Graph graph, bool blocks, const RowWords& words) {
  Units units;
  const auto end_of_own = words.head.begin() + pattern.rows;
  std::vector<PetscInt> heads(words.head.begin(), end_of_own);
  std::vector<PetscInt> outside(end_of_own, words.head.end());
  for (std::vector<PetscInt>* list : {&heads, &outside}) {
    std::ranges::sort(*list);
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  units.own = static_cast<Index>(heads.size());
  heads.insert(heads.end(), outside.begin(), outside.end());
  units.global.assign(heads.begin(), heads.end());
  units.priority.resize(heads.size());
  for (std::size_t row = 0; row < words.head.size(); ++row) {
    const auto begin = heads.begin() + (row < at(pattern.rows) ? 0 : units.own);
    const auto end = row < at(pattern.rows) ? heads.begin() + units.own : heads.end();
    const auto unit = std::lower_bound(begin, end, words.head[row]) - heads.begin();
    units.of.push_back(static_cast<Index>(unit));
    if (!blocks)
      units.priority[static_cast<std::size_t>(unit)] = RankColouring::priority_of(words.head[row], words.degree[row]);
  }
  units.graph = blocks ? contract(graph, units.of, units.own) : std::move(graph);
  return units;
}

/// One colouring to its end. colour: room for that of each own row, then of each ghost. Collective.
PetscErrorCode run_colouring(MPI_Comm comm, PetscSF forest, const Units& units, RankColouring& colouring, Index rows,
                             std::vector<Index>& colour) {
  PetscFunctionBegin;
  for (int left = 1; left > 0;) {
    left = colouring.advance() > 0 ? 1 : 0;
    for (std::size_t row = 0; row < at(rows); ++row) colour[row] = colouring.colours()[at(units.of[row])];
    PetscCall(broadcast(forest, MPI_INT, colour.data(), colour.data() + rows));
    for (std::size_t row = at(rows); row < colour.size(); ++row) colouring.colours()[at(units.of[row])] = colour[row];
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

PetscErrorCode find_colours(MPI_Comm comm, const Units& units, Index rows, Numbering* numbering) {
  PetscFunctionBegin;
  std::optional<RankColouring> colouring;
  std::vector<Index>& colour = numbering->colour;
  PetscCall(guarded(comm, [&] {
    colour.resize(units.of.size());
    colouring.emplace(CsrPattern{units.own, units.total(), units.graph.offsets.data(), units.graph.neighbours.data()},
                      units.global, units.priority);
  }));
  PetscCall(run_colouring(comm, numbering->forest, units, *colouring, rows, colour));
  PetscCall(count_colours(comm, colour, &numbering->colours));
  colouring->reverse(numbering->colours);
  PetscCall(run_colouring(comm, numbering->forest, units, *colouring, rows, colour));
  PetscCall(count_colours(comm, colour, &numbering->colours));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// By colour, blocks with rows that are ghosts elsewhere first. users: how many ranks have a row as a ghost.
void sort_rows(const Units& units, Index rows, const PetscInt* users, bool blocks, Numbering& numbering) {
  std::vector<Index>& order = numbering.order;
  std::vector<char> used(at(units.own), 0);
  for (Index i = 0; i < rows; ++i) {
    if (users[i] > 0) used[at(units.of[at(i)])] = 1;
  }
  order.resize(at(rows));
  std::iota(order.begin(), order.end(), 0);
  const auto group = [&](Index row) {
    return 2 * numbering.colour[at(row)] + (used[at(units.of[at(row)])] != 0 ? 0 : 1);
  };
  std::ranges::sort(order, {}, [&](Index row) { return std::pair(group(row), numbering.sequence[at(row)]); });
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
  for (Index p = 0; blocks && p < rows; ++p) {
    if (p == 0 || units.of[at(order[at(p)])] != units.of[at(order[at(p) - 1])]) numbering.blocks.push_back(p);
  }
  if (blocks) numbering.blocks.push_back(rows);
}

/// By wave, of one wave in the matrix' order, by one thread: rows of a wave may be coupled.
void sort_waves(Index rows, Numbering& numbering) {
  std::vector<Index>& order = numbering.order;
  order.resize(at(rows));
  std::iota(order.begin(), order.end(), 0);
  const auto wave = [&](Index row) { return numbering.colour[at(row)]; };
  std::ranges::stable_sort(order, {}, wave);
  numbering.place.resize(at(rows));
  for (Index p = 0; p < rows; ++p) numbering.place[at(order[at(p)])] = p;
  for (Index c = 0; c < numbering.colours; ++c)
    numbering.begins.push_back(static_cast<Index>(std::ranges::lower_bound(order, c, {}, wave) - order.begin()));
  numbering.begins.push_back(rows);
  numbering.inner.assign(numbering.begins.begin() + 1, numbering.begins.end());
  numbering.blocks = numbering.begins;
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

PetscErrorCode number_rows(Mat matrix, const OwnPattern& pattern, RowOrder order, const OwnBlocks* blocks,
                           Numbering* numbering) {
  PetscFunctionBegin;
  const MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  PetscLayout layout = nullptr;
  std::vector<Edge> incoming;
  Graph graph;
  RowWords words;
  Units units;
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
  numbering->row_order = order;
  PetscCall(exchange_words(comm, pattern, graph, blocks, *numbering, &words));
  if (order == RowOrder::of_the_matrix) {
    const CsrPattern of_rows{pattern.rows, pattern.rows + static_cast<Index>(numbering->ghosts.size()),
                             graph.offsets.data(), graph.neighbours.data()};
    PetscCall(find_waves(comm, of_rows, pattern.first, numbering));
    PetscCall(guarded(comm, [&] {
      numbering->sequence = std::move(words.sequence);
      sort_waves(pattern.rows, *numbering);
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(guarded(comm, [&] { units = make_units(pattern, std::move(graph), blocks != nullptr, words); }));
  PetscCall(find_colours(comm, units, pattern.rows, numbering));
  PetscCall(PetscSFComputeDegreeBegin(numbering->forest, &users));
  PetscCall(PetscSFComputeDegreeEnd(numbering->forest, &users));
  PetscCall(guarded(comm, [&] {
    numbering->sequence = std::move(words.sequence);
    sort_rows(units, pattern.rows, users, blocks != nullptr, *numbering);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
