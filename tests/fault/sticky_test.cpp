// A device error that stays, as after a kernel of the application that traps: every public call says so, none hangs,
// and objects go without harm.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/problems.hpp"
#include "backends/cuda/stream.hpp"
#include "fault/child.hpp"
#include "fault/kernels.hpp"
#include "fault/loops.hpp"
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
      solvers_.push_back(std::make_unique<Named>(context_, device_.get(), subject, a_));
      solvers_.back()->solver->solve(b_.data(), x_.data(), MemorySpace::device, stream());
    }
    triangle_ = std::make_unique<TriangularSolver>(context_, arrays_.view(), MemorySpace::device,
                                                   TriangularOptions{.columns = 2}, stream());
    factor_ = std::make_unique<Factorization>(context_, arrays_.pattern(), MemorySpace::device,
                                              FactorOptions{.kind = FactorKind::ic}, std::span<const Index>{},
                                              std::span<const Index>{}, stream());
    static_cast<void>(factor_->factor(arrays_.values(), MemorySpace::device, stream()));
    jacobi_ =
        std::make_unique<Jacobi>(context_, arrays_.view(), MemorySpace::device, JacobiOptions{.sweeps = 3}, stream());
    for (LinearMap* const map : maps()) map->apply(b_.data(), x_.data(), stream());
    for (const auto& krylov : krylovs_) static_cast<void>(krylov->solve(b_.data(), x_.data(), false, {}, stream()));
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
      for (const auto& one : solvers_) {
        expect_device_error("solve, " + one->subject.name() + where,
                            [&] { one->solver->solve(b, x, space, stream()); });
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
    for (const auto& one : solvers_) {
      if (!one->solver->has_outcome()) continue;
      expect_device_error("outcome(), " + one->subject.name(), [&] { static_cast<void>(one->solver->outcome()); });
      expect_device_error("outcome(stream), " + one->subject.name(),
                          [&] { static_cast<void>(one->solver->outcome(stream())); });
    }
    expect_device_error("copy_factor", [&] { static_cast<void>(factor_->copy_factor()); });
    call_loops();
    call_what_makes();
    // Last: where these fail, solves ask for new values first.
    for (const MemorySpace space : {MemorySpace::device, MemorySpace::host}) {
      const bool device = space == MemorySpace::device;
      for (const auto& one : solvers_) {
        const double* const values = device ? one->values.data() : one->matrix.values.data();
        expect_device_error("new values, " + one->subject.name(), [&] { one->solver->load(values, space, stream()); });
      }
      const CsrView view = device ? arrays_.view() : a_.view();
      expect_device_error("Jacobi::update_values", [&] { jacobi_->update_values(view, space, stream()); });
    }
  }

 private:
  /// A subject's solver, with its matrix and the values of that in device memory.
  struct Named {
    Named(const Context& context, DeviceStream* device, const Subject& what, const CsrMatrix& by_rows)
        : subject(what),
          matrix(what.matrix(by_rows)),
          values(device, matrix.values),
          solver(make_solver(context, what, matrix, device->stream())) {}
    Subject subject;
    CsrMatrix matrix;
    Array<double> values;
    std::unique_ptr<Solver> solver;
  };

  [[nodiscard]] std::array<LinearMap*, 2> maps() const { return {cycle_.get(), sweeps_.get()}; }

  void call_loops() {
    double* const x = x_.data();
    expect_device_error("Cycle::apply", [&] { cycle_->apply(b_.data(), x, stream()); });
    expect_device_error("RankSweeps::apply", [&] { sweeps_->apply(b_.data(), x, stream()); });
    expect_device_error("RankSweeps::load", [&] { loops_.load(*sweeps_); });
    expect_device_error("RankSweeps::has_lost_rank", [&] { static_cast<void>(sweeps_->has_lost_rank()); });
    for (const auto& krylov : krylovs_) {
      const std::string name = std::string(", form ") + to_string(krylov->info().form);
      expect_device_error("Krylov::solve" + name,
                          [&] { static_cast<void>(krylov->solve(b_.data(), x, false, {}, stream())); });
      expect_device_error("Krylov::begin" + name,
                          [&] { static_cast<void>(krylov->begin(b_.data(), x, false, {}, stream())); });
    }
    expect_device_error("Krylov::set_null_space", [&] { krylovs_.front()->set_null_space(true, {}); });
    expect_device_error("Cycle", [&] { static_cast<void>(loops_.make_cycle()); });
    expect_device_error("RankSweeps", [&] { static_cast<void>(loops_.make_sweeps()); });
    expect_device_error("Krylov", [&] { static_cast<void>(loops_.make_krylov({}, nullptr)); });
  }

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
        SorOptions sor;
        sor.schedule = schedule;
        expect_device_error("Sor" + name, [&] { Sor(context_, view.pattern, space, sor, {}, stream()); });
      }
      expect_device_error("Factorization by point blocks", [&] {
        Factorization(context_, view.pattern, space, FactorOptions{.block_size = 2}, {}, {}, stream());
      });
      expect_device_error("Sor by point blocks",
                          [&] { Sor(context_, view.pattern, space, SorOptions{.block_size = 2}, {}, stream()); });
      expect_device_error("Jacobi", [&] { Jacobi(context_, view, space, {}, stream()); });
      expect_device_error("BlockJacobi", [&] {
        BlockJacobi(context_, view.pattern, space, consecutive_blocks(a_.rows, 8), {}, stream());
      });
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

  Context context_ = Context::create({.backend = Backend::cuda});
  std::unique_ptr<DeviceStream> device_;
  CsrMatrix a_;
  MatrixArrays arrays_;
  Array<double> b_;
  Array<double> x_;
  std::vector<double> host_b_;
  std::vector<double> host_x_;
  std::vector<std::unique_ptr<Named>> solvers_;
  std::unique_ptr<TriangularSolver> triangle_;
  std::unique_ptr<Factorization> factor_;
  std::unique_ptr<Jacobi> jacobi_;
  Loops loops_{context_, device_.get(), 20};
  std::unique_ptr<Cycle> cycle_ = loops_.make_cycle();
  std::unique_ptr<RankSweeps> sweeps_ = loops_.make_sweeps();
  /// By the form that few rows have, and by that of many.
  std::array<std::unique_ptr<Krylov>, 2> krylovs_{loops_.make_krylov({}, &loops_.diagonal()),
                                                  loops_.make_krylov({}, cycle_.get())};
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
  Array<double> b(device.get(), right_hand_side(2 * a.rows));
  Array<double> x(device.get(), right_hand_side(2 * a.rows));
  std::vector<std::unique_ptr<Solver>> solvers;
  for (const Subject& subject : subjects(Backend::cuda)) {
    solvers.push_back(make_solver(context, subject, subject.matrix(a), device->stream()));
  }
  Loops loops(context, device.get(), 20);
  std::unique_ptr<Cycle> cycle = loops.make_cycle();
  std::unique_ptr<RankSweeps> sweeps = loops.make_sweeps();
  std::unique_ptr<Krylov> krylov = loops.make_krylov({}, cycle.get());
  launch_trap(static_cast<cudaStream_t>(device->stream().handle));
  const auto in_flight = [](const std::function<void()>& solve) {
    try {
      solve();
    } catch (const DeviceError&) {
      note("the error was seen by a solve");
    }
  };
  for (const auto& solver : solvers) {
    in_flight([&] { solver->solve(b.data(), x.data(), MemorySpace::device, device->stream()); });
  }
  in_flight([&] { cycle->apply(b.data(), x.data(), device->stream()); });
  in_flight([&] { sweeps->apply(b.data(), x.data(), device->stream()); });
  in_flight([&] { static_cast<void>(krylov->solve(b.data(), x.data(), false, {}, device->stream())); });
  krylov.reset();
  sweeps.reset();
  cycle.reset();
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
