#include "across/messages.hpp"

#include <algorithm>

#include "mat/indices.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// The leaves of each colour.
struct Leaves {
  std::vector<std::vector<PetscInt>> place;
  std::vector<std::vector<PetscSFNode>> from;
};

Leaves sort_leaves(std::span<const Index> colour, std::span<const PetscSFNode> from, Index colours) {
  Leaves leaves;
  leaves.place.resize(static_cast<std::size_t>(colours));
  leaves.from.resize(static_cast<std::size_t>(colours));
  for (std::size_t k = 0; k < colour.size(); ++k) {
    leaves.place[static_cast<std::size_t>(colour[k])].push_back(static_cast<PetscInt>(k));
    leaves.from[static_cast<std::size_t>(colour[k])].push_back(from[k]);
  }
  return leaves;
}

Index count_ranks(const std::vector<PetscSFNode>& nodes) {
  std::vector<PetscInt> ranks;
  ranks.reserve(nodes.size());
  for (const PetscSFNode& node : nodes) ranks.push_back(node.rank);
  std::ranges::sort(ranks);
  return static_cast<Index>(std::unique(ranks.begin(), ranks.end()) - ranks.begin());
}

}  // namespace

PetscErrorCode broadcast(PetscSF forest, MPI_Datatype unit, const void* roots, void* leaves) {
  PetscFunctionBegin;
  PetscCall(PetscSFBcastBegin(forest, unit, roots, leaves, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(forest, unit, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColourMessages::make(MPI_Comm comm, Index roots, std::span<const Index> colour,
                                    std::span<const PetscSFNode> from, Index colours) {
  PetscFunctionBegin;
  Leaves leaves;
  std::vector<int> any;
  PetscCall(guarded(comm, [&] {
    leaves = sort_leaves(colour, from, colours);
    forests_ = std::vector<Held<PetscSF>>(static_cast<std::size_t>(colours));
    senders_.clear();
    for (const auto& nodes : leaves.from) {
      any.push_back(nodes.empty() ? 0 : 1);
      senders_.push_back(count_ranks(nodes));
    }
  }));
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, any.data(), colours, MPI_INT, MPI_MAX, comm));
  for (std::size_t c = 0; c < any.size(); ++c) {
    if (any[c] == 0) continue;
    Held<PetscSF>& forest = forests_[c];
    PetscCall(PetscSFCreate(comm, forest.out()));
    PetscCall(PetscSFSetGraph(forest, roots, static_cast<PetscInt>(leaves.place[c].size()), leaves.place[c].data(),
                              PETSC_COPY_VALUES, leaves.from[c].data(), PETSC_COPY_VALUES));
    PetscCall(PetscSFSetUp(forest));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColourMessages::begin(Index colour, const double* roots, double* leaves) const {
  PetscFunctionBegin;
  if (any(colour))
    PetscCall(PetscSFBcastBegin(forests_[static_cast<std::size_t>(colour)], MPI_DOUBLE, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColourMessages::end(Index colour, const double* roots, double* leaves) const {
  PetscFunctionBegin;
  if (any(colour))
    PetscCall(PetscSFBcastEnd(forests_[static_cast<std::size_t>(colour)], MPI_DOUBLE, roots, leaves, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ColourMessages::add(Index colour, const double* leaves, double* roots) const {
  PetscFunctionBegin;
  if (!any(colour)) PetscFunctionReturn(PETSC_SUCCESS);
  const Held<PetscSF>& forest = forests_[static_cast<std::size_t>(colour)];
  PetscCall(PetscSFReduceBegin(forest, MPI_DOUBLE, leaves, roots, MPI_SUM));
  PetscCall(PetscSFReduceEnd(forest, MPI_DOUBLE, leaves, roots, MPI_SUM));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
