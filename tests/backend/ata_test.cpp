// ATA and its baselines on CUDA: every policy, flow, coarse mode and granularity against the serial reference.
#include "papers/helal/ata.hpp"

#include <functional>
#include <limits>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "base/handover.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

using kernels::AtaOptions;
using kernels::AtaSweep;
using kernels::CoarseMode;
using kernels::SweepInput;
using test::DeviceTriangle;
using test::inverse_diagonal;
using test::Problem;
using test::upload;

using Make = std::function<std::unique_ptr<AtaSweep>(const SweepInput&, cudaStream_t)>;
struct Kind {
  std::string name;
  Make make;
  bool pull = true;  // sums in a fixed order
};

std::string to_text(AtaFlow flow) { return flow == AtaFlow::pull ? " pull" : " push"; }

std::vector<Kind> baselines() {
  std::vector<Kind> result;
  for (const AtaFlow flow : {AtaFlow::pull, AtaFlow::push}) {
    for (const SolveSchedule schedule :
         {SolveSchedule::level_launch, SolveSchedule::level_graph, SolveSchedule::level_barrier}) {
      result.push_back({to_string(schedule) + to_text(flow),
                        [=](const SweepInput& input, cudaStream_t stream) {
                          return kernels::make_level_sweep(schedule, input, stream, flow);
                        },
                        flow == AtaFlow::pull});
    }
    result.push_back({"self-scheduled" + to_text(flow),
                      [=](const SweepInput& input, cudaStream_t stream) {
                        return kernels::make_self_scheduled_sweep(input, stream, flow);
                      },
                      flow == AtaFlow::pull});
  }
  return result;
}

Kind ata(SolveSchedule policy, const AtaOptions& options) {
  return {to_string(policy) + to_text(options.flow) + (options.coarse == CoarseMode::graph ? " graph" : " streams") +
              ", S = " + std::to_string(options.granularity) + (options.rows_share_warps ? "" : ", a warp a row"),
          [=](const SweepInput& input, cudaStream_t stream) {
            return kernels::make_ata_sweep(policy, input, options, stream);
          },
          options.flow == AtaFlow::pull};
}

/// Granularity 0 is the measured one.
std::vector<Kind> all_kinds(const std::vector<Index>& granularities) {
  std::vector<Kind> result = baselines();
  for (const SolveSchedule policy : kernels::kAtaPolicies) {
    for (const AtaFlow flow : {AtaFlow::pull, AtaFlow::push}) {
      for (const CoarseMode coarse : {CoarseMode::graph, CoarseMode::streams}) {
        for (const Index granularity : granularities) {
          result.push_back(ata(policy, {.granularity = granularity, .flow = flow, .coarse = coarse}));
        }
      }
      result.push_back(ata(policy, {.granularity = 100, .flow = flow, .rows_share_warps = false}));
    }
  }
  return result;
}

void load(AtaSweep& sweep, const CsrMatrix& a, cudaStream_t stream) {
  const auto values = upload(a.values, stream);
  const auto pivots = upload(inverse_diagonal(a), stream);
  sweep.load_values(values.data(), pivots.data(), stream);
  cuda::synchronize(stream);
}

struct Solved {
  std::vector<double> x;
  bool non_finite = false;
};

Solved solve(AtaSweep& sweep, const std::vector<double>& b, cudaStream_t stream) {
  const auto rhs = upload(b, stream);
  const auto x = upload(std::vector<double>(b.size(), -7.0), stream);
  const auto flag = upload(std::vector<int>{0}, stream);
  sweep.solve(rhs.data(), x.data(), flag.data(), stream);
  return {cuda::fetch_array(x.data(), b.size(), stream), cuda::fetch(flag.data(), stream) != 0};
}

using AtaTest = test::OnDevice<>;

