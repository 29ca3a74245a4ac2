// usage: fault_soak [--solves N] [--seconds T] [--backend host|cuda] [--threads N]
//
// Solves with every subject of the backend until N solves are done or T seconds are over, whichever comes first: on
// two streams in turn (CUDA), with two sets of values in turn. Each result is held bitwise against the first one of its
// kind, that against the serial reference; the memory of the device and of the process has to stay where it is.
// Ends with the line `N solves, N subjects, N wrong`; the status is 0 only if none was wrong and the memory is flat.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/measure.hpp"
#include "backend/problems.hpp"
#include "fault/device_memory.hpp"
#include "fault/subject.hpp"
#include "fault/watchdog.hpp"
#include "support/effort.hpp"

namespace taskdag::test {
namespace {

struct Options {
  std::int64_t solves = 20000;
  double seconds = 30.0;
  Backend backend = Backend::host;
  int threads = 2;
};

Options parse(int count, char** words) {
  Options options;
  for (int k = 1; k + 1 < count; k += 2) {
    const std::string name = words[k];
    const std::string value = words[k + 1];
    if (name == "--solves") {
      options.solves = std::stoll(value);
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    } else if (name == "--threads") {
      options.threads = std::stoi(value);
    } else if (name == "--backend" && (value == "host" || value == "cuda")) {
      options.backend = value == "cuda" ? Backend::cuda : Backend::host;
    } else {
      throw InvalidInput("unknown: " + name + " " + value);
    }
  }
  if (count % 2 == 0) throw InvalidInput(std::string("a value is missing after ") + words[count - 1]);
  return options;
}

/// Resident memory of this process in bytes.
std::int64_t resident_bytes() {
  std::int64_t pages = 0;
  std::int64_t resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

/// A stream with a right-hand side and a solution of its own; host memory where there is no device.
struct Lane {
  Lane(DeviceStream* on, const std::vector<double>& side) : device(on), b(on, side), x(on, side) {}
  [[nodiscard]] MemorySpace space() const { return device == nullptr ? MemorySpace::host : MemorySpace::device; }
  [[nodiscard]] Stream stream() const { return device == nullptr ? Stream{} : device->stream(); }
  DeviceStream* device;
  Array<double> b;
  Array<double> x;
};

/// A set of values, and what comes of it.
struct Values {
  Values(DeviceStream* device, const std::vector<double>& numbers) : array(device, numbers) {}
  Array<double> array;
  std::vector<double> reference;
  std::vector<double> first;  ///< the first result; empty before
};

/// One subject with two sets of values, on two streams.
class SolveLoop {
 public:
  /// `a`: the subject's own matrix.
  SolveLoop(const Context& context, const Subject& subject, const CsrMatrix& a, DeviceStream* device,
            DeviceStream* other)
      : subject_(subject),
        side_(numbered_side(subject.elements(a), 0)),
        lanes_{Lane(device, side_), Lane(other, side_)} {
    solver_ = make_solver(context, subject, a, lanes_[0].stream());
    for (const std::vector<double>& numbers : {a.values, other_values(a.values)}) {
      sets_.emplace_back(device, numbers);
      sets_.back().reference = solver_->reference(numbers, side_);
    }
  }

  /// That many solves with each set of values, on the streams in turn and two of them at a time without a wait.
  /// @returns how many results are wrong
  int run(int solves) {
    int wrong = 0;
    for (Values& set : sets_) {
      solver_->load(set.array.data(), lanes_[0].space(), lanes_[0].stream());
      for (int k = 0; k < solves; k += 2) {
        for (Lane& lane : lanes_) solver_->solve(lane.b.data(), lane.x.data(), lane.space(), lane.stream());
        for (Lane& lane : lanes_) wrong += is_right(set, lane.x.read()) ? 0 : 1;
      }
      wrong += solver_->outcome() == SolveOutcome::success ? 0 : 1;
    }
    return wrong;
  }
  [[nodiscard]] std::string name() const { return subject_.name(); }

 private:
  static bool is_right(Values& set, const std::vector<double>& x) {
    if (!set.first.empty()) return same_bits(x, set.first);
    set.first = x;
    return difference(x, set.reference) <= kForwardBound;
  }

  Subject subject_;
  std::vector<double> side_;
  std::array<Lane, 2> lanes_;
  std::unique_ptr<Solver> solver_;
  std::vector<Values> sets_;
};

int soak(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const Context context = Context::create({.backend = options.backend, .threads = options.threads});
  const bool cuda = options.backend == Backend::cuda;
  const auto device = cuda ? make_device_stream() : nullptr;
  const auto other = cuda ? make_device_stream() : nullptr;
  std::vector<SolveLoop> loops;
  for (const CsrMatrix& a : {grid_matrix(40), random_matrix()}) {
    for (const Subject& subject : subjects(options.backend)) {
      watch("making " + subject.name());
      loops.emplace_back(context, subject, subject.matrix(a), device.get(), other.get());
    }
  }
  constexpr int kTurn = 10;
  std::int64_t solves = 0;
  int wrong = 0;
  std::int64_t memory = 0;
  std::int64_t device_memory = 0;
  int rounds = 0;
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  // After two rounds everything has been taken that is taken once.
  while (rounds < 3 || (solves < options.solves && elapsed() < options.seconds)) {
    for (SolveLoop& loop : loops) {
      watch(loop.name() + " after " + std::to_string(solves) + " solves");
      const int failures = loop.run(kTurn);
      if (failures > 0) std::printf("wrong: %s, %d of %d\n", loop.name().c_str(), failures, 2 * kTurn);
      wrong += failures;
      solves += 2 * kTurn;
    }
    if (++rounds == 2) {
      memory = resident_bytes();
      device_memory = free_device_bytes(options.backend);
    }
  }
  watch("");
  const std::int64_t grown = resident_bytes() - memory;
  const std::int64_t device_grown = device_memory - free_device_bytes(options.backend);
  // A sanitizer keeps what is freed for a while.
  const std::int64_t most = std::int64_t{kSanitized ? 512 : 16} << 20;
  const std::int64_t device_most = std::int64_t{64} << 20;  // other processes have a share of the device
  if (grown > most) std::printf("wrong: the process has grown by %lld bytes\n", static_cast<long long>(grown));
  if (device_grown > device_most) {
    std::printf("wrong: the device has %lld bytes less\n", static_cast<long long>(device_grown));
  }
  std::printf("%d rounds in %.1f s, memory %+lld bytes, device %+lld bytes\n", rounds, elapsed(),
              static_cast<long long>(grown), static_cast<long long>(device_grown));
  std::printf("%lld solves, %zu subjects, %d wrong\n", static_cast<long long>(solves), loops.size(), wrong);
  return wrong == 0 && grown <= most && device_grown <= device_most ? EXIT_SUCCESS : EXIT_FAILURE;
}

int run(int count, char** words) {
  std::setbuf(stdout, nullptr);
  const Options options = parse(count, words);
  if (options.backend == Backend::cuda && probe_devices().devices == 0) {
    std::printf("skipped: %s\n", probe_devices().message.c_str());
    return 77;
  }
  return soak(options);
}

}  // namespace
}  // namespace taskdag::test

int main(int count, char** words) {
  try {
    return taskdag::test::run(count, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fault_soak: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
