#include "mat/rank_groups.hpp"

#include <algorithm>
#include <array>

#include "boundary.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// What a rank says of itself.
struct Card {
  int rank = 0;
  std::array<char, 64> text{};
};

/// The cards of all ranks of this node.
PetscErrorCode exchange(MPI_Comm node, const Card& mine, std::vector<Card>* cards) {
  PetscFunctionBegin;
  PetscMPIInt count = 1;
  PetscCallMPI(MPI_Comm_size(node, &count));
  PetscCall(share_error(node, guarded([&] { cards->resize(static_cast<std::size_t>(count)); })));
  constexpr int bytes = sizeof(Card);
  PetscCallMPI(MPI_Allgather(&mine, bytes, MPI_BYTE, cards->data(), bytes, MPI_BYTE, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Those with this rank's text, in runs of `most`: the run that this rank is in.
std::vector<PetscMPIInt> choose(const std::vector<Card>& cards, const Card& mine, std::size_t most) {
  std::vector<PetscMPIInt> members;
  bool found = false;
  for (const Card& card : cards) {
    if (card.text != mine.text) continue;
    if (most > 0 && members.size() == most) {
      if (found) break;
      members.clear();
    }
    members.push_back(card.rank);
    found = found || card.rank == mine.rank;
  }
  return members;
}

}  // namespace

PetscErrorCode find_group(MPI_Comm comm, const std::string& text, PetscInt most, RankGroup* group) {
  PetscFunctionBegin;
  MPI_Comm node = MPI_COMM_NULL;
  Card mine;
  std::vector<Card> cards;
  PetscCheck(text.size() <= mine.text.size(), PETSC_COMM_SELF, PETSC_ERR_PLIB, "so long a text is not exchanged: %s",
             text.c_str());
  PetscCallMPI(MPI_Comm_rank(comm, &mine.rank));
  std::ranges::copy(text, mine.text.begin());
  // Ranks of a node in the order of their numbers.
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  const PetscErrorCode exchanged = exchange(node, mine, &cards);
  PetscCallMPI(MPI_Comm_free(&node));
  PetscCall(exchanged);
  PetscCall(guarded([&] {
    group->rank = mine.rank;
    group->members = text.empty() ? std::vector{mine.rank} : choose(cards, mine, static_cast<std::size_t>(most));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
