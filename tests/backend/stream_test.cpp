// Solves that are captured into CUDA graphs, and calls on one object from several streams.
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends.hpp"
#include "backends/cuda/memory.hpp"
#include "device_fixture.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"
#include "taskdag/taskdag.hpp"

namespace taskdag {
namespace {

constexpr int kReplays = 1000;
constexpr int kPairs = 200;

/// A captured sequence of calls.
class Graph {
 public:
  template <class Submit>
  Graph(cudaStream_t stream, const Submit& submit) {
    cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning to capture");
    submit();
    cudaGraph_t graph = nullptr;
    cuda::check(cudaStreamEndCapture(stream, &graph), "capturing");
    const cudaError_t made = cudaGraphInstantiate(&executable_, graph, 0);
    static_cast<void>(cudaGraphDestroy(graph));
    cuda::check(made, "instantiating");
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { static_cast<void>(cudaGraphExecDestroy(executable_)); }
  void replay(cudaStream_t stream) const { cuda::check(cudaGraphLaunch(executable_, stream), "replaying"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

/// Deep and narrow; wide; rows with many entries; two levels.
std::vector<test::Problem> cases() {
  const auto stencil = [](Stencil kind, Index n, Index nz, Index unknowns) {
    return make_stencil({.stencil = kind, .nx = n, .ny = n, .nz = nz, .unknowns_per_node = unknowns});
  };
  return {{"5-point 60 x 60", stencil(Stencil::five_point, 60, 1, 1)},
          {"7-point 12 x 12 x 12", stencil(Stencil::seven_point, 12, 12, 1)},
          {"27-point, 3 unknowns, 5 x 5 x 5", stencil(Stencil::twenty_seven_point, 5, 5, 3)},
          {"arrow 400", test::arrow(400)},
          {"diagonal 500", test::tridiagonal(500, 0.0, 2.0, 0.0)}};
}

std::vector<double> numbered(Index n, int k) {
  std::vector<double> b = test::right_hand_side(n);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] *= 1.0 + 0.01 * static_cast<double>((static_cast<int>(i) + k) % 17);
  return b;
}

class StreamTest : public test::OnDevice<testing::TestWithParam<SolveSchedule>> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (IsSkipped() || GetParam() != SolveSchedule::cells) return;
    if (!test::device_has_cells()) GTEST_SKIP() << "this device cannot run cells";
  }
  using Vector = cuda::DeviceArray<double>;

  [[nodiscard]] Vector device(const std::vector<double>& host) const { return cuda::upload(host, stream()); }
  [[nodiscard]] std::vector<double> host(const Vector& array, cudaStream_t s) const {
    return cuda::fetch_array(array.data(), array.size(), s);
  }
  [[nodiscard]] static Stream handle(cudaStream_t s) { return {s}; }

  /// Runs `body(a, make)` for each case; make() gives a fresh object.
  template <class Body>
  void with_triangles(const Body& body) {
    const Context context = Context::create({.backend = Backend::cuda});
    for (const test::Problem& c : cases()) {
      for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
        SCOPED_TRACE(c.name + (triangle == Triangle::lower ? ", lower" : ", upper"));
        TriangularOptions options{.triangle = triangle};
        options.schedule = GetParam();
        body(c.a, [&] { return TriangularSolver(context, c.a.view(), MemorySpace::host, options); });
      }
    }
  }
};

TEST_P(StreamTest, ACapturedSolveMayBeReplayedWithOtherRightHandSides) {
  with_triangles([&](const CsrMatrix& a, const auto& make) {
    TriangularSolver direct = make();
    TriangularSolver captured = make();
    const std::vector<double> b0 = numbered(a.rows, 0);
    const Vector b = device(b0);
    const Vector x = device(std::vector<double>(b0.size(), -1.0));
    const Vector expected = device(b0);
    const auto submit = [&] { captured.solve(b.data(), x.data(), MemorySpace::device, handle(stream())); };
    std::unique_ptr<Graph> graph;
    try {
      graph = std::make_unique<Graph>(stream(), submit);
    } catch (const Unsupported&) {  // in words, before anything was captured
      cudaGraph_t nothing = nullptr;
      ASSERT_EQ(cudaStreamEndCapture(stream(), &nothing), cudaSuccess);
      static_cast<void>(cudaGraphDestroy(nothing));
    }
    if (graph) {
      const int replays = a.rows > 3000 ? kReplays : 30;
      for (int k = 0; k < replays; ++k) {
        const std::vector<double> bk = numbered(a.rows, k);
        cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
        graph->replay(stream());
        if (k % 5 == 3) submit();  // direct solves in between change nothing
        direct.solve(b.data(), expected.data(), MemorySpace::device, handle(stream()));
        ASSERT_TRUE(test::same_bits(host(x, stream()), host(expected, stream()))) << "replay " << k;
      }
    }
    // A capture that is never replayed, or that was refused, leaves the object as it was.
    for (int k = 0; k < 3; ++k) {
      const std::vector<double> bk = numbered(a.rows, 1000 + k);
      cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
      submit();
      direct.solve(b.data(), expected.data(), MemorySpace::device, handle(stream()));
      ASSERT_TRUE(test::same_bits(host(x, stream()), host(expected, stream())));
    }
  });
}

TEST_P(StreamTest, SolvesOnTwoStreamsNeedNoEvents) {
  const cuda::UniqueStream other;
  with_triangles([&](const CsrMatrix& a, const auto& make) {
    TriangularSolver solver = make();
    const Vector b = device(numbered(a.rows, 0));
    const Vector x[2] = {device(numbered(a.rows, 1)), device(numbered(a.rows, 1))};
    const Vector expected = device(numbered(a.rows, 1));
    solver.solve(b.data(), expected.data(), MemorySpace::device, handle(stream()));
    for (int k = 0; k < kPairs; ++k) {
      solver.solve(b.data(), x[0].data(), MemorySpace::device, handle(stream()));
      solver.solve(b.data(), x[1].data(), MemorySpace::device, handle(other.get()));
    }
    const std::vector<double> first = host(expected, stream());
    EXPECT_TRUE(test::same_bits(host(x[0], stream()), first));
    EXPECT_TRUE(test::same_bits(host(x[1], other.get()), first));
  });
}

TEST_P(StreamTest, ValuesThatAreTakenOnAnotherStreamAreThereForTheNextSolve) {
  const cuda::UniqueStream other;
  with_triangles([&](const CsrMatrix& a, const auto& make) {
    TriangularSolver solver = make();
    TriangularSolver alone = make();
    std::vector<double> larger = a.values;
    for (double& value : larger) value *= 2.0;
    const Vector values[2] = {device(a.values), device(larger)};
    const Vector b = device(numbered(a.rows, 0));
    const Vector x = device(numbered(a.rows, 1));
    const Vector expected = device(numbered(a.rows, 1));
    for (int k = 0; k < 20; ++k) {
      solver.update_values(values[k % 2].data(), MemorySpace::device, handle(other.get()));
      solver.solve(b.data(), x.data(), MemorySpace::device, handle(stream()));
    }
    alone.update_values(values[1].data(), MemorySpace::device, handle(stream()));
    alone.solve(b.data(), expected.data(), MemorySpace::device, handle(stream()));
    EXPECT_TRUE(test::same_bits(host(x, stream()), host(expected, stream())));
  });
}

TEST_P(StreamTest, TheOutcomeIsKnownAfterTheStreamIsGone) {
  with_triangles([&](const CsrMatrix& a, const auto& make) {
    TriangularSolver solver = make();
    std::vector<double> bad = numbered(a.rows, 0);
    bad[bad.size() / 2] = std::numeric_limits<double>::quiet_NaN();
    const Vector b = device(bad);
    const Vector x = device(bad);
    {
      const cuda::UniqueStream gone;
      solver.solve(b.data(), x.data(), MemorySpace::device, handle(gone.get()));
    }
    EXPECT_EQ(solver.outcome(), SolveOutcome::non_finite);
    EXPECT_EQ(solver.outcome(), SolveOutcome::success);
  });
}

TEST_P(StreamTest, AnObjectMayGoWhileItsSolvesRun) {
  with_triangles([&](const CsrMatrix& a, const auto& make) {
    const Vector b = device(numbered(a.rows, 0));
    const Vector x = device(numbered(a.rows, 1));
    TriangularSolver stays = make();
    const Vector expected = device(numbered(a.rows, 1));
    stays.solve(b.data(), expected.data(), MemorySpace::device, handle(stream()));
    const std::vector<double> right = host(expected, stream());
    {
      TriangularSolver solver = make();
      for (int k = 0; k < 20; ++k) solver.solve(b.data(), x.data(), MemorySpace::device, handle(stream()));
    }
    EXPECT_TRUE(test::same_bits(host(x, stream()), right));
  });
}

TEST_P(StreamTest, ACapturedApplicationMayBeReplayed) {
  const Context context = Context::create({.backend = Backend::cuda});
  for (const test::Problem& c : cases()) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      for (const Precision precision : {Precision::in_double, Precision::in_single}) {
        SCOPED_TRACE(c.name + (kind == FactorKind::ilu ? ", ilu, " : ", ic, ") + to_string(precision));
        FactorOptions options;
        options.kind = kind;
        options.schedule = GetParam();
        options.precision = precision;
        const SolveScheduleInfo& row = solve_schedule_catalogue()[static_cast<std::size_t>(GetParam())];
        if (precision == Precision::in_single && !row.single_on_cuda) continue;
        const auto make = [&] {
          Factorization f(context, c.a.pattern(), MemorySpace::host, options);
          static_cast<void>(f.factor(c.a.values.data(), MemorySpace::host));
          return f;
        };
        const bool may_lack = precision == Precision::in_single && GetParam() == SolveSchedule::cells;
        try {
          if (may_lack) static_cast<void>(make());
        } catch (const Unsupported&) {
          EXPECT_EQ(c.name.find("-point 60"), std::string::npos) << "cells have bands in single precision";
          continue;
        }
        Factorization captured = make();
        Factorization direct = make();
        const Vector b = device(numbered(c.a.rows, 0));
        const Vector x = device(numbered(c.a.rows, 1));
        const Vector expected = device(numbered(c.a.rows, 1));
        std::unique_ptr<Graph> graph;
        try {
          graph = std::make_unique<Graph>(stream(), [&] {
            captured.apply(Apply::full, b.data(), x.data(), MemorySpace::device, handle(stream()));
          });
        } catch (const Unsupported&) {
          cudaGraph_t nothing = nullptr;
          ASSERT_EQ(cudaStreamEndCapture(stream(), &nothing), cudaSuccess);
          static_cast<void>(cudaGraphDestroy(nothing));
          continue;
        }
        std::vector<double> larger = c.a.values;
        for (double& value : larger) value *= 2.0;
        for (int k = 0; k < 60; ++k) {
          if (k == 30) {  // a graph sees new values
            static_cast<void>(captured.factor(larger.data(), MemorySpace::host, handle(stream())));
            static_cast<void>(direct.factor(larger.data(), MemorySpace::host, handle(stream())));
          }
          const std::vector<double> bk = numbered(c.a.rows, k);
          cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
          graph->replay(stream());
          direct.apply(Apply::full, b.data(), expected.data(), MemorySpace::device, handle(stream()));
          ASSERT_TRUE(test::same_bits(host(x, stream()), host(expected, stream()))) << "replay " << k;
        }
      }
    }
  }
}

