// Portions of supersteps against the serial reference: blocks of colours, and schedules for cores.
#include "kernels/sptrsv/schedules/blocks/supersteps.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "backends.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/stream.hpp"
#include "measure.hpp"
#include "papers/boehnlein/cuda/cores.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"
#include "taskdag/block_ordering.hpp"
#include "taskdag/error.hpp"

namespace taskdag {
namespace {

using kernels::Sweep;
using test::Problem;
using test::upload;

class SuperstepsTest : public test::OnSweeps<> {
 protected:
  static constexpr Triangle kTriangles[] = {Triangle::lower, Triangle::upper};

  using OnSweeps::load;
  void load(Sweep& sweep, const CsrMatrix& a) { load(sweep, a.values, test::inverse_diagonal(a)); }

  void expect_right(Sweep& sweep, const CsrMatrix& a, Triangle triangle, int solves = 2) {
    load(sweep, a);
    const std::vector<double> b = test::right_hand_side(a.rows);
    for (int k = 0; k < solves; ++k) {
      ASSERT_LE(test::triangular_error(a, {.triangle = triangle}, b, solve(sweep, b)), 1.0);
      EXPECT_FALSE(non_finite_);
    }
  }

  BlockOrdering order(const CsrMatrix& a, Index block_size) {
    return block_multicolour(Context::create({.backend = Backend::host}), a.view().pattern, MemorySpace::host,
                             {.block_size = block_size});
  }
};

TEST_F(SuperstepsTest, BlocksOfAnySizeInPortionsOfAnySizeSolveTriangles) {
  std::vector<Problem> problems = test::small_problems();
  problems.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 70, .wind = 0.5})});
  problems.push_back(
      {"27-point, 3",
       make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7, .unknowns_per_node = 3})});
  for (const Problem& problem : problems) {
    for (const Index block_size : {1, 16, 200}) {
      const BlockOrdering ordering = order(problem.a, block_size);
      const CsrMatrix a = test::permuted(problem.a, ordering.order, ordering.order);
      for (const Triangle triangle : kTriangles) {
        const test::DeviceTriangle on_device(a, triangle, stream());
        for (const auto& [portion_rows, threads] : {std::pair{0, 0}, {1, 128}, {7, 256}, {100, 128}, {1024, 512}}) {
          SCOPED_TRACE(problem.name + (triangle == Triangle::lower ? ", lower, blocks of " : ", upper, blocks of ") +
                       std::to_string(block_size) + ", portions of " + std::to_string(portion_rows));
          kernels::SweepInput input = on_device.input();
          input.blocks = &ordering.blocks;
          expect_right(*kernels::make_blocks_sweep(input, {portion_rows, threads}, stream()), a, triangle);
          ASSERT_FALSE(HasFatalFailure());
        }
      }
    }
  }
}

/// A block that is the whole matrix is cut into pieces, one after the other: any triangle has these blocks.
TEST_F(SuperstepsTest, ABlockOfEverythingIsAnyTriangle) {
  for (const Problem& problem : test::random_triangles()) {
    SCOPED_TRACE(problem.name);
    const RowBlocks all{{0, problem.a.rows}, {0, 1}};
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle on_device(problem.a, triangle, stream());
      kernels::SweepInput input = on_device.input();
      input.blocks = &all;
      expect_right(*kernels::make_blocks_sweep(input, {}, stream()), problem.a, triangle);
    }
  }
}

TEST_F(SuperstepsTest, BlocksThatAreCoupledOrDoNotFitAreRefused) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  kernels::SweepInput input = on_device.input();
  EXPECT_THROW(static_cast<void>(kernels::make_blocks_sweep(input, {}, stream())), InvalidInput);
  const RowBlocks coupled{{0, 200, 400}, {0, 2}};
  const RowBlocks few{{0, 200}, {0, 1}};
  const RowBlocks uncoloured{{0, 200, 400}, {0, 1}};
  const RowBlocks descending{{0, 300, 200, 400}, {0, 1, 2, 3}};
  for (const RowBlocks* const blocks : {&coupled, &few, &uncoloured, &descending}) {
    input.blocks = blocks;
    EXPECT_THROW(static_cast<void>(kernels::make_blocks_sweep(input, {100, 0}, stream())), InvalidInput);
  }
}

