// Factorisations by a recurrence, with the sweeps that it works through.
#include <memory>
#include <vector>

#include "base/index.hpp"
#include "csr/device_csr.hpp"
#include "device.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/factor/cuda/recurrence.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "measure.hpp"
#include "reference/ilu.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using test::upload;

class RecurrenceSweepsTest : public test::OnDevice<> {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    if (!IsSkipped() && !test::device_has_cells()) GTEST_SKIP() << "this device cannot run cells";
  }
};

/// A grid without triangles in device memory, and room for its factor.
class Case {
 public:
  explicit Case(cudaStream_t stream)
      : stream_(stream),
        offsets_(upload(a_.row_offsets, stream)),
        columns_(upload(a_.col_indices, stream)),
        values_(upload(a_.values, stream)),
        pattern_{a_.rows, a_.entries(), offsets_.data(), columns_.data()},
        diagonal_(at(a_.rows), stream),
        lower_(a_, Triangle::lower, stream),
        entries_(a_.values.size(), stream),
        inverse_pivots_(at(a_.rows), stream) {
    EXPECT_LT(kernels::find_diagonal(pattern_, diagonal_.data(), stream), 0);
  }

  [[nodiscard]] kernels::SweepInput lower() const { return lower_.input(); }
  [[nodiscard]] const double* entries() const { return entries_.data(); }
  [[nodiscard]] const double* values() const { return values_.data(); }
  kernels::Recurrence recurrence(kernels::Sweep& sweep) {
    return {FactorKind::ilu, pattern_, diagonal_.data(), sweep, nullptr, stream_};
  }
  /// Runs it and compares the factor with the reference.
  void expect_factor(kernels::Recurrence& recurrence) {
    *report_.data() = kernels::FactorReport{};
    recurrence.factor({values_.data()}, {}, {entries_.data(), inverse_pivots_.data(), nullptr, report_.data()},
                      stream());
    cuda::synchronize(stream());
    EXPECT_LT(report_.data()->last_zero, 0);
    FactorStatus unused;
    const CsrMatrix reference = kernels::reference_ilu(a_.view(), {}, 0.0, unused);
    EXPECT_LE(test::difference(cuda::fetch_array(entries_.data(), a_.values.size(), stream()), reference.values),
              test::kForwardBound);
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  cudaStream_t stream_;
  CsrMatrix a_ = make_stencil({.stencil = Stencil::seven_point, .nx = 13, .ny = 11, .nz = 17, .wind = 0.4});
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  cuda::DeviceArray<double> values_;
  kernels::DevicePattern pattern_;
  cuda::DeviceArray<Offset> diagonal_;
  test::DeviceTriangle lower_;
  cuda::DeviceArray<double> entries_;
  cuda::DeviceArray<double> inverse_pivots_;
  cuda::PinnedValue<kernels::FactorReport> report_;
};

TEST_F(RecurrenceSweepsTest, TheSweepTakesProductsAndValuesInTurn) {
  Case grid(stream());
  for (const int cells : {1, 5}) {
    const auto sweep = kernels::make_cells_sweep(grid.lower(), {.cells = cells}, stream());
    kernels::Recurrence by_sweep = grid.recurrence(*sweep);
    ASSERT_TRUE(by_sweep.possible());
    for (int repeat = 0; repeat < 2; ++repeat) {
      grid.expect_factor(by_sweep);
      sweep->load_values(grid.entries(), nullptr, stream());
    }
  }
}

TEST_F(RecurrenceSweepsTest, SweepsWithoutReciprocalsOrWithPivotsTakeNoProducts) {
  Case grid(stream());
  const auto flat = kernels::make_sweep(SolveSchedule::flat, grid.lower(), stream());
  EXPECT_FALSE(grid.recurrence(*flat).possible());
  EXPECT_EQ(flat->capabilities().solves_reciprocals, nullptr);
  const auto shared_rows = kernels::make_cells_sweep(grid.lower(), {.cells = 5, .ways = 2}, stream());
  EXPECT_FALSE(grid.recurrence(*shared_rows).possible());
  EXPECT_EQ(shared_rows->capabilities().solves_reciprocals, nullptr);
  const auto with_pivots = kernels::make_cells_sweep(grid.lower(), {.cells = 5}, stream());
  with_pivots->load_values(grid.values(), grid.values(), stream());
  EXPECT_EQ(with_pivots->capabilities().solves_reciprocals, nullptr);
}

}  // namespace
}  // namespace taskdag