/// SOR by rows and by point blocks: captured iterations, with new values in between.
TEST_P(StreamTest, CapturedSorMayBeReplayed) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix grid = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  for (const Index block_size : {1, 3}) {
    SCOPED_TRACE("blocks of " + std::to_string(block_size));
    const CsrMatrix a = block_size > 1 ? test::with_blocks(grid, block_size, false) : grid;
    const Index elements = a.rows * block_size;
    const auto make = [&] {
      Sor sor(context, a.pattern(), MemorySpace::host,
              {.omega = 1.2, .schedule = GetParam(), .block_size = block_size});
      EXPECT_TRUE(sor.update_values(a.values.data(), MemorySpace::host).ok());
      return sor;
    };
    Sor captured = make();
    Sor direct = make();
    const Vector b = device(numbered(elements, 0));
    const Vector x = device(numbered(elements, 1));
    const Vector expected = device(numbered(elements, 1));
    const auto run = [&](Sor& sor, const Vector& to) {
      sor.iterate(SorSweep::symmetric, 2, SorStart::zero, b.data(), to.data(), MemorySpace::device, handle(stream()));
    };
    std::unique_ptr<Graph> graph;
    try {
      graph = std::make_unique<Graph>(stream(), [&] { run(captured, x); });
    } catch (const Unsupported&) {
      cudaGraph_t nothing = nullptr;
      ASSERT_EQ(cudaStreamEndCapture(stream(), &nothing), cudaSuccess);
      static_cast<void>(cudaGraphDestroy(nothing));
      continue;
    }
    std::vector<double> larger = a.values;
    for (double& value : larger) value *= 2.0;
    for (int k = 0; k < 40; ++k) {
      if (k == 20) {
        for (Sor* const one : {&captured, &direct}) {
          EXPECT_TRUE(one->update_values(larger.data(), MemorySpace::host, handle(stream())).ok());
        }
      }
      const std::vector<double> bk = numbered(elements, k);
      cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
      graph->replay(stream());
      run(direct, expected);
      ASSERT_TRUE(test::same_bits(host(x, stream()), host(expected, stream()))) << "replay " << k;
    }
  }
}

