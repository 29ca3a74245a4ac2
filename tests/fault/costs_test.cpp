// What an application costs the host on CUDA once all is made that is made once: no wait, no memory and no copy to or
// from the device; of a solve by a Krylov method one wait, at its end, for the outcome that is copied.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "backend/backends.hpp"
#include "backend/device_fixture.hpp"
#include "backend/problems.hpp"
#include "fault/failing_cuda.hpp"
#include "fault/loops.hpp"
#include "fault/subject.hpp"
#include "fault/watchdog.hpp"
#include "support/device_code.hpp"

namespace taskdag::test {

static void PrintTo(const Costs& costs, std::ostream* out) {
  *out << costs.waits << " waits, " << costs.memory << " pieces of memory, " << costs.copies << " copies";
}

namespace {

constexpr Index kSide = 40;
constexpr Index kColumns = 3;
/// Applications before one is counted. Some schedules change how they launch from the fifth on.
constexpr int kBefore = 8;

class CostsTest : public OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped()) return;
    context_.emplace(Context::create({.backend = Backend::cuda}));
    device_ = make_device_stream();
    a_ = grid_matrix(kSide);
    const std::vector<double> side = right_hand_side(2 * kColumns * a_.rows);
    b_ = device_->upload(side.data(), side.size() * sizeof(double));
    x_ = device_->upload(side.data(), side.size() * sizeof(double));
  }
  ~CostsTest() override { watch(""); }

  [[nodiscard]] const Context& context() const { return *context_; }
  [[nodiscard]] DeviceStream* device() const { return device_.get(); }
  [[nodiscard]] Stream on() const { return device_->stream(); }
  [[nodiscard]] const CsrMatrix& matrix() const { return a_; }
  /// Room for kColumns vectors, those by point blocks too.
  [[nodiscard]] const double* b() const { return static_cast<const double*>(b_->data()); }
  [[nodiscard]] double* x() const { return static_cast<double*>(x_->data()); }

  void expect_costs(const std::string& what, const std::function<void()>& apply, const Costs& expected = {}) {
    watch(what);
    for (int k = 0; k < kBefore; ++k) apply();
    cuda_.arm(0);
    apply();
    static_cast<void>(cuda_.disarm());
    EXPECT_EQ(FailingCuda::costs(), expected) << what;
  }

 private:
  FailingCuda cuda_;
  std::optional<Context> context_;
  std::unique_ptr<DeviceStream> device_;
  CsrMatrix a_;
  std::unique_ptr<DeviceBuffer> b_;
  std::unique_ptr<DeviceBuffer> x_;
};

TEST_F(CostsTest, TheRuntimeIsCounted) {
  const cuda::UniqueEvent event;
  const auto calls = [&] {
    double value = 1.0;
    void* memory = nullptr;
    cuda::check(cudaMalloc(&memory, sizeof(value)), "taking memory");
    cuda::check(cudaMemcpy(memory, &value, sizeof(value), cudaMemcpyHostToDevice), "filling it");
    cuda::check(cudaMemcpyAsync(&value, memory, sizeof(value), cudaMemcpyDeviceToHost, stream()), "reading it");
    cuda::check(cudaStreamSynchronize(stream()), "waiting for a stream");
    event.record(stream());
    event.wait();
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
    cuda::check(cudaFree(memory), "giving it back");
  };
  expect_costs("calls of the runtime", calls, {.waits = 4, .memory = 2, .copies = 1});
}

TEST_F(CostsTest, EverySubjectCostsNothing) {
  for (const CsrMatrix& by_rows : {matrix(), random_matrix()}) {
    for (const Subject& subject : subjects(Backend::cuda)) {
      const auto solver = make_solver(context(), subject, subject.matrix(by_rows), on());
      expect_costs(subject.name() + ", " + std::to_string(by_rows.rows) + " rows",
                   [&] { solver->solve(b(), x(), MemorySpace::device, on()); });
    }
  }
}

TEST_F(CostsTest, EveryPartOfAFactorCostsNothing) {
  const auto expect_of = [&](const std::string& name, const FactorOptions& options) {
    Factorization f(context(), matrix().pattern(), MemorySpace::host, options, {}, {}, on());
    ASSERT_TRUE(f.factor(matrix().values.data(), MemorySpace::host, on()).ok()) << name;
    const Index n = matrix().rows;
    std::vector<Apply> parts{Apply::full, Apply::transposed};
    if (options.kind == FactorKind::ic) {
      parts.insert(parts.end(), {Apply::symmetric_left, Apply::symmetric_right});
    }
    for (const Apply part : parts) {
      const std::string where = name + ", part " + std::to_string(static_cast<int>(part));
      expect_costs(where, [&] { f.apply(part, b(), x(), MemorySpace::device, on()); });
      expect_costs(where + ", several right-hand sides",
                   [&] { f.apply_many(part, kColumns, b(), n, x(), n, MemorySpace::device, on()); });
    }
    expect_costs(name + ", lower half", [&] { f.solve_lower(b(), x(), MemorySpace::device, on()); });
    expect_costs(name + ", upper half", [&] { f.solve_upper(b(), x(), MemorySpace::device, on()); });
    if (options.levels > 0) return;
    f.set_diagonal(b(), MemorySpace::device, on());
    expect_costs(name + ", Eisenstat's product", [&] { f.multiply_transformed(b(), x(), MemorySpace::device, on()); });
  };
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    const std::string name = kind == FactorKind::ic ? "IC" : "ILU";
    expect_of(name, {.kind = kind});
    expect_of(name + " of level 1", {.kind = kind, .levels = 1});
    expect_of(kind == FactorKind::ic ? "DIC" : "DILU", {.kind = kind, .diagonal_only = true});
  }
}

