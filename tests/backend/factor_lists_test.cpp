// Lists of updates that are too long for their offsets, which are made shorter here.
#include <vector>

#include "base/index.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/factor/cuda/lists.hpp"
#include "kernels/factor/cuda/numeric.hpp"
#include "kernels/factor/shift.hpp"
#include "measure.hpp"
#include "reference/ilu.hpp"
#include "taskdag/error.hpp"
#include "taskdag/generators.hpp"

namespace taskdag {
namespace {

using kernels::Elimination;
using kernels::RowForm;
using test::upload;

using FactorListsTest = test::OnDevice<>;

/// A matrix in device memory, with what lists are made from.
class ListedMatrix {
 public:
  ListedMatrix(CsrMatrix a, cudaStream_t stream)
      : a_(std::move(a)),
        stream_(stream),
        values_(upload(a_.values, stream)),
        lower_(a_, Triangle::lower, stream),
        pattern_(lower_.input().pattern),
        diagonal_(at(a_.rows), stream) {
    EXPECT_LT(kernels::find_diagonal(pattern_, diagonal_.data(), stream), 0);
  }

  [[nodiscard]] Elimination lists(std::int64_t most_updates) const {
    return Elimination::ilu(pattern_, diagonal_.data(), false, *lower_.input().levels, nullptr,
                            kernels::MakeLists::always, stream_, most_updates);
  }
  void expect_factor(Elimination&& lists) const {
    kernels::Factor factor(std::move(lists), FactorKind::ilu, pattern_.entries, {}, stream_);
    FactorStatus unused;
    const CsrMatrix reference = kernels::reference_ilu(a_.view(), {}, 0.0, unused);
    for (int repeat = 0; repeat < 2; ++repeat) {
      factor.attempt({values_.data()}, kernels::pivot_rule({}), stream_);
      EXPECT_LT(factor.report().last_zero, 0);
      EXPECT_LE(test::difference(cuda::fetch_array(factor.entries(), a_.values.size(), stream_), reference.values),
                test::kForwardBound);
    }
  }

  /// With how many words, all in all, the forms are those that there are with any number.
  [[nodiscard]] std::int64_t least_words() const {
    const RowForm widest = lists(INT_MAX).widest();
    std::int64_t too_few = 0;
    std::int64_t enough = INT_MAX;
    while (enough - too_few > 1) {
      const std::int64_t middle = (too_few + enough) / 2;
      (widest_with(middle) == widest ? enough : too_few) = middle;
    }
    return enough;
  }

 private:
  [[nodiscard]] RowForm widest_with(std::int64_t most_updates) const {
    try {
      return lists(most_updates).widest();
    } catch (const InvalidInput&) {
      return RowForm::searched;
    }
  }

  CsrMatrix a_;
  cudaStream_t stream_;
  cuda::DeviceArray<double> values_;
  test::DeviceTriangle lower_;
  kernels::DevicePattern pattern_;
  cuda::DeviceArray<Offset> diagonal_;
};

CsrMatrix coupled_grid(Index n, Index unknowns) {
  return make_stencil(
      {.stencil = Stencil::twenty_seven_point, .nx = n, .ny = n, .nz = n, .unknowns_per_node = unknowns});
}

TEST_F(FactorListsTest, RowsInRegistersAreSearchedForWhereOffsetsDoNotSuffice) {
  for (const Index unknowns : {1, 2, 3}) {
    const ListedMatrix grid(coupled_grid(8, unknowns), stream());
    EXPECT_TRUE(kernels::is_in_registers(grid.lists(INT_MAX).widest()));
    // Of the searched form two words a pivot row, of registers 32 for four and more.
    Elimination searched = grid.lists(4 * std::int64_t{8 * 8 * 8} * unknowns * 13 * unknowns);
    EXPECT_EQ(searched.widest(), RowForm::searched);
    grid.expect_factor(std::move(searched));
  }
}

TEST_F(FactorListsTest, RoundsAreSearchedForWhereOffsetsDoNotSuffice) {
  const ListedMatrix grid(coupled_grid(5, 5), stream());
  Elimination dealt = grid.lists(INT_MAX);
  EXPECT_EQ(dealt.widest(), RowForm::rounds);
  grid.expect_factor(std::move(dealt));
  // Enough before updates are dealt out, not with the places of rounds that no lane has.
  Elimination searched = grid.lists(grid.least_words() - 1);
  EXPECT_EQ(searched.widest(), RowForm::searched);
  grid.expect_factor(std::move(searched));
}

TEST_F(FactorListsTest, ListsThatDoNotFitInAnyFormAreRefused) {
  const ListedMatrix grid(coupled_grid(8, 1), stream());
  EXPECT_THROW(static_cast<void>(grid.lists(100)), InvalidInput);
}

}  // namespace
}  // namespace taskdag