TEST_P(StreamTest, SorRefusesToCaptureHostMemory) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  Sor sor(context, a.pattern(), MemorySpace::host, {.schedule = GetParam()});
  ASSERT_TRUE(sor.update_values(a.values.data(), MemorySpace::host).ok());
  sor.set_diagonal(a.values.data(), MemorySpace::host);
  const std::vector<double> b = numbered(a.rows, 0);
  std::vector<double> x = b;
  const Graph graph(stream(), [&] {
    const Stream s = handle(stream());
    EXPECT_THROW(sor.solve_lower(b.data(), x.data(), MemorySpace::host, s), Unsupported);
    EXPECT_THROW(sor.multiply_upper(b.data(), x.data(), MemorySpace::host, s), Unsupported);
    EXPECT_THROW(sor.pivots(x.data(), MemorySpace::host, s), Unsupported);
    EXPECT_THROW(sor.multiply_transformed(b.data(), x.data(), MemorySpace::host, s), Unsupported);
    EXPECT_THROW(sor.update_values(a.values.data(), MemorySpace::host, s), Unsupported);
  });
  graph.replay(stream());  // the capture is intact, and empty
  cuda::synchronize(stream());
}

using OneStreamTest = test::OnDevice<>;

/// Pivots that a stream is late to read are those of the values that had been taken when they were asked for.
/// take(k, stream): new values, others for k = 0 than for k = 1.
template <class Solver, class Take>
void expect_pivots_in_order(const Solver& solver, Index rows, const Take& take, cudaStream_t s) {
  const cuda::UniqueStream late;
  const cuda::DeviceArray<double> expected = cuda::upload(numbered(rows, 0), s);
  const cuda::DeviceArray<double> found = cuda::upload(numbered(rows, 0), s);
  take(0, s);
  solver.pivots(expected.data(), MemorySpace::device, {s});
  // After a change of streams calls leave events behind, and nobody waits for the whole device.
  solver.pivots(found.data(), MemorySpace::device, {late.get()});
  take(0, s);
  const auto wait = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(200)); };
  cuda::check(cudaLaunchHostFunc(late.get(), wait, nullptr), "making a stream late");
  solver.pivots(found.data(), MemorySpace::device, {late.get()});
  take(1, s);
  cuda::synchronize(s);
  EXPECT_TRUE(test::same_bits(cuda::fetch_array(found.data(), found.size(), late.get()),
                              cuda::fetch_array(expected.data(), expected.size(), s)));
}