TEST_F(SuperstepsTest, OneBadNumberSpoilsWhatDependsOnItOnly) {
  const CsrMatrix natural = make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 60});
  const BlockOrdering ordering = order(natural, 64);
  const CsrMatrix a = test::permuted(natural, ordering.order, ordering.order);
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  kernels::SweepInput input = on_device.input();
  input.blocks = &ordering.blocks;
  const auto sweep = kernels::make_blocks_sweep(input, {}, stream());
  load(*sweep, a);
  std::vector<double> b = test::right_hand_side(a.rows);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    b[b.size() / 3] = bad;
    const std::vector<double> x = solve(*sweep, b);
    EXPECT_TRUE(non_finite_);
    const std::vector<double> expected = test::reference_solve(a, {}, b);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(std::isfinite(x[i]), std::isfinite(expected[i])) << i;
  }
}

/// Solves that follow one another without a wait between them may overlap on the device: each is right, whatever the
/// others get, and the result of one sweep is there for the next.
TEST_F(SuperstepsTest, ManySolvesInARowDoNotDisturbEachOther) {
  const CsrMatrix natural = make_stencil({.stencil = Stencil::five_point, .nx = 150, .ny = 130, .wind = 0.25});
  const BlockOrdering ordering = order(natural, 64);
  const CsrMatrix a = test::permuted(natural, ordering.order, ordering.order);
  const test::DeviceTriangle lower(a, Triangle::lower, stream());
  const test::DeviceTriangle upper(a, Triangle::upper, stream());
  kernels::SweepInput input = lower.input();
  input.blocks = &ordering.blocks;
  const auto first = kernels::make_blocks_sweep(input, {}, stream());
  input = upper.input();
  input.blocks = &ordering.blocks;
  input.rhs_index = first->result_index();
  const auto second = kernels::make_blocks_sweep(input, {}, stream());
  second->capabilities().follows_sweep->follow(*first, stream());
  load(*first, a);
  load(*second, a);

  constexpr std::size_t kSolves = 40;
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<std::vector<double>> b(kSolves, test::right_hand_side(a.rows));
  std::vector<cuda::DeviceArray<double>> rhs;
  std::vector<cuda::DeviceArray<double>> x;
  std::vector<cuda::DeviceArray<double>> applied;
  const auto flag = upload(std::vector<int>(kSolves, 0), stream());
  for (std::size_t k = 0; k < kSolves; ++k) {
    for (double& value : b[k]) value *= 1.0 + static_cast<double>(k);
    if (k % 5 == 3) b[k][(k * 997) % n] = std::numeric_limits<double>::quiet_NaN();
    rhs.push_back(upload(b[k], stream()));
    x.push_back(upload(std::vector<double>(n, -7.0), stream()));
    applied.push_back(upload(std::vector<double>(n, -7.0), stream()));
  }
  for (std::size_t k = 0; k < kSolves; ++k) {
    first->solve(rhs[k].data(), x[k].data(), flag.data() + k, stream());
    first->solve(rhs[k].data(), nullptr, flag.data() + k, stream());
    second->solve(first->result(), applied[k].data(), flag.data() + k, stream());
  }
  const std::vector<int> flags = cuda::fetch_array(flag.data(), kSolves, stream());
  for (std::size_t k = 0; k < kSolves; ++k) {
    SCOPED_TRACE("solve " + std::to_string(k));
    const std::vector<double> got = cuda::fetch_array(x[k].data(), n, stream());
    const std::vector<double> both = cuda::fetch_array(applied[k].data(), n, stream());
    EXPECT_EQ(flags[k] != 0, k % 5 == 3);
    if (k % 5 == 3) {
      const std::vector<double> expected = test::reference_solve(a, {}, b[k]);
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(std::isfinite(got[i]), std::isfinite(expected[i])) << i;
    } else {
      ASSERT_LE(test::triangular_error(a, {.triangle = Triangle::lower}, b[k], got), 1.0);
      ASSERT_LE(test::triangular_error(a, {.triangle = Triangle::upper}, got, both), 1.0);
    }
  }
}