TEST_F(CostsTest, OtherFormsOfAFactorCostNothing) {
  FactorOptions in_single;
  in_single.precision = Precision::in_single;
  FactorOptions by_one_block;
  by_one_block.one_block_rows = matrix().rows;
  for (const FactorOptions& options : {in_single, by_one_block}) {
    Factorization f(context(), matrix().pattern(), MemorySpace::host, options, {}, {}, on());
    ASSERT_TRUE(f.factor(matrix().values.data(), MemorySpace::host, on()).ok());
    expect_costs(std::string("ILU, ") + to_string(f.info().upper_schedule) + ", " + to_string(options.precision),
                 [&] { f.apply(Apply::full, b(), x(), MemorySpace::device, on()); });
  }
}

TEST_F(CostsTest, SeveralRightHandSidesOfATriangleCostNothing) {
  for (const SolveSchedule schedule : runnable_schedules(Backend::cuda)) {
    TriangularOptions options;
    options.schedule = schedule;
    options.columns = kColumns;
    TriangularSolver solver(context(), matrix().view(), MemorySpace::host, options, on());
    const Index n = matrix().rows;
    expect_costs(std::string("solve_many, ") + to_string(schedule),
                 [&] { solver.solve_many(kColumns, b(), n, x(), n, MemorySpace::device, on()); });
  }
}

TEST_F(CostsTest, SorIterationsCostNothing) {
  Sor sor(context(), matrix().pattern(), MemorySpace::host, {.omega = 1.2}, {}, on());
  ASSERT_TRUE(sor.update_values(matrix().values.data(), MemorySpace::host, on()).ok());
  for (const SorSweep sweep : {SorSweep::forward, SorSweep::backward, SorSweep::symmetric}) {
    for (const SorStart start : {SorStart::zero, SorStart::given}) {
      expect_costs(std::string("SOR, ") + to_string(sweep),
                   [&] { sor.iterate(sweep, 2, start, b(), x(), MemorySpace::device, on()); });
    }
  }
  sor.set_diagonal(b(), MemorySpace::device, on());
  expect_costs("SOR, Eisenstat's product", [&] { sor.multiply_transformed(b(), x(), MemorySpace::device, on()); });
}

TEST_F(CostsTest, EveryFormOfJacobiCostsNothing) {
  for (const JacobiForm form :
       {JacobiForm::kernels, JacobiForm::turning, JacobiForm::stages_phases, JacobiForm::stages,
        JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles, JacobiForm::resident}) {
    Jacobi jacobi(context(), matrix().view(), MemorySpace::host, {.sweeps = 3, .form = form, .part_entries = 200},
                  on());
    for (const bool transposed : {false, true}) {
      expect_costs(std::string("Jacobi, ") + to_string(form) + (transposed ? ", transposed" : ""),
                   [&] { jacobi.apply(b(), x(), MemorySpace::device, transposed, on()); });
    }
  }
  BlockJacobi blocks(context(), matrix().pattern(), MemorySpace::host, consecutive_blocks(matrix().rows, 8),
                     {.sweeps = 2}, on());
  ASSERT_TRUE(blocks.update_values(matrix().view(), MemorySpace::host, on()).ok());
  expect_costs("block Jacobi, transposed", [&] { blocks.apply(b(), x(), MemorySpace::device, true, on()); });
}

TEST_F(CostsTest, CyclesAndSweepsOverRanksCostNothing) {
  Loops loops(context(), device(), kSide);
  const std::unique_ptr<Cycle> cycle = loops.make_cycle();
  const std::unique_ptr<RankSweeps> sweeps = loops.make_sweeps();
  expect_costs("Cycle", [&] { cycle->apply(b(), x(), on()); });
  expect_costs("RankSweeps", [&] { sweeps->apply(b(), x(), on()); });
}

TEST_F(CostsTest, AKrylovSolveWaitsOnce) {
  Loops loops(context(), device(), kSide);
  const std::unique_ptr<Cycle> cycle = loops.make_cycle();
  for (const KrylovMethod method :
       {KrylovMethod::cg, KrylovMethod::bicgstab, KrylovMethod::gmres, KrylovMethod::minres}) {
    for (LinearMap* const map : {&loops.diagonal(), static_cast<LinearMap*>(cycle.get())}) {
      const std::unique_ptr<Krylov> krylov = loops.make_krylov({.method = method}, map);
      if (krylov->info().form == KrylovForm::host_driven && !kDeviceLink) continue;  // no graph has a loop
      std::int64_t iterations = 0;
      expect_costs(std::string(to_string(method)) + ", form " + to_string(krylov->info().form),
                   [&] { iterations = krylov->solve(b(), x(), false, {}, on()).iterations; },
                   {.waits = 1, .copies = 1});
      EXPECT_GT(iterations, 3) << to_string(method);
    }
  }
}

}  // namespace
}  // namespace taskdag::test