TEST_F(OneStreamTest, PivotsAreReadBeforeTheNextValuesAreTaken) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 60});
  std::vector<std::vector<double>> values(2, a.values);
  for (double& value : values[1]) value *= 3.0;
  for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
    Factorization f(context, a.pattern(), MemorySpace::host, {.kind = kind});
    const auto take = [&](std::size_t k, cudaStream_t s) {
      EXPECT_TRUE(f.factor(values[k].data(), MemorySpace::host, {s}).ok());
    };
    expect_pivots_in_order(f, a.rows, take, stream());
  }
  Sor sor(context, a.pattern(), MemorySpace::host, {});
  const auto take = [&](std::size_t k, cudaStream_t s) {
    EXPECT_TRUE(sor.update_values(values[k].data(), MemorySpace::host, {s}).ok());
  };
  expect_pivots_in_order(sor, a.rows, take, stream());
}

using OneBlockStreamTest = test::OnDevice<>;

// By one thread block, where an application of another kind is that of another factor.
TEST_F(OneBlockStreamTest, CapturedApplicationsOfBothKindsMayBeReplayed) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 75, .ny = 75, .wind = 0.3});
  FactorOptions options;
  options.one_block_rows = 20000;
  const auto make = [&] {
    Factorization f(context, a.pattern(), MemorySpace::host, options);
    static_cast<void>(f.factor(a.values.data(), MemorySpace::host));
    return f;
  };
  Factorization captured = make();
  Factorization direct = make();
  for (const Apply part : {Apply::full, Apply::transposed}) {
    const cuda::DeviceArray<double> b = cuda::upload(numbered(a.rows, 0), stream());
    const cuda::DeviceArray<double> x = cuda::upload(numbered(a.rows, 1), stream());
    const cuda::DeviceArray<double> expected = cuda::upload(numbered(a.rows, 1), stream());
    const auto run = [&](Factorization& f, const cuda::DeviceArray<double>& to) {
      f.apply(part, b.data(), to.data(), MemorySpace::device, {stream()});
    };
    run(captured, x);  // makes what the first application of this kind needs
    const Graph graph(stream(), [&] { run(captured, x); });
    std::vector<double> values = a.values;
    for (int k = 0; k < 20; ++k) {
      if (k % 5 == 0) {  // a graph sees new values, however many factors there have been
        for (double& value : values) value *= 1.25;
        static_cast<void>(captured.factor(values.data(), MemorySpace::host, {stream()}));
        static_cast<void>(direct.factor(values.data(), MemorySpace::host, {stream()}));
      }
      const std::vector<double> bk = numbered(a.rows, k);
      cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
      graph.replay(stream());
      run(direct, expected);
      EXPECT_LE(test::difference(cuda::fetch_array(x.data(), x.size(), stream()),
                                 cuda::fetch_array(expected.data(), expected.size(), stream())),
                test::kForwardBound)
          << "replay " << k;
    }
    EXPECT_EQ(captured.info().lower_schedule, SolveSchedule::one_block);
  }
}

