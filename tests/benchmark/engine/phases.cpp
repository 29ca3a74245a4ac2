// Time per phase of a program of many short phases, and per task of one of wide phases, for each scheduler and each who
// changes the phase. Rows of CSV; the result of each run is checked.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "taskdag/engine/runner.hpp"
#include "taskdag/taskdag.hpp"

namespace phases_bench {

using namespace taskdag;

struct Counts {
  int* of;  ///< by column: rounds that it has run
  int width;
  int rounds;
};

/// Items: round · width + column. Rounds alternate between two phases.
template <int Parity>
struct Round {
  using Item = int;
  static constexpr auto name = Parity == 0 ? "even round" : "odd round";
  static constexpr int max_children = 1;
  static constexpr bool waits = false;
  using Creates = engine::Types<Round<1 - Parity>>;
  template <class Context>
  TASKDAG_TASK static void execute(Context& context, const int& item) {
    const Counts& counts = context.data();
    const int column = item % counts.width;
    if (counts.of[column]++ != item / counts.width) context.fail(1);
    if (item / counts.width + 1 < counts.rounds) context.template enqueue<Round<1 - Parity>>(item + counts.width);
  }
};
using Program =
    engine::Program<Counts, engine::PhaseQueue<engine::Phaseless<>, engine::Phase<Round<0>>, engine::Phase<Round<1>>>>;

struct Way {
  const char* name;
  engine::Scheduler scheduler;
  engine::PhaseChange phases;
};
constexpr Way kWays[] = {
    {"megakernel, phases by workers", engine::Scheduler::megakernel, engine::PhaseChange::by_workers},
    {"megakernel, phases on host", engine::Scheduler::megakernel, engine::PhaseChange::on_host},
    {"megakernel, automatic", engine::Scheduler::megakernel, engine::PhaseChange::automatic},
    {"timesliced", engine::Scheduler::timesliced, engine::PhaseChange::automatic},
    {"controller", engine::Scheduler::device_controller, engine::PhaseChange::automatic},
};

/// @returns whether each task has run once, round after round
bool measure(const Context& context, const Way& way, int width, int rounds) {
  engine::Array<int> counts(context, static_cast<std::size_t>(width));
  engine::Runner<Program> runner(context, {.queue_capacity = static_cast<std::uint32_t>(width)});
  std::vector<int> first(static_cast<std::size_t>(width));
  std::iota(first.begin(), first.end(), 0);
  engine::RunOptions options;
  options.scheduler = way.scheduler;
  options.phases = way.phases;
  std::vector<double> seconds;
  bool right = true;
  for (int repetition = 0; repetition < 6; ++repetition) {  // the first one warms up
    counts.clear();
    runner.enqueue<Round<0>>(first);
    const engine::Report report = runner.run({counts.data(), width, rounds}, options);
    right =
        right && report.finished() && counts.download() == std::vector<int>(static_cast<std::size_t>(width), rounds);
    if (repetition != 0) seconds.push_back(report.seconds);
  }
  std::nth_element(seconds.begin(), seconds.begin() + 2, seconds.end());
  std::printf("%s,%d,%d,%.3g,%.3g,%s\n", way.name, width, rounds, seconds[2] / rounds * 1e6,
              seconds[2] / (static_cast<double>(width) * rounds) * 1e9, right ? "yes" : "no");
  return right;
}

int run(int argc, char** argv) {
  ContextOptions where{.backend = Backend::cuda};
  int rounds = 2000;
  int wide = 1 << 20;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    if (option == "--host" && i + 1 < argc) {
      where.backend = Backend::host;
      where.threads = std::atoi(argv[++i]);
    } else if (option == "--smoke") {
      rounds = 50;
      wide = 1000;
    } else {
      std::fprintf(stderr, "usage: %s [--host THREADS] [--smoke]\n", argv[0]);
      return 2;
    }
  }
  const Context context = Context::create(where);
  std::puts("way,tasks_per_phase,phases,us_per_phase,ns_per_task,checked");
  bool right = true;
  for (const Way& way : kWays) {
    for (const int width : {1, 1000}) right = measure(context, way, width, rounds) && right;
    right = measure(context, way, wide, 20) && right;
  }
  return right ? 0 : 1;
}

}  // namespace phases_bench

int main(int argc, char** argv) {
  try {
    return phases_bench::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
