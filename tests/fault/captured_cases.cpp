#include <algorithm>

#include "fault/say.hpp"
#include "fault/stream_cases.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

using cuda::DeviceArray;

/// A vector in device memory that graphs read and write, with a solver.
struct Captured {
  explicit Captured(Trial& of) : trial(of), solver(of.make()), b(of.solutions(1)), x(of.solutions(1)) {}

  void solve() { solver->solve(b.data(), x.data(), MemorySpace::device, trial.handle(0)); }
  /// The right-hand side of what runs next.
  void set_side(int k, cudaStream_t stream) { cuda::copy_on_device(b.data(), trial.side(k), trial.rows(), stream); }
  /// A graph of submit(); says so where it is refused.
  template <class Submit>
  std::optional<CapturedGraph> capture(const Submit& submit) {
    std::optional<CapturedGraph> graph = CapturedGraph::of(trial.stream(0), submit);
    if (!graph) wrong("refuses to be captured");
    return graph;
  }
  std::optional<CapturedGraph> capture_solve() {
    return capture([&] { solve(); });
  }
  void expect(int side, int set, const std::string& what) { trial.expect(x.data(), side, set, what); }
  void solve_directly(int side, int set, const std::string& what) {
    set_side(side, trial.stream(0));
    solve();
    expect(side, set, what + ", direct");
  }

  Trial& trial;
  std::unique_ptr<Solver> solver;
  DeviceArray<double> b;
  DeviceArray<double> x;
};

/// `count` replays, each with another right-hand side, none waited for.
void replay(Captured& c, const CapturedGraph& graph, int count, cudaStream_t stream, const std::string& what) {
  const std::size_t rows = c.trial.rows();
  const DeviceArray<double> results = c.trial.solutions(count);
  for (int k = 0; k < count; ++k) {
    c.set_side(k, stream);
    graph.replay(stream);
    cuda::copy_on_device(results.data() + static_cast<std::size_t>(k) * rows, c.x.data(), rows, stream);
  }
  for (int k = 0; k < count; ++k) {
    c.trial.expect(results.data() + static_cast<std::size_t>(k) * rows, k, 0, what + ", replay " + std::to_string(k));
  }
}

template <int Count>
void replayed(Trial& trial) {
  for (const int before : {0, 6}) {  // captured as the first solve, and when the schedule has settled
    Captured c(trial);
    for (int k = 0; k < before; ++k) c.solve_directly(k, 0, "before the capture");
    const auto graph = c.capture_solve();
    if (!graph) return;
    // On the stream of the capture and on another one.
    replay(c, *graph, Count, trial.stream(Count % 2), "after " + std::to_string(before) + " solves");
    c.solve_directly(1, 0, "after the replays");
    if (c.solver->outcome() != SolveOutcome::success) wrong("outcome() is not success");
  }
}

void never_replayed(Trial& trial) {
  Captured c(trial);
  static_cast<void>(c.capture_solve());
  for (int k = 0; k < 6; ++k) c.solve_directly(k, 0, "after a capture that is not replayed");
  for (int k = 0; k < 2; ++k) static_cast<void>(c.capture_solve());
  for (int k = 0; k < 6; ++k) c.solve_directly(k, 0, "after more captures");
}

void replays_and_solves_in_turn(Trial& trial) {
  constexpr int kTurns = 50;
  Captured c(trial);
  const auto graph = c.capture_solve();
  if (!graph) return;
  const std::size_t rows = trial.rows();
  const DeviceArray<double> direct = trial.solutions(kTurns);
  const DeviceArray<double> replayed = trial.solutions(kTurns);
  for (int k = 0; k < kTurns; ++k) {
    const std::size_t at = static_cast<std::size_t>(k) * rows;
    c.set_side(k, trial.stream(0));
    graph->replay(trial.stream(0));
    cuda::copy_on_device(replayed.data() + at, c.x.data(), rows, trial.stream(0));
    for (int solves = 0; solves <= k % 3; ++solves) {
      c.solver->solve(trial.side(k + 1), direct.data() + at, MemorySpace::device, trial.handle(0));
    }
  }
  for (int k = 0; k < kTurns; ++k) {
    const std::size_t at = static_cast<std::size_t>(k) * rows;
    trial.expect(replayed.data() + at, k, 0, "in turn, replay " + std::to_string(k));
    trial.expect(direct.data() + at, k + 1, 0, "in turn, solve " + std::to_string(k));
  }
}