Factorization left_after(Index applications, const CsrMatrix& a, cudaStream_t s) {
  FactorOptions options;
  options.one_block_rows = 5000;
  options.one_block_applications = applications;
  Factorization f(Context::create({.backend = Backend::cuda}), a.pattern(), MemorySpace::host, options, {}, {}, {s});
  static_cast<void>(f.factor(a.values.data(), MemorySpace::host, {s}));
  return f;
}

CsrMatrix windy(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = n, .wind = 0.3}); }

TEST_F(OneBlockStreamTest, WhatHasBeenCapturedIsNotLeft) {
  const CsrMatrix a = windy(40);
  Factorization f = left_after(2, a, stream());
  const cuda::DeviceArray<double> b = cuda::upload(numbered(a.rows, 0), stream());
  const cuda::DeviceArray<double> x = cuda::upload(numbered(a.rows, 1), stream());
  const cuda::DeviceArray<double> y = cuda::upload(numbered(a.rows, 1), stream());
  const auto run = [&](const cuda::DeviceArray<double>& to) {
    f.apply(Apply::full, b.data(), to.data(), MemorySpace::device, {stream()});
  };
  run(y);
  run(y);
  const Graph graph(stream(), [&] { run(x); });  // the one that would leave it
  std::vector<double> values = a.values;
  for (int k = 0; k < 6; ++k) {
    graph.replay(stream());
    run(y);
    EXPECT_TRUE(test::same_bits(cuda::fetch_array(x.data(), x.size(), stream()),
                                cuda::fetch_array(y.data(), y.size(), stream())));
    EXPECT_EQ(f.info().lower_schedule, SolveSchedule::one_block);
    EXPECT_EQ(f.info().one_block_limit, 0);
    for (double& value : values) value *= 1.25;
    static_cast<void>(f.factor(values.data(), MemorySpace::host, {stream()}));
  }
}

