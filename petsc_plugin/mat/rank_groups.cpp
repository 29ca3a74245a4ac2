#include "mat/rank_groups.hpp"

#include "boundary.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// The cards of all ranks of this node.
PetscErrorCode exchange(MPI_Comm node, const RankCard& mine, std::vector<RankCard>* cards) {
  PetscFunctionBegin;
  PetscMPIInt count = 1;
  PetscCallMPI(MPI_Comm_size(node, &count));
  PetscCall(share_error(node, guarded([&] { cards->resize(static_cast<std::size_t>(count)); })));
  constexpr int bytes = sizeof(RankCard);
  PetscCallMPI(MPI_Allgather(&mine, bytes, MPI_BYTE, cards->data(), bytes, MPI_BYTE, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

RankGroup group_of(const std::vector<RankCard>& cards, const RankCard& mine, std::size_t most) {
  RankGroup group;
  group.rank = mine.rank;
  const bool alone = mine.text.front() == '\0';
  bool found = false;
  for (const RankCard& card : cards) {
    if (alone ? card.rank != mine.rank : card.text != mine.text) continue;
    if (most > 0 && group.members.size() == most) {
      if (found) break;
      group.members.clear();
    }
    if (group.members.empty()) {
      group.entries = 0.0;
      group.most_entries = card.most_entries;
    }
    group.members.push_back(card.rank);
    group.entries += card.entries;
    found = found || card.rank == mine.rank;
  }
  return group;
}

PetscErrorCode find_group(MPI_Comm comm, RankCard mine, PetscInt most, RankGroup* group) {
  PetscFunctionBegin;
  MPI_Comm node = MPI_COMM_NULL;
  std::vector<RankCard> cards;
  PetscCallMPI(MPI_Comm_rank(comm, &mine.rank));
  // Ranks of a node in the order of their numbers.
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  const PetscErrorCode exchanged = exchange(node, mine, &cards);
  PetscCallMPI(MPI_Comm_free(&node));
  PetscCall(exchanged);
  PetscCall(guarded([&] { *group = group_of(cards, mine, static_cast<std::size_t>(most)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
