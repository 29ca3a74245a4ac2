#include "mat/rank_view.hpp"

#include <algorithm>
#include <sstream>

#include "boundary.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

/// More different texts than these are not shown.
constexpr std::size_t most_texts = 8;

/// A text and the ranks that have it, ascending.
struct Group {
  std::string text;
  std::vector<int> ranks;
};

/// The texts of all ranks, on rank 0 alone.
PetscErrorCode gather(MPI_Comm comm, const std::string& mine, std::vector<std::string>* all) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  PetscMPIInt rank = 0;
  PetscCallMPI(MPI_Comm_size(comm, &ranks));
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  std::vector<int> lengths;
  std::vector<int> offsets;
  std::string joined;
  const std::size_t gathered = rank == 0 ? static_cast<std::size_t>(ranks) : 0;
  PetscCall(guarded(comm, [&] {
    lengths.resize(gathered);
    offsets.resize(gathered + 1);
  }));
  const int length = static_cast<int>(mine.size());
  PetscCallMPI(MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm));
  PetscCall(guarded(comm, [&] {
    for (std::size_t k = 0; k < lengths.size(); ++k) offsets[k + 1] = offsets[k] + lengths[k];
    joined.resize(static_cast<std::size_t>(offsets.back()));
  }));
  PetscCallMPI(
      MPI_Gatherv(mine.data(), length, MPI_CHAR, joined.data(), lengths.data(), offsets.data(), MPI_CHAR, 0, comm));
  PetscCall(guarded(comm, [&] {
    for (std::size_t k = 0; k < lengths.size(); ++k)
      all->push_back(joined.substr(static_cast<std::size_t>(offsets[k]), static_cast<std::size_t>(lengths[k])));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// In the order of their first ranks. Ranks without a text are in none.
std::vector<Group> group(const std::vector<std::string>& texts) {
  std::vector<Group> groups;
  for (std::size_t k = 0; k < texts.size(); ++k) {
    if (texts[k].empty()) continue;
    auto known = std::ranges::find(groups, texts[k], &Group::text);
    if (known == groups.end()) known = groups.insert(known, {texts[k], {}});
    known->ranks.push_back(static_cast<int>(k));
  }
  return groups;
}

/// "rank 3", "ranks 0-2, 5"
std::string name_ranks(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t k = 0; k < ranks.size();) {
    std::size_t last = k;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (k > 0) text += ", ";
    text += std::to_string(ranks[k]);
    if (last > k) text += (last > k + 1 ? "-" : ", ") + std::to_string(ranks[last]);
    k = last + 1;
  }
  return text;
}

void add_lines(std::string& out, const std::string& text, const char* indent) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += indent + line + '\n';
}

/// What is printed, on rank 0.
std::string write(const std::vector<Group>& groups, std::size_t ranks, bool each) {
  std::string out;
  if (!each && groups.size() == 1 && groups[0].ranks.size() == ranks) {
    add_lines(out, groups[0].text, "  ");
    return out;
  }
  const std::size_t shown = each ? groups.size() : std::min(groups.size(), most_texts);
  for (std::size_t k = 0; k < shown; ++k) {
    out += "  " + name_ranks(groups[k].ranks) + ":\n";
    add_lines(out, groups[k].text, "    ");
  }
  if (shown < groups.size()) out += "  others differ, too: the viewer's format ascii_info_detail shows each rank\n";
  return out;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(value == static_cast<double>(static_cast<long long>(value)) ? 15 : 6);
  text << value;
  return text.str();
}

}  // namespace

PetscErrorCode shows_each_rank(const RankViewer& viewer, bool* each) {
  PetscFunctionBegin;
  PetscViewerFormat format = PETSC_VIEWER_DEFAULT;
  PetscMPIInt ranks = 1;
  PetscCall(PetscViewerGetFormat(viewer.viewer, &format));
  PetscCallMPI(MPI_Comm_size(viewer.comm, &ranks));
  *each = format == PETSC_VIEWER_ASCII_INFO_DETAIL && ranks > 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string number_text(const std::string& title, const std::vector<RankNumber>& numbers) {
  std::string text = title;
  for (const RankNumber& one : numbers)
    text += (&one == numbers.data() ? "" : ", ") + number(one.value) + ' ' + one.name;
  return text;
}

PetscErrorCode view_numbers(const RankViewer& viewer, const std::string& title,
                            const std::vector<RankNumber>& numbers) {
  PetscFunctionBegin;
  PetscMPIInt ranks = 1;
  bool each = false;
  const auto count = static_cast<int>(numbers.size());
  std::string text;
  std::vector<double> mine;
  std::vector<double> extremes;  // the largest, then the largest negated
  std::vector<double> sums;
  PetscCallMPI(MPI_Comm_size(viewer.comm, &ranks));
  PetscCall(shows_each_rank(viewer, &each));
  if (each) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(guarded(viewer.comm, [&] {
    for (const RankNumber& one : numbers) mine.push_back(one.value);
    for (const RankNumber& one : numbers) mine.push_back(-one.value);
    extremes.resize(mine.size());
    sums.resize(mine.size());
    text = number_text(title, numbers);
  }));
  if (ranks > 1) {
    PetscCallMPI(MPI_Allreduce(mine.data(), extremes.data(), 2 * count, MPI_DOUBLE, MPI_MAX, viewer.comm));
    PetscCallMPI(MPI_Allreduce(mine.data(), sums.data(), count, MPI_DOUBLE, MPI_SUM, viewer.comm));
    PetscCall(guarded(viewer.comm, [&] {
      text = title + "on a rank";
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        const double least = -extremes[numbers.size() + k];
        const double most = extremes[k];
        text += (k > 0 ? ", " : " ") + number(least);
        if (most > least) text += " to " + number(most);
        text += std::string(" ") + numbers[k].name;
        if (numbers[k].adds) text += " (" + number(sums[k]) + " in all)";
      }
    }));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "  %s\n", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_texts(const RankViewer& viewer, const std::string& text) {
  PetscFunctionBegin;
  bool each = false;
  std::vector<std::string> all;
  std::vector<std::string> out;
  PetscCall(shows_each_rank(viewer, &each));
  PetscCall(gather(viewer.comm, text, &all));
  PetscCall(guarded(viewer.comm, [&] {
    std::istringstream lines(write(group(all), all.size(), each));
    for (std::string line; std::getline(lines, line);) out.push_back(line);
  }));
  // PETSc prints what rank 0 has, which has all; the others have nothing to print.
  for (const std::string& line : out) PetscCall(PetscViewerASCIIPrintf(viewer.viewer, "%s\n", line.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