TEST_F(OneBlockStreamTest, WhatHasBeenAppliedBeforeItIsLeftMayBeCapturedAfterIt) {
  constexpr Index kColumns = 5;
  const CsrMatrix a = windy(40);
  Factorization f = left_after(2, a, stream());
  std::vector<double> all;
  for (Index k = 0; k < kColumns; ++k) {
    const std::vector<double> column = numbered(a.rows, static_cast<int>(k));
    all.insert(all.end(), column.begin(), column.end());
  }
  const cuda::DeviceArray<double> b = cuda::upload(all, stream());
  const cuda::DeviceArray<double> x = cuda::upload(all, stream());
  const cuda::DeviceArray<double> y = cuda::upload(all, stream());
  const auto run = [&](const cuda::DeviceArray<double>& to, Index columns) {
    f.apply_many(Apply::full, columns, b.data(), a.rows, to.data(), a.rows, MemorySpace::device, {stream()});
  };
  run(y, kColumns);
  run(y, 1);
  EXPECT_EQ(f.info().lower_schedule, SolveSchedule::one_block);
  run(y, 1);
  EXPECT_NE(f.info().lower_schedule, SolveSchedule::one_block);
  for (const Index columns : {Index{1}, kColumns}) {
    const Graph graph(stream(), [&] { run(x, columns); });
    std::vector<double> values = a.values;
    for (int k = 0; k < 4; ++k) {
      graph.replay(stream());
      run(y, columns);
      const std::size_t written = static_cast<std::size_t>(columns) * static_cast<std::size_t>(a.rows);
      EXPECT_TRUE(test::same_bits(cuda::fetch_array(x.data(), written, stream()),
                                  cuda::fetch_array(y.data(), written, stream())));
      for (double& value : values) value *= 1.25;
      static_cast<void>(f.factor(values.data(), MemorySpace::host, {stream()}));
    }
  }
}

TEST_F(OneBlockStreamTest, CallsKeepTheirOrderWhereItIsLeft) {
  const CsrMatrix a = windy(60);
  const cuda::UniqueStream other;
  const std::vector<double> first = numbered(a.rows, 0);
  std::vector<double> expected;
  for (const bool two : {false, true}) {
    Factorization f = left_after(10, a, stream());
    const cuda::DeviceArray<double> x = cuda::upload(first, stream());
    for (int k = 0; k < 14; ++k) {
      const cudaStream_t s = two && k % 2 == 1 ? other.get() : stream();
      f.apply(Apply::full, x.data(), x.data(), MemorySpace::device, {s});  // of what the call before has left
    }
    cuda::check(cudaDeviceSynchronize(), "waiting for the device");
    const std::vector<double> found = cuda::fetch_array(x.data(), x.size(), stream());
    EXPECT_NE(f.info().lower_schedule, SolveSchedule::one_block);
    if (two) {
      EXPECT_TRUE(test::same_bits(found, expected));
    }
    expected = found;
  }
}