void expect_reference(const CsrMatrix& a, Triangle triangle, const std::vector<double>& b, const Solved& solved) {
  const TriangularOptions options{.triangle = triangle};
  const std::vector<double> expected = test::reference_solve(a, options, b);
  ASSERT_EQ(test::all_finite(solved.x), test::all_finite(expected));
  EXPECT_EQ(solved.non_finite, !test::all_finite(expected));
  if (solved.non_finite) return;
  EXPECT_LE(test::triangular_error(a, options, b, solved.x), 1.0);
}

TEST_F(AtaTest, EverySweepMatchesTheReference) {
  const std::vector<Kind> kinds = all_kinds({0, 1, 32, 1000, 1 << 30});
  std::vector<Problem> problems = test::small_problems();
  for (Problem& random : test::random_triangles()) problems.push_back(std::move(random));
  for (const Problem& problem : problems) {
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const DeviceTriangle system(problem.a, triangle, stream());
      for (const Kind& kind : kinds) {
        SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower, " : ", upper, ") + kind.name);
        const auto sweep = kind.make(system.input(), stream());
        load(*sweep, problem.a, stream());
        for (int repeat = 0; repeat < 2; ++repeat) {
          expect_reference(problem.a, triangle, b, solve(*sweep, b, stream()));
        }
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST_F(AtaTest, MoreRowsThanFitOnTheDeviceEnd) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 90, .ny = 90, .nz = 90, .wind = 1.5});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const DeviceTriangle system(a, Triangle::lower, stream());
  for (const Kind& kind : all_kinds({0, 20000, 1 << 30})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(system.input(), stream());
    load(*sweep, a, stream());
    expect_reference(a, Triangle::lower, b, solve(*sweep, b, stream()));
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(AtaTest, LongChainsTakeSeveralGraphs) {
  const CsrMatrix a = test::tridiagonal(20000, -0.5, 1.25, 0);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const DeviceTriangle system(a, Triangle::lower, stream());
  for (const Kind& kind : all_kinds({1, 5000})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(system.input(), stream());
    load(*sweep, a, stream());
    expect_reference(a, Triangle::lower, b, solve(*sweep, b, stream()));
  }
}

TEST_F(AtaTest, SolvesEndOnNumbersThatAreNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const CsrMatrix& a :
       {test::tridiagonal(3000, -0.5, 1.25, 0), test::arrow(500), test::tridiagonal(700, 0, 3, 0)}) {
    const DeviceTriangle system(a, Triangle::lower, stream());
    for (const Kind& kind : all_kinds({0, 32})) {
      SCOPED_TRACE(kind.name);
      const auto sweep = kind.make(system.input(), stream());
      load(*sweep, a, stream());
      for (const double bad : {std::numeric_limits<double>::quiet_NaN(), infinity, -infinity, not_yet()}) {
        std::vector<double> b = test::right_hand_side(a.rows);
        b[b.size() / 2] = bad;
        const Solved solved = solve(*sweep, b, stream());
        EXPECT_TRUE(solved.non_finite);
        const std::vector<double> expected = test::reference_solve(a, {}, b);
        for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(is_finite(solved.x[i]), is_finite(expected[i])) << i;
      }
      const std::vector<double> b = test::right_hand_side(a.rows);
      expect_reference(a, Triangle::lower, b, solve(*sweep, b, stream()));
    }
  }
}

TEST_F(AtaTest, RepeatedPullSolvesGiveTheSameBitsWhateverTheGranularity) {
  for (const Problem& problem : test::small_problems()) {
    SCOPED_TRACE(problem.name);
    const DeviceTriangle system(problem.a, Triangle::lower, stream());
    const std::vector<double> b = test::right_hand_side(problem.a.rows);
    std::vector<double> first;
    for (const SolveSchedule policy : kernels::kAtaPolicies) {
      const AtaOptions sizes[] = {
          {}, {.task_size = AtaSize::warps_and_levels}, {.granularity = 50}, {.granularity = 700}};
      for (const AtaOptions& options : sizes) {
        const auto sweep = kernels::make_ata_sweep(policy, system.input(), options, stream());
        load(*sweep, problem.a, stream());
        for (int repeat = 0; repeat < 3; ++repeat) {
          const std::vector<double> x = solve(*sweep, b, stream()).x;
          if (first.empty()) first = x;
          EXPECT_TRUE(test::same_bits(x, first));
        }
      }
    }
  }
}

TEST_F(AtaTest, TakesIndexMapsAndSourcesOfEntries) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const std::vector<double> expected = test::reference_solve(a, {}, b);
  // Right-hand side and values backwards, result rotated.
  std::vector<Index> rhs_index(n);
  std::vector<Index> x_index(n);
  std::vector<double> moved_b(n);
  for (std::size_t i = 0; i < n; ++i) {
    rhs_index[i] = static_cast<Index>(n - 1 - i);
    x_index[i] = static_cast<Index>((i + 17) % n);
    moved_b[n - 1 - i] = b[i];
  }
  CsrMatrix moved = a;
  std::vector<Offset> source(a.values.size());
  for (std::size_t e = 0; e < source.size(); ++e) {
    source[e] = static_cast<Offset>(source.size() - 1 - e);
    moved.values[source.size() - 1 - e] = a.values[e];
  }
  const auto device_rhs_index = upload(rhs_index, stream());
  const auto device_x_index = upload(x_index, stream());
  const auto device_source = upload(source, stream());
  const auto values = upload(moved.values, stream());
  const auto pivots = upload(inverse_diagonal(a), stream());
  const auto rhs = upload(moved_b, stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  const DeviceTriangle system(a, Triangle::lower, stream());
  SweepInput input = system.input();
  input.rhs_index = device_rhs_index.data();
  input.x_index = device_x_index.data();
  input.source_entry = device_source.data();
  for (const Kind& kind : all_kinds({0, 100})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(input, stream());
    sweep->load_values(values.data(), pivots.data(), stream());
    const auto out = upload(std::vector<double>(n, -7.0), stream());
    sweep->solve(rhs.data(), out.data(), flag.data(), stream());
    std::vector<double> x = cuda::fetch_array(out.data(), n, stream());
    std::rotate(x.begin(), x.begin() + 17, x.end());
    EXPECT_LE(test::difference(x, expected), test::kForwardBound);
  }
}

TEST_F(AtaTest, KeepsAResultOfItsOwnUntilTheSecondSolveAfterIt) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30});
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const DeviceTriangle system(a, Triangle::lower, stream());
  const auto rhs = upload(b, stream());
  const auto zero = upload(std::vector<double>(n, 0.0), stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  for (const Kind& kind : all_kinds({0, 100})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(system.input(), stream());
    load(*sweep, a, stream());
    sweep->solve(rhs.data(), nullptr, flag.data(), stream());
    ASSERT_EQ(sweep->result_index(), nullptr);
    const double* const first = sweep->result();
    sweep->solve(zero.data(), nullptr, flag.data(), stream());
    EXPECT_LE(test::difference(cuda::fetch_array(first, n, stream()), test::reference_solve(a, {}, b)),
              test::kForwardBound);
    EXPECT_EQ(cuda::fetch_array(sweep->result(), n, stream()), std::vector<double>(n, 0.0));
  }
}

