#include <cmath>
#include <limits>
#include <utility>

#include "backend/measure.hpp"
#include "fault/say.hpp"
#include "fault/stream_cases.hpp"

namespace taskdag::test {
namespace {

using cuda::DeviceArray;
using cuda::UniqueEvent;
using cuda::UniqueStream;

constexpr int kPairs = 200;
constexpr int kWithEvents = 50;
constexpr int kInFlight = 20;

/// `count` solves, the k-th on stream(k), each with a place of its own for its result; then all results are looked at.
template <class OnStream>
void solve_in_turn(Trial& trial, Solver& solver, int count, const std::string& what, const OnStream& on_stream) {
  const DeviceArray<double> x = trial.solutions(count);
  const auto at = [&](int k) { return x.data() + static_cast<std::size_t>(k) * trial.rows(); };
  for (int k = 0; k < count; ++k) {
    on_stream(k, [&](cudaStream_t stream) { solver.solve(trial.side(k), at(k), MemorySpace::device, {stream}); });
  }
  for (int k = 0; k < count; ++k) trial.expect(at(k), k, 0, what + ", solve " + std::to_string(k));
}

void one_stream(Trial& trial) {
  const auto solver = trial.make();
  solve_in_turn(trial, *solver, 2 * kWithEvents, "one stream", [&](int, const auto& solve) { solve(trial.stream(0)); });
  if (solver->outcome(trial.handle(0)) != SolveOutcome::success) wrong("outcome(stream) is not success");
}

void two_streams(Trial& trial) {
  const auto solver = trial.make();
  solve_in_turn(trial, *solver, 2 * kPairs, "two streams",
                [&](int k, const auto& solve) { solve(trial.stream(k % 2)); });
  if (solver->outcome() != SolveOutcome::success) wrong("outcome() is not success");
}

void two_streams_with_events(Trial& trial) {
  const auto solver = trial.make();
  const UniqueEvent done;
  solve_in_turn(trial, *solver, 2 * kWithEvents, "two streams with events", [&](int k, const auto& solve) {
    solve(trial.stream(k % 2));
    done.record(trial.stream(k % 2));
    cuda::check(cudaStreamWaitEvent(trial.stream((k + 1) % 2), done.get(), 0), "waiting for an event");
  });
}

/// A result of one stream is the right-hand side of the next solve, on the other stream.
void handed_over(Trial& trial) {
  constexpr int kSteps = 10;
  const auto chain = [&](int streams) {
    const auto solver = trial.make();
    const DeviceArray<double> x = trial.solutions(2);
    double* const first = x.data();
    double* const second = trial.subject().may_be_in_place() ? first : first + trial.rows();
    cuda::copy_on_device(first, trial.side(1), trial.rows(), trial.stream(0));
    for (int k = 0; k < kSteps; ++k) {
      const bool even = k % 2 == 0;
      solver->solve(even ? first : second, even ? second : first, MemorySpace::device, trial.handle(k % streams));
    }
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
    return cuda::fetch_array(first, trial.rows(), trial.stream(0));
  };
  if (!same_bits(chain(1), chain(2))) wrong("a chain of solves over two streams is not that over one");
}

/// New values on one stream, the solve on the other.
void values_on_another_stream(Trial& trial) {
  const auto solver = trial.make();
  const DeviceArray<double> x = trial.solutions(kInFlight);
  const auto at = [&](int k) { return x.data() + static_cast<std::size_t>(k) * trial.rows(); };
  for (int k = 0; k < kInFlight; ++k) {
    solver->load(trial.values(k % 2), MemorySpace::device, trial.handle(1));
    solver->solve(trial.side(k), at(k), MemorySpace::device, trial.handle(0));
  }
  for (int k = 0; k < kInFlight; ++k) trial.expect(at(k), k, k % 2, "values on another stream, " + std::to_string(k));
}

void destroyed_in_flight(Trial& trial) {
  const DeviceArray<double> x = trial.solutions(kInFlight);
  const auto at = [&](int k) { return x.data() + static_cast<std::size_t>(k) * trial.rows(); };
  {
    const auto solver = trial.make();
    for (int k = 0; k < kInFlight; ++k) {
      solver->solve(trial.side(k), at(k), MemorySpace::device, trial.handle(k % 2));
    }
  }
  for (int k = 0; k < kInFlight; ++k) trial.expect(at(k), k, 0, "destroyed in flight, " + std::to_string(k));
}

void stream_gone(Trial& trial) {
  std::unique_ptr<Solver> solver;
  {
    const UniqueStream gone;
    solver = make_solver(trial.context(), trial.subject(), trial.matrix(), {gone.get()});
  }
  const DeviceArray<double> x = trial.solutions(1);
  solver->solve(trial.side(0), x.data(), MemorySpace::device, trial.handle(0));
  trial.expect(x.data(), 0, 0, "made on a stream that is gone");

  std::vector<double> bad = numbered_side(static_cast<Index>(trial.rows()), 0);
  bad[bad.size() / 2] = std::numeric_limits<double>::quiet_NaN();
  const DeviceArray<double> b = cuda::upload(bad, trial.stream(0));
  {
    const UniqueStream gone;
    solver->solve(b.data(), x.data(), MemorySpace::device, {gone.get()});
  }
  const SolveOutcome seen = solver->has_outcome() ? SolveOutcome::non_finite : SolveOutcome::success;
  if (solver->outcome() != seen) wrong("the NaN of a stream that is gone is not in outcome()");
  if (solver->outcome() != SolveOutcome::success) wrong("outcome() says the same thing twice");
  solver->solve(trial.side(2), x.data(), MemorySpace::device, trial.handle(1));
  trial.expect(x.data(), 2, 0, "after a stream that is gone");
  {
    const UniqueStream gone;
    solver->solve(trial.side(1), x.data(), MemorySpace::device, {gone.get()});
  }
  solver.reset();  // with work of a stream that is gone
  trial.expect(x.data(), 1, 0, "object and stream gone");
}

int current_device() {
  int device = -1;
  cuda::check(cudaGetDevice(&device), "asking for the current device");
  return device;
}

void other_device_current(Trial& trial) {
  int devices = 0;
  cuda::check(cudaGetDeviceCount(&devices), "counting devices");
  if (devices < 2) {
    note("skipped: one device");
    return;
  }
  const int own = trial.context().device();
  const int other = own == 0 ? 1 : 0;
  static_cast<void>(trial.expected(0, 0));
  static_cast<void>(trial.expected(1, 1));
  const DeviceArray<double> first = trial.solutions(1);
  const DeviceArray<double> second = trial.solutions(1);
  cuda::check(cudaSetDevice(other), "selecting a device");
  {
    const auto solver = trial.make();
    solver->solve(trial.side(0), first.data(), MemorySpace::device, trial.handle(0));
    solver->load(trial.values(1), MemorySpace::device, trial.handle(1));
    solver->solve(trial.side(1), second.data(), MemorySpace::device, trial.handle(1));
    if (solver->outcome() != SolveOutcome::success) wrong("outcome() is not success");
    if (current_device() != other) wrong("a call has changed the current device");
  }
  if (current_device() != other) wrong("a destructor has changed the current device");
  cuda::check(cudaSetDevice(own), "selecting a device");
  trial.expect(first.data(), 0, 0, "another device is current");
  trial.expect(second.data(), 1, 1, "another device is current, new values");
}

constexpr StreamCase kCases[] = {{"one_stream", one_stream},
                                 {"two_streams", two_streams},
                                 {"two_streams_with_events", two_streams_with_events},
                                 {"handed_over", handed_over},
                                 {"values_on_another_stream", values_on_another_stream},
                                 {"destroyed_in_flight", destroyed_in_flight, true},
                                 {"stream_gone", stream_gone, true},
                                 {"other_device_current", other_device_current}};

}  // namespace

std::span<const StreamCase> direct_cases() { return kCases; }

}  // namespace taskdag::test