/// Two products of Eisenstat's trick in a row, captured and replayed, have the bits of two that are not captured.
/// Nothing happens where the schedule cannot be captured.
void expect_replayed_products(const CsrMatrix& a, const FactorOptions& options, const std::vector<Index>& order,
                              TransformScaling scaling, cudaStream_t s) {
  using Vector = cuda::DeviceArray<double>;
  const Context context = Context::create({.backend = Backend::cuda});
  const auto take = [&](Factorization& f, const std::vector<double>& values) {
    static_cast<void>(f.factor(values.data(), MemorySpace::host, {s}));
    f.set_diagonal(numbered(a.rows, 7).data(), MemorySpace::host, {s}, scaling);
  };
  Factorization captured(context, a.pattern(), MemorySpace::host, options, order, order);
  Factorization direct(context, a.pattern(), MemorySpace::host, options, order, order);
  take(captured, a.values);
  take(direct, a.values);
  const Vector v = cuda::upload(numbered(a.rows, 0), s);
  const Vector w = cuda::upload(numbered(a.rows, 1), s);
  const Vector y = cuda::upload(numbered(a.rows, 1), s);
  const auto twice = [&](Factorization& f) {
    f.multiply_transformed(v.data(), w.data(), MemorySpace::device, {s});
    f.multiply_transformed(w.data(), y.data(), MemorySpace::device, {s});
  };
  std::unique_ptr<Graph> graph;
  try {
    graph = std::make_unique<Graph>(s, [&] { twice(captured); });
  } catch (const Unsupported&) {
    cudaGraph_t nothing = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(s, &nothing), cudaSuccess);
    static_cast<void>(cudaGraphDestroy(nothing));
    return;
  }
  std::vector<double> larger = a.values;
  for (double& value : larger) value *= 2.0;
  for (int k = 0; k < 60; ++k) {
    if (k == 30) {  // a graph sees new values
      take(captured, larger);
      take(direct, larger);
    }
    const std::vector<double> vk = numbered(a.rows, k);
    cuda::copy_to_device(v.data(), vk.data(), vk.size(), s);
    graph->replay(s);
    const std::vector<double> replayed = cuda::fetch_array(y.data(), y.size(), s);
    if (k % 5 == 3) twice(captured);  // direct products in between change nothing
    twice(direct);
    ASSERT_TRUE(test::same_bits(replayed, cuda::fetch_array(y.data(), y.size(), s))) << "replay " << k;
  }
}

TEST_P(StreamTest, ACapturedProductOfEisenstatMayBeReplayed) {
  for (const test::Problem& c : cases()) {
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      SCOPED_TRACE(c.name + (kind == FactorKind::ilu ? ", dilu" : ", dic"));
      FactorOptions options;
      options.kind = kind;
      options.diagonal_only = true;
      options.schedule = GetParam();
      for (const TransformScaling scaling : {TransformScaling::none, TransformScaling::symmetric})
        expect_replayed_products(c.a, options, {}, scaling, stream());
    }
  }
}

using BlocksStreamTest = test::OnDevice<>;

// More cells than thread blocks at once, so that the second sweep begins while the first one is at work.
TEST_F(BlocksStreamTest, ACapturedProductOfEisenstatMayBeReplayed) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 1000, .ny = 1000});
  BlockOrdering ordering =
      block_multicolour(Context::create({.backend = Backend::cuda}), a.pattern(), MemorySpace::host, {});
  FactorOptions options;
  options.kind = FactorKind::ic;
  options.diagonal_only = true;
  options.schedule = SolveSchedule::blocks;
  options.blocks = std::make_shared<const RowBlocks>(std::move(ordering.blocks));
  for (const TransformScaling scaling : {TransformScaling::none, TransformScaling::symmetric})
    expect_replayed_products(a, options, ordering.order, scaling, stream());
}

class JacobiStreamTest : public test::OnDevice<testing::TestWithParam<JacobiForm>> {};

