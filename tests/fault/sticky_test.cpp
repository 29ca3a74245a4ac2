// A device error that stays, as after a kernel of the application that traps: every public call says so, none hangs,
// and objects go without harm.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/problems.hpp"
#include "backends/cuda/stream.hpp"
#include "fault/child.hpp"
#include "fault/kernels.hpp"
#include "fault/say.hpp"
#include "fault/subject.hpp"
#include "taskdag/error.hpp"

namespace taskdag::test {
namespace {

constexpr int kQuietSeconds = 25;
// A process each: no device is left to it afterwards.
constexpr const char* kCalls = "calls";
constexpr const char* kInFlight = "in_flight";

/// A call that has to throw DeviceError with words.
void expect_device_error(const std::string& name, const std::function<void()>& call) {
  note(name);
  try {
    call();
    wrong(name + " throws nothing");
  } catch (const DeviceError& error) {
    // The library's words and the runtime's.
    if (std::string(error.what()).size() < 20) wrong(name + " says only: " + error.what());
  } catch (const std::exception& error) {
    wrong(name + " throws something else: " + error.what());
  }
}

/// All objects of the library with work done, and what is called on them afterwards.
class Objects {
 public:
  Objects()
      : device_(make_device_stream()),
        a_(grid_matrix(20)),
        arrays_(device_.get(), a_),
        b_(device_.get(), right_hand_side(2 * a_.rows)),
        x_(device_.get(), right_hand_side(2 * a_.rows)),
        host_b_(right_hand_side(2 * a_.rows)),
        host_x_(host_b_) {
    for (const Subject& subject : subjects(Backend::cuda)) {
      solvers_.push_back({subject, make_solver(context_, subject, a_, stream())});
      solvers_.back().solver->solve(b_.data(), x_.data(), MemorySpace::device, stream());
    }
    triangle_ = std::make_unique<TriangularSolver>(context_, arrays_.view(), MemorySpace::device,
                                                   TriangularOptions{.columns = 2}, stream());
    factor_ = std::make_unique<Factorization>(context_, arrays_.pattern(), MemorySpace::device,
                                              FactorOptions{.kind = FactorKind::ic}, std::span<const Index>{},
                                              std::span<const Index>{}, stream());
    static_cast<void>(factor_->factor(arrays_.values(), MemorySpace::device, stream()));
    jacobi_ =
        std::make_unique<Jacobi>(context_, arrays_.view(), MemorySpace::device, JacobiOptions{.sweeps = 3}, stream());
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
  }

  void break_device() {
    launch_trap(static_cast<cudaStream_t>(stream().handle));
    if (cudaDeviceSynchronize() == cudaSuccess) wrong("the trap is not seen");
  }

  void call_everything() {
    for (const MemorySpace space : {MemorySpace::device, MemorySpace::host}) {
      const std::string where = space == MemorySpace::device ? ", device memory" : ", host memory";
      const double* const b = space == MemorySpace::device ? b_.data() : host_b_.data();
      double* const x = space == MemorySpace::device ? x_.data() : host_x_.data();
      for (const auto& [subject, solver] : solvers_) {
        expect_device_error("solve, " + subject.name() + where,
                            [&, s = solver.get()] { s->solve(b, x, space, stream()); });
      }
      const Index n = a_.rows;
      expect_device_error("solve_many" + where, [&] { triangle_->solve_many(2, b, n, x, n, space, stream()); });
      for (const Apply part : {Apply::full, Apply::transposed, Apply::symmetric_left, Apply::symmetric_right}) {
        const std::string name = ", part " + std::to_string(static_cast<int>(part)) + where;
        expect_device_error("apply" + name, [&] { factor_->apply(part, b, x, space, stream()); });
        expect_device_error("apply_many" + name, [&] { factor_->apply_many(part, 2, b, n, x, n, space, stream()); });
      }
      for (const bool transposed : {false, true}) {
        expect_device_error("Jacobi::apply" + where, [&] { jacobi_->apply(b, x, space, transposed, stream()); });
      }
    }
    for (const auto& [subject, solver] : solvers_) {
      expect_device_error("outcome(), " + subject.name(), [&, s = solver.get()] { static_cast<void>(s->outcome()); });
      expect_device_error("outcome(stream), " + subject.name(),
                          [&, s = solver.get()] { static_cast<void>(s->outcome(stream())); });
    }
    expect_device_error("copy_factor", [&] { static_cast<void>(factor_->copy_factor()); });
    call_what_makes();
    // Last: where these fail, solves ask for new values first.
    for (const MemorySpace space : {MemorySpace::device, MemorySpace::host}) {
      const bool device = space == MemorySpace::device;
      for (const auto& [subject, solver] : solvers_) {
        const double* const values = device ? arrays_.values() : a_.values.data();
        expect_device_error("new values, " + subject.name(),
                            [&, s = solver.get()] { s->load(values, space, stream()); });
      }
      const CsrView view = device ? arrays_.view() : a_.view();
      expect_device_error("Jacobi::update_values", [&] { jacobi_->update_values(view, space, stream()); });
    }
  }

