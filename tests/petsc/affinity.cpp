// Ranks whose affinity masks overlap: each has its share of the processors for threads. A program of its own, since a
// mask counts where the plugin is loaded. Ends with 1 where a rank has another number of threads.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>
#include <string>
#include <vector>

#include "support.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/processors.hpp"
#include "taskdagpetsc.h"

namespace taskdag::test {
namespace {

using Mask = std::vector<std::size_t>;  // numbers of processors

Mask own_mask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  Mask mask;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return mask;
  for (std::size_t p = 0; p < CPU_SETSIZE; ++p) {
    if (CPU_ISSET(p, &set)) mask.push_back(p);
  }
  return mask;
}

bool set_mask(const Mask& mask) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const std::size_t p : mask) CPU_SET(p, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// All that the process could be given, whatever the launcher has bound it to.
Mask all_processors() {
  Mask every(CPU_SETSIZE);
  for (std::size_t p = 0; p < CPU_SETSIZE; ++p) every[p] = p;
  return set_mask(every) ? own_mask() : Mask{};
}

struct Pattern {
  const char* name;
  Mask (*of_rank)(const Mask& all, int rank);
};

const std::array<Pattern, 4> patterns = {
    {{"one each", [](const Mask& all, int rank) { return Mask{all[static_cast<std::size_t>(rank) % all.size()]}; }},
     {"all of them", [](const Mask& all, int) { return all; }},
     {"all but one, the same ones",
      [](const Mask& all, int) { return Mask(all.begin(), all.end() - (all.size() > 1 ? 1 : 0)); }},
     {"fewer from rank to rank", [](const Mask& all, int rank) {
        const auto count = std::max<std::ptrdiff_t>(1, std::ssize(all) - rank);
        return Mask(all.begin(), all.begin() + count);
      }}}};

/// What rank `mine` should have, with all masks known.
int expected_threads(const Mask& all, const Pattern& pattern, int ranks, int mine) {
  double share = 0.0;
  for (const std::size_t p : pattern.of_rank(all, mine)) {
    int holders = 0;
    for (int r = 0; r < ranks; ++r) holders += static_cast<int>(std::ranges::count(pattern.of_rank(all, r), p));
    share += 1.0 / holders;
  }
  for (const auto& quota : claim_processors().quotas) {  // of the machine that the test runs on
    if (quota.processors > 0.0) share = std::min(share, quota.processors / ranks);
  }
  return std::max(1, static_cast<int>(share + 1e-9));
}

/// The number before "host thread" in the view of a solve.
int threads_of_solve() {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 5, .ny = 4});
  const Solve result = solve(make_local_matrix(a), "-ksp_type gmres -pc_type taskdag -pc_taskdag_backend host");
  std::smatch found;
  return std::regex_search(result.view, found, std::regex("([0-9]+) host thread")) ? std::stoi(found[1].str()) : 0;
}

/// One rank's threads under a pattern. @returns whether they are as many as they should be
bool check(const Mask& all, const Pattern& pattern, int ranks, int rank) {
  if (!set_mask(pattern.of_rank(all, rank))) {
    std::fprintf(stderr, "rank %d: sched_setaffinity fails\n", rank);
    return false;
  }
  const int expected = expected_threads(all, pattern, ranks, rank);
  // A PETSc with CUDA refuses to start over an MPI without, unless told so.
  if (PetscOptionsSetValue(nullptr, "-use_gpu_aware_mpi", "0")) return false;
  if (PetscInitializeNoArguments()) return false;
  if (TaskDAGInitializePackage()) return false;
  const int found = threads_of_solve();
  if (PetscFinalize()) return false;
  std::printf("%s: rank %d of %d has %d threads\n", pattern.name, rank, ranks, found);
  if (found != expected) std::fprintf(stderr, "rank %d: %d threads, not %d\n", rank, found, expected);
  return found == expected;
}

}  // namespace
}  // namespace taskdag::test

int main(int argc, char** argv) {
  using namespace taskdag::test;
  MPI_Init(&argc, &argv);
  int ranks = 1;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Mask all = all_processors();
  int wrong = all.empty() ? 1 : 0;
  for (const Pattern& pattern : patterns) wrong += check(all, pattern, ranks, rank) ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
