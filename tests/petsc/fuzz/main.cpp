/// \file
/// The whole plugin on random matrices with random options, against PETSc's own preconditioners and against itself with
/// one thread. Case k of seed S is case 0 of seed S + k.
/// usage: petsc_fuzz [--cases N] [--seed S] [--seconds T] [--verbose]
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "run_case.hpp"

namespace {

using taskdag::test::CaseResult;

/// How to see the current case again. Written before each case, for what ends the program.
char reproducer[128];

constexpr unsigned kSecondsOfACase = 20;

extern "C" void tell_and_end(int signal) {
  const char* const what = signal == SIGALRM ? "hangs: " : "ends the program: ";
  // Only what a signal handler may call. Nothing can be done where a write fails.
  const bool told = write(STDOUT_FILENO, what, std::strlen(what)) > 0 &&
                    write(STDOUT_FILENO, reproducer, std::strlen(reproducer)) > 0;
  _exit(told ? 2 : 3);
}

struct Arguments {
  long cases = 1000;
  unsigned long seed = 1;
  double seconds = 1e9;
  bool verbose = false;
};

bool read(int argc, char** argv, Arguments* arguments) {
  for (int k = 1; k < argc; ++k) {
    const std::string name = argv[k];
    if (name == "--verbose") {
      arguments->verbose = true;
      continue;
    }
    if (k + 1 == argc) return false;
    const char* const value = argv[++k];
    char* end = nullptr;
    if (name == "--cases")
      arguments->cases = std::strtol(value, &end, 10);
    else if (name == "--seed")
      arguments->seed = std::strtoul(value, &end, 10);
    else if (name == "--seconds")
      arguments->seconds = std::strtod(value, &end);
    else
      return false;
    if (end == value || *end != '\0') return false;
  }
  return true;
}

/// Counts of what the cases came to.
struct Totals {
  long cases = 0, failed = 0, set_ups = 0, refused = 0, bad_numbers = 0, compared = 0, unstable = 0, same_bits = 0;
  void add(const CaseResult& result) {
    ++cases;
    failed += result.faults.empty() ? 0 : 1;
    set_ups += result.set_ups;
    refused += result.refused;
    bad_numbers += result.bad_numbers;
    compared += result.compared;
    unstable += result.unstable;
    same_bits += result.same_bits;
  }
};

int run(const Arguments& arguments) {
  constexpr long kMostReports = 20;
  const auto begin = std::chrono::steady_clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  Totals totals;
  // What a case says must be seen even if it ends the program.
  if (arguments.verbose && std::setvbuf(stdout, nullptr, _IOLBF, 0) != 0) return 1;
  while (totals.cases < arguments.cases && elapsed() < arguments.seconds && totals.failed < kMostReports) {
    const unsigned long seed = arguments.seed + static_cast<unsigned long>(totals.cases);
    (void)std::snprintf(reproducer, sizeof reproducer, "petsc_fuzz --seed %lu --cases 1 --verbose\n", seed);
    alarm(kSecondsOfACase);
    const CaseResult result = taskdag::test::run_case(seed, arguments.verbose);
    totals.add(result);
    for (const std::string& fault : result.faults) std::printf("seed %lu: %s\n", seed, fault.c_str());
    if (!result.faults.empty()) std::printf("%s", reproducer);
    (void)std::fflush(stdout);
  }
  alarm(0);
  std::printf(
      "%ld cases in %.0f s, %ld failed: %ld set-ups (%ld refused, %ld with bad numbers), %ld results compared "
      "with PETSc's, %ld too unstable to compare, %ld the same bits as with one thread\n",
      totals.cases, elapsed(), totals.failed, totals.set_ups, totals.refused, totals.bad_numbers, totals.compared,
      totals.unstable, totals.same_bits);
  // A run that compared nothing has not tested anything.
  const bool tested = arguments.cases < 100 || (totals.compared > totals.cases / 2 && totals.same_bits > 0);
  if (!tested) std::printf("too little was compared\n");
  return totals.failed == 0 && tested ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!read(argc, argv, &arguments)) {
    std::printf("usage: petsc_fuzz [--cases N] [--seed S] [--seconds T] [--verbose]\n");
    return 1;
  }
  int none = 0;
  for (const auto& [name, value] :
       {std::pair{"-use_gpu_aware_mpi", "0"}, std::pair{"-no_signal_handler", "1"}, std::pair{"-mat_no_inode", "1"}})
    if (PetscOptionsSetValue(nullptr, name, value)) return 1;
  if (PetscInitialize(&none, nullptr, nullptr, nullptr)) return 1;
  if (TaskDAGInitializePackage()) return 1;
  for (const int signal : {SIGALRM, SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL}) (void)std::signal(signal, tell_and_end);
  const int outcome = run(arguments);
  if (PetscFinalize()) return 1;
  return outcome;
}