 private:
  void call_what_makes() {
    for (const MemorySpace space : {MemorySpace::device, MemorySpace::host}) {
      const CsrView view = space == MemorySpace::device ? arrays_.view() : a_.view();
      for (const SolveSchedule schedule : solve_schedules(Backend::cuda)) {
        const std::string name = std::string(", ") + to_string(schedule);
        TriangularOptions triangle;
        triangle.schedule = schedule;
        expect_device_error("TriangularSolver" + name,
                            [&] { TriangularSolver(context_, view, space, triangle, stream()); });
        FactorOptions factor;
        factor.schedule = schedule;
        expect_device_error("Factorization" + name,
                            [&] { Factorization(context_, view.pattern, space, factor, {}, {}, stream()); });
      }
      expect_device_error("Jacobi", [&] { Jacobi(context_, view, space, {}, stream()); });
      if (space == MemorySpace::device) {  // a pattern in host memory may be ordered there
        expect_device_error("reverse_cuthill_mckee", [&] {
          static_cast<void>(reverse_cuthill_mckee(context_, view.pattern, space, nullptr, stream()));
        });
      }
      expect_device_error("multicolour",
                          [&] { static_cast<void>(multicolour(context_, view.pattern, space, stream())); });
      expect_device_error("block_multicolour", [&] {
        static_cast<void>(block_multicolour(context_, view.pattern, space, {.block_size = 16}, stream()));
      });
      expect_device_error("diagonal_dominance",
                          [&] { static_cast<void>(diagonal_dominance(context_, view, space, {}, stream())); });
      expect_device_error("dependency_levels", [&] {
        static_cast<void>(dependency_levels(context_, view.pattern, space, Triangle::lower, stream()));
      });
    }
    expect_device_error("Context::create", [] { static_cast<void>(Context::create({.backend = Backend::cuda})); });
  }

  [[nodiscard]] Stream stream() const { return device_->stream(); }

  struct Named {
    Subject subject;
    std::unique_ptr<Solver> solver;
  };
  Context context_ = Context::create({.backend = Backend::cuda});
  std::unique_ptr<DeviceStream> device_;
  CsrMatrix a_;
  MatrixArrays arrays_;
  Array<double> b_;
  Array<double> x_;
  std::vector<double> host_b_;
  std::vector<double> host_x_;
  std::vector<Named> solvers_;
  std::unique_ptr<TriangularSolver> triangle_;
  std::unique_ptr<Factorization> factor_;
  std::unique_ptr<Jacobi> jacobi_;
};

/// What the host does goes on after the device's error.
void host_backend_goes_on() {
  const Context context = Context::create({.backend = Backend::host, .threads = 2});
  const CsrMatrix a = grid_matrix(10);
  TriangularSolver solver(context, a.view(), MemorySpace::host, {});
  const std::vector<double> b = right_hand_side(a.rows);
  std::vector<double> x(b.size());
  solver.solve(b.data(), x.data(), MemorySpace::host);
  if (solver.outcome() != SolveOutcome::success) wrong("the host backend does not solve");
}

void call_after_error() {
  {
    Objects objects;
    objects.break_device();
    objects.call_everything();
    note("destructors");
  }
  host_backend_goes_on();
}

void end_with_trap_in_flight() {
  const CsrMatrix a = grid_matrix(20);
  const Context context = Context::create({.backend = Backend::cuda});
  const auto device = make_device_stream();
  Array<double> b(device.get(), right_hand_side(a.rows));
  std::vector<std::unique_ptr<Solver>> solvers;
  for (const Subject& subject : subjects(Backend::cuda)) {
    solvers.push_back(make_solver(context, subject, a, device->stream()));
  }
  launch_trap(static_cast<cudaStream_t>(device->stream().handle));
  for (const auto& solver : solvers) {
    try {
      solver->solve(b.data(), b.data(), MemorySpace::device, device->stream());
    } catch (const DeviceError&) {
      note("the error was seen by a solve");
    }
  }
  solvers.clear();
}

TEST(StickyErrorTest, EveryCallSaysSoAndNothingHangs) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  EXPECT_EQ(run_in_children(kCalls, kQuietSeconds), 1);
}

TEST(StickyErrorTest, ObjectsGoWithATrapInFlight) {
  if (probe_devices().devices == 0) GTEST_SKIP() << probe_devices().message;
  EXPECT_EQ(run_in_children(kInFlight, kQuietSeconds), 1);
}

}  // namespace
}  // namespace taskdag::test

int main(int count, char** words) {
  std::string kind;
  int first = 0;
  if (taskdag::test::is_child(count, words, kind, first)) {
    using namespace taskdag::test;
    return run_cases({{kind, kind == kCalls ? call_after_error : end_with_trap_in_flight}}, first);
  }
  testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