TEST_F(AtaTest, SolvesInPlaceWithNewValuesAndUnitPivots) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10});
  const auto n = static_cast<std::size_t>(a.rows);
  const std::vector<double> b = test::right_hand_side(a.rows);
  const DeviceTriangle system(a, Triangle::upper, stream());
  const auto flag = upload(std::vector<int>{0}, stream());
  for (const Kind& kind : all_kinds({0, 100})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(system.input(), stream());
    CsrMatrix other = a;
    for (const bool unit : {false, true}) {
      other.values = test::other_values(other.values);
      if (unit) {
        for (double& value : other.values) value *= 0.01;
      }
      const auto values = upload(other.values, stream());
      const auto pivots = upload(inverse_diagonal(other), stream());
      sweep->load_values(values.data(), unit ? nullptr : pivots.data(), stream());
      const auto both = upload(b, stream());
      sweep->solve(both.data(), both.data(), flag.data(), stream());
      const TriangularOptions options{.triangle = Triangle::upper, .unit_diagonal = unit};
      EXPECT_LE(test::difference(cuda::fetch_array(both.data(), n, stream()), test::reference_solve(other, options, b)),
                test::kForwardBound);
    }
  }
}

TEST_F(AtaTest, AnUnmanagedRunLeavesTheSweepUsable) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20});
  const std::vector<double> b = test::right_hand_side(a.rows);
  const DeviceTriangle system(a, Triangle::lower, stream());
  for (const Kind& kind : all_kinds({0, 100})) {
    SCOPED_TRACE(kind.name);
    const auto sweep = kind.make(system.input(), stream());
    load(*sweep, a, stream());
    const auto rhs = upload(b, stream());
    const auto x = upload(b, stream());
    const auto flag = upload(std::vector<int>{0}, stream());
    for (int repeat = 0; repeat < 3; ++repeat) sweep->solve_unmanaged(rhs.data(), x.data(), flag.data(), stream());
    expect_reference(a, Triangle::lower, b, solve(*sweep, b, stream()));
  }
}

