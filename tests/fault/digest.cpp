// usage: fault_digest [--hog] [--turns N]
//
// Prints the number of multiprocessors that the process sees, then a line a schedule: its name, and a digest of the
// bits of its results, the same for all N turns [3]. --hog: while the solves run, a kernel of this process holds the
// threads of all multiprocessors but one. The status is 0 only if every result is the serial reference's and repeats
// itself; 77: no GPU. tests/fault/shared_gpu.sh compares the lines of several runs.
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "backend/measure.hpp"
#include "backends/cuda/device.hpp"
#include "fault/kernels.hpp"
#include "fault/say.hpp"
#include "fault/trial.hpp"
#include "fault/watchdog.hpp"

namespace taskdag::test {
namespace {

/// FNV-1a over the bytes.
std::uint64_t digest(const std::vector<double>& x, std::uint64_t hash) {
  for (const double value : x) {
    unsigned char bytes[sizeof(double)];
    std::memcpy(bytes, &value, sizeof(double));
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001B3ULL;
  }
  return hash;
}

/// @returns whether all is right
bool run_subject(const Context& context, const Subject& subject, bool hogged, int turns) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  bool right = true;
  bool alone = true;
  for (const CsrMatrix& a : {grid_matrix(40), solid_matrix(), random_matrix()}) {
    Trial trial(context, subject, a);
    const std::vector<double> first = trial.expected(0, 0);
    hash = digest(first, hash);
    const auto solver = trial.make();
    const cuda::DeviceArray<double> x = trial.solutions(1);
    const auto solve = [&](int solves) {
      for (int k = 0; k < solves; ++k) {
        solver->solve(trial.side(0), x.data(), MemorySpace::device, trial.handle(0));
      }
      cuda::check(cudaStreamSynchronize(trial.stream(0)), "waiting for the solves");
    };
    solve(6);  // kernels are loaded when they are first launched, which would wait for the hog
    for (int turn = 0; turn < turns; ++turn) {
      std::optional<Hog> hog;
      if (hogged) hog.emplace();
      solve(5);
      if (hog) alone = hog->release() && alone;
      right = same_bits(cuda::fetch_array(x.data(), trial.rows(), trial.stream(0)), first) && right;
    }
  }
  std::printf("%s: %016" PRIx64 "%s\n", subject.name().c_str(), hash, right ? "" : " wrong");
  // A kernel whose blocks must all run at once cannot begin beside the hog.
  if (!alone) std::fprintf(stderr, "%s waited for the end of the other kernel\n", subject.name().c_str());
  return right;
}

int run(int count, char** words) {
  bool hogged = false;
  int turns = 3;
  for (int k = 1; k < count; ++k) {
    const std::string word = words[k];
    if (word == "--hog") {
      hogged = true;
    } else if (word == "--turns" && k + 1 < count) {
      turns = std::stoi(words[++k]);
    } else {
      throw InvalidInput("unknown: " + word);
    }
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return 77;
  }
  const Context context = Context::create({.backend = Backend::cuda});
  std::printf("multiprocessors: %d\n", cuda::device_limits().multiprocessors);
  bool right = true;
  for (const Subject& subject : subjects(Backend::cuda)) {
    watch(subject.name());
    right = run_subject(context, subject, hogged, turns) && right;
  }
  watch("");
  return right && wrongs() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace taskdag::test

int main(int count, char** words) {
  try {
    return taskdag::test::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fault_digest: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
