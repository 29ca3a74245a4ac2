// SOR by point blocks of the matrices of tests/data, cut into blocks, against the loop over the blocks. A comparison
// counts where the loop's own result moves by less than a tenth of the bound when each input value changes by one part
// in 2^52.
#include "backends.hpp"
#include "measure.hpp"
#include "point_blocks.hpp"
#include "problems.hpp"
#include "reference/point_block_sor.hpp"
#include "support/effort.hpp"
#include "support/matrices.hpp"

namespace taskdag {
namespace {

TASKDAG_BACKEND_SUITE(PointBlockSorMatricesTest, test::once_per_backend());

TEST_P(PointBlockSorMatricesTest, IterationsAreThoseOfTheLoopOverBlocks) {
  const std::vector<Index> sizes = test::kSanitized ? std::vector<Index>{3, 7} : std::vector<Index>{2, 3, 4, 5, 7, 11};
  int compared = 0;
  for (const std::string& name : test::bundled_matrices()) {
    const CsrMatrix rows = test::load_bundled(name);
    if (rows.rows != rows.cols) continue;
    for (const Index n : sizes) {
      SCOPED_TRACE(name + ", blocks of " + std::to_string(n));
      const CsrMatrix a = test::in_blocks(rows, n);
      CsrMatrix moved = a;
      moved.values = test::nudged(a.values);
      const SorOptions options{.block_size = n};
      test::MatrixArrays arrays = place(a);
      Sor sor(context(), arrays.pattern(), space(), options, {}, stream());
      const FactorStatus status = sor.update_values(arrays.values(), space(), stream());
      if (!status.ok()) continue;
      const std::vector<double> b = test::right_hand_side(a.rows * n);
      const std::vector<double> zero(b.size(), 0.0);
      for (const SorSweep sweep : {SorSweep::forward, SorSweep::backward, SorSweep::symmetric}) {
        const auto reference = [&](const CsrMatrix& matrix) {
          return kernels::point_block::reference_sor(matrix.view(), options, sweep, 2, b, zero);
        };
        const std::vector<double> expected = reference(a);
        if (!(test::difference(reference(moved), expected) <= test::kForwardBound / 10)) continue;
        test::Array<double> from = place(b);
        test::Array<double> to = place(zero);
        sor.iterate(sweep, 2, SorStart::zero, from.data(), to.data(), space(), stream());
        EXPECT_LE(test::difference(to.read(), expected), test::kForwardBound) << to_string(sweep);
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 10 * static_cast<int>(sizes.size()));
}

}  // namespace
}  // namespace taskdag