TEST_F(AtaTest, ReportsTheHierarchyAndWhatItWasMadeFrom) {
  const CsrMatrix chain = test::tridiagonal(5000, -0.5, 1, 0);
  const DeviceTriangle system(chain, Triangle::lower, stream());
  const auto levels = kernels::make_level_sweep(SolveSchedule::level_graph, system.input(), stream());
  EXPECT_EQ(levels->report().adaptive_tasks, 5000);
  EXPECT_EQ(levels->report().untracked_tasks, 5000);
  EXPECT_EQ(levels->report().coarse_edges, 4999);
  const auto self = kernels::make_self_scheduled_sweep(system.input(), stream());
  EXPECT_EQ(self->report().adaptive_tasks, 1);
  EXPECT_EQ(self->report().fine_edges, 4999);
  const auto given =
      kernels::make_ata_sweep(SolveSchedule::ata_locality, system.input(), {.granularity = 500}, stream());
  EXPECT_EQ(given->report().granularity, 500);
  EXPECT_EQ(given->report().adaptive_tasks, 10);
  EXPECT_EQ(given->report().coarse_edges, 9);
  EXPECT_EQ(given->report().fine_edges, 4990);
  EXPECT_EQ(given->report().dag_class, kernels::DagClass::l_shape);
  EXPECT_EQ(given->report().row_microseconds, 0.0);
  const auto measured = kernels::make_ata_sweep(SolveSchedule::ata_concurrency, system.input(), {}, stream());
  EXPECT_GT(measured->report().launch_microseconds, 0.0);
  EXPECT_GT(measured->report().row_microseconds, 0.0);
  EXPECT_GE(measured->report().granularity, 1);

  const DeviceTriangle diagonal(test::tridiagonal(2000, 0, 3, 0), Triangle::lower, stream());
  const auto wide =
      kernels::make_ata_sweep(SolveSchedule::ata_greedy, diagonal.input(), {.granularity = 100}, stream());
  EXPECT_EQ(wide->report().adaptive_tasks, 20);
  EXPECT_EQ(wide->report().untracked_tasks, 20);
  EXPECT_EQ(wide->report().dag_class, kernels::DagClass::parallel);
}

TEST_F(AtaTest, RefusesSchedulesThatAreNotItsOwn) {
  const DeviceTriangle system(test::tridiagonal(10, -1, 2, 0), Triangle::lower, stream());
  EXPECT_THROW(kernels::make_level_sweep(SolveSchedule::flat, system.input(), stream()), InvalidInput);
  EXPECT_THROW(kernels::make_ata_sweep(SolveSchedule::level_graph, system.input(), {}, stream()), InvalidInput);
  EXPECT_THROW(kernels::make_ata_sweep(SolveSchedule::ata_greedy, system.input(), {.granularity = -1}, stream()),
               InvalidInput);
}

}  // namespace
}  // namespace taskdag