TEST_P(JacobiStreamTest, CapturedSweepsMayBeReplayed) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 70, .ny = 60});
  const auto make = [&](JacobiForm form) {
    return Jacobi(context, a.view(), MemorySpace::host, {.sweeps = 7, .form = form, .part_entries = 200});
  };
  Jacobi captured = make(GetParam());
  Jacobi direct = make(JacobiForm::kernels);
  const auto b = cuda::upload(numbered(a.rows, 0), stream());
  const auto x = cuda::upload(numbered(a.rows, 1), stream());
  const auto expected = cuda::upload(numbered(a.rows, 1), stream());
  const auto same = [&] {
    return test::same_bits(cuda::fetch_array(x.data(), x.size(), stream()),
                           cuda::fetch_array(expected.data(), x.size(), stream()));
  };
  const Graph graph(stream(), [&] {
    captured.apply(b.data(), x.data(), MemorySpace::device, false, Stream{stream()});
    captured.apply(b.data(), x.data(), MemorySpace::device, false, Stream{stream()});
  });
  for (int k = 0; k < 100; ++k) {
    const std::vector<double> bk = numbered(a.rows, k);
    cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
    graph.replay(stream());
    direct.apply(b.data(), expected.data(), MemorySpace::device, false, Stream{stream()});
    ASSERT_TRUE(same()) << "replay " << k;
    if (k % 10 == 0) {  // between replays, too
      captured.apply(b.data(), x.data(), MemorySpace::device, false, Stream{stream()});
      ASSERT_TRUE(same());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, JacobiStreamTest,
                         testing::Values(JacobiForm::kernels, JacobiForm::stages_phases, JacobiForm::stages,
                                         JacobiForm::checkpoints, JacobiForm::autonomous, JacobiForm::tiles,
                                         JacobiForm::resident),
                         [](const auto& parameter) {
                           std::string name = to_string(parameter.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class BlockJacobiStreamTest : public test::OnDevice<testing::Test> {};

TEST_F(BlockJacobiStreamTest, CapturedSweepsMayBeReplayed) {
  const Context context = Context::create({.backend = Backend::cuda});
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 70, .ny = 60});
  const JacobiBlocks blocks = blocks_of_graph(context, a.pattern(), MemorySpace::host);
  BlockJacobi captured(context, a.pattern(), MemorySpace::host, blocks, {.sweeps = 3, .damping = 0.7});
  BlockJacobi direct(context, a.pattern(), MemorySpace::host, blocks, {.sweeps = 3, .damping = 0.7});
  for (BlockJacobi* one : {&captured, &direct}) ASSERT_TRUE(one->update_values(a.view(), MemorySpace::host).ok());
  const auto b = cuda::upload(numbered(a.rows, 0), stream());
  const auto x = cuda::upload(numbered(a.rows, 1), stream());
  const auto expected = cuda::upload(numbered(a.rows, 1), stream());
  const Graph graph(stream(), [&] {
    captured.apply(b.data(), x.data(), MemorySpace::device, false, Stream{stream()});
    EXPECT_THROW(captured.update_values(a.view(), MemorySpace::host, Stream{stream()}), Unsupported);
    EXPECT_THROW(captured.apply(b.data(), x.data(), MemorySpace::device, true, Stream{stream()}), Unsupported);
  });
  for (int k = 0; k < 10; ++k) {
    const std::vector<double> bk = numbered(a.rows, k);
    cuda::copy_to_device(b.data(), bk.data(), bk.size(), stream());
    graph.replay(stream());
    direct.apply(b.data(), expected.data(), MemorySpace::device, false, Stream{stream()});
    ASSERT_TRUE(test::same_bits(cuda::fetch_array(x.data(), x.size(), stream()),
                                cuda::fetch_array(expected.data(), x.size(), stream())))
        << "replay " << k;
  }
}

std::vector<SolveSchedule> schedules() {
  const auto all = solve_schedules(Backend::cuda);
  std::vector<SolveSchedule> result(all.begin(), all.end());
  std::erase(result, SolveSchedule::blocks);  // of orderings by blocks
  return result;
}

INSTANTIATE_TEST_SUITE_P(Cuda, StreamTest, testing::ValuesIn(schedules()), [](const auto& parameter) {
  std::string name = to_string(parameter.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace taskdag