TEST_F(SuperstepsTest, ValuesMayBeLoadedAgain) {
  const CsrMatrix natural = make_stencil({.stencil = Stencil::seven_point, .nx = 20, .ny = 20, .nz = 20});
  const BlockOrdering ordering = order(natural, 64);
  CsrMatrix a = test::permuted(natural, ordering.order, ordering.order);
  const test::DeviceTriangle on_device(a, Triangle::upper, stream());
  kernels::SweepInput input = on_device.input();
  input.blocks = &ordering.blocks;
  const auto sweep = kernels::make_blocks_sweep(input, {}, stream());
  for (int k = 0; k < 3; ++k) {
    expect_right(*sweep, a, Triangle::upper, 3);
    for (double& value : a.values) value *= -1.5;
  }
}

TEST_F(SuperstepsTest, ColoursMayBeEmptyAndBlocksToo) {
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  const RowBlocks blocks{{0, 0, 150, 150, 400, 400}, {0, 0, 2, 2, 3, 5, 5}};
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    kernels::SweepInput input = on_device.input();
    input.blocks = &blocks;
    expect_right(*kernels::make_blocks_sweep(input, {}, stream()), a, triangle, 5);
  }
}

/// So many portions of a row each that thread blocks take many, one after the other, and that the portions a row waits
/// for are looked up in several passes.
TEST_F(SuperstepsTest, FarMorePortionsThanTheDeviceHolds) {
  const CsrMatrix natural = make_stencil({.stencil = Stencil::five_point, .nx = 600, .ny = 500});
  const BlockOrdering ordering = order(natural, 1);
  const CsrMatrix a = test::permuted(natural, ordering.order, ordering.order);
  for (const Triangle triangle : kTriangles) {
    const test::DeviceTriangle on_device(a, triangle, stream());
    kernels::SweepInput input = on_device.input();
    input.blocks = &ordering.blocks;
    expect_right(*kernels::make_blocks_sweep(input, {1, 128}, stream()), a, triangle, 3);
  }
}

/// Every row of the last block waits for every portion before it.
TEST_F(SuperstepsTest, APortionMayWaitForAllOthers) {
  constexpr Index kRows = 3000;
  CsrMatrix a;
  a.rows = a.cols = kRows;
  a.row_offsets = {0};
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = i < kRows - 2 ? i : 0; j <= i; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? 2.0 : -1.0 / kRows);
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  RowBlocks blocks{{0}, {0, kRows / 5 - 1, kRows / 5}};
  for (Index b = 1; b < kRows / 5; ++b) blocks.block_offsets.push_back(5 * b);
  blocks.block_offsets.push_back(kRows);
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  kernels::SweepInput input = on_device.input();
  input.blocks = &blocks;
  expect_right(*kernels::make_blocks_sweep(input, {5, 128}, stream()), a, Triangle::lower, 3);
}

TEST_F(SuperstepsTest, AnyNumberOfCoresWithBarriersOrWaits) {
  std::vector<Problem> problems = test::small_problems();
  problems.push_back({"7-point", make_stencil({.stencil = Stencil::seven_point, .nx = 14, .ny = 13, .nz = 12})});
  for (const Problem& problem : problems) {
    for (const Triangle triangle : kTriangles) {
      const test::DeviceTriangle on_device(problem.a, triangle, stream());
      for (const SolveSchedule schedule : {SolveSchedule::locking, SolveSchedule::pivotal_path, SolveSchedule::hdagg}) {
        for (const int cores : {1, 3, 32}) {
          for (const bool barriers : {false, true}) {
            SCOPED_TRACE(problem.name + ", " + to_string(schedule) + ", cores " + std::to_string(cores));
            expect_right(*kernels::make_cores_sweep(schedule, on_device.input(), {cores, barriers}, stream()),
                         problem.a, triangle, 3);
            ASSERT_FALSE(HasFatalFailure());
          }
        }
      }
    }
  }
}

TEST_F(SuperstepsTest, MoreCoresThanTheDeviceHoldsAreRefused) {
  // No multiprocessor holds more than 32 blocks. Waits are found in memory that grows with the square of the cores,
  // 40 GB for 100000: hence one core too many, no more.
  const int cores = 32 * cuda::device_limits().multiprocessors + 1;
  const CsrMatrix a = make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 20});
  const test::DeviceTriangle on_device(a, Triangle::lower, stream());
  EXPECT_THROW(
      static_cast<void>(kernels::make_cores_sweep(SolveSchedule::locking, on_device.input(), {cores, false}, stream())),
      DeviceError);
}

}  // namespace
}  // namespace taskdag