/// A graph sees the values of the last update.
void new_values_between_replays(Trial& trial) {
  Captured c(trial);
  const auto graph = c.capture_solve();
  for (int k = 0; k < 6; ++k) {
    const int set = k % 2;
    c.solver->load(trial.values(set), MemorySpace::device, trial.handle(0));
    if (graph) {
      c.set_side(k, trial.stream(0));
      graph->replay(trial.stream(0));
      c.expect(k, set, "a replay after new values");
    }
    c.solve_directly(k + 1, set, "after new values");
  }
}

/// New values are a part of the graph: a triangle takes them without the host.
void captured_values(Trial& trial) {
  Captured c(trial);
  const DeviceArray<double> values(trial.entries(), trial.stream(0));
  const auto set_values = [&](int set) {
    cuda::copy_on_device(values.data(), trial.values(set), trial.entries(), trial.stream(0));
  };
  set_values(0);
  const auto load = [&] { c.solver->load(values.data(), MemorySpace::device, trial.handle(0)); };
  const auto graph = CapturedGraph::of(trial.stream(0), [&] {
    load();
    c.solve();
  });
  if (trial.subject().work != Work::triangle) {
    if (graph) wrong("new values need the host and were captured");
    c.solve_directly(0, 0, "after new values that need the host have refused a capture");
    return;
  }
  const SolveSchedule schedule = c.solver->schedule();
  const bool rewrites =
      std::ranges::find(solve_schedule_catalogue(), schedule, &SolveScheduleInfo::schedule)->rewrites_rows;
  if (!graph) {
    if (!rewrites) wrong("refuses to capture new values");
    note("refuses to capture new values");
    c.solve_directly(0, 0, "after new values have refused a capture");
    return;
  }
  for (int k = 0; k < 10; ++k) {
    set_values(k % 2);
    c.set_side(k, trial.stream(0));
    graph->replay(trial.stream(0));
    c.expect(k, k % 2, "replay " + std::to_string(k) + " with new values");
  }
  c.solve_directly(1, 1, "after captured values");  // the last replay's
  c.solver->load(trial.values(0), MemorySpace::device, trial.handle(0));
  c.solve_directly(2, 0, "after values of no graph");
}

/// Host memory cannot be captured: in words, and the capture goes on.
void host_memory_is_refused(Trial& trial) {
  Captured c(trial);
  const std::vector<double> b = numbered_side(static_cast<Index>(trial.rows()), 0);
  std::vector<double> x(b.size());
  for (int k = 0; k < 2; ++k) {
    const auto graph = CapturedGraph::of(
        trial.stream(0), [&] { c.solver->solve(b.data(), x.data(), MemorySpace::host, trial.handle(0)); });
    if (graph) wrong("a solve with host memory was captured");
    c.solve_directly(k, 0, "after a refusal");
  }
}

constexpr StreamCase kCases[] = {{"replayed_once", replayed<1>},
                                 {"replayed_twice", replayed<2>},
                                 {"replayed_1000_times", replayed<1000>},
                                 {"never_replayed", never_replayed},
                                 {"replays_and_solves_in_turn", replays_and_solves_in_turn},
                                 {"new_values_between_replays", new_values_between_replays},
                                 {"captured_values", captured_values},
                                 {"host_memory_is_refused", host_memory_is_refused}};

}  // namespace

std::span<const StreamCase> captured_cases() { return kCases; }

}  // namespace taskdag::test
