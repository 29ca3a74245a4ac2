// Batches of outside rows: which lanes they get, and results where short and long rows share a batch.
#include "kernels/sptrsv/schedules/cells/pack/batches.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/index.hpp"
#include "kernels/sptrsv/analysis/lanes.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"
#include "kernels/sptrsv/schedules/cells/pack/steps.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "sweep_fixture.hpp"

namespace taskdag {
namespace {

using kernels::log2_lanes_for;
using kernels::cells::first_lane_of;
using kernels::cells::kHeld;
using kernels::cells::kLanes;
using kernels::cells::kNoOutsideRow;
using kernels::cells::kOutsideRowsCutAtOnce;
using kernels::cells::outside_rows_that_fit;
using kernels::cells::OutsideRow;

TEST(BatchTest, AnOutsideRowHasTheFewestLanesThatHoldItsEntries) {
  for (Index entries = 1; entries <= 1000; ++entries) {
    const int lanes = 1 << log2_lanes_for(entries, kHeld);
    if (lanes < kLanes) {
      EXPECT_LE(entries, kHeld * lanes);
    } else {
      EXPECT_EQ(lanes, kLanes);
    }
    if (lanes > 1) {
      EXPECT_GT(entries, kHeld * lanes / 2);
    }
  }
}

TEST(BatchTest, ABatchTakesOutsideRowsUntilItsLanesAreUsedUp) {
  const auto fit = [](const std::vector<std::uint8_t>& log2_lanes) {
    return outside_rows_that_fit(log2_lanes.data(), static_cast<Index>(log2_lanes.size()));
  };
  EXPECT_EQ(fit({0}), 1);
  EXPECT_EQ(fit({5, 0}), 1);
  EXPECT_EQ(fit({0, 5}), 1);
  EXPECT_EQ(fit({4, 4, 0}), 2);
  EXPECT_EQ(fit({0, 4, 3, 2, 1, 0, 0}), 6) << "exactly 32";
  EXPECT_EQ(fit({1, 4, 3, 2, 1, 0}), 5) << "33 with the last one";
  EXPECT_EQ(fit(std::vector<std::uint8_t>(100, 0)), 32);
  EXPECT_EQ(fit(std::vector<std::uint8_t>(7, 0)), 7);
}

TEST(BatchTest, LanesOfOutsideRowsAreAlignedAndDoNotOverlap) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::uint8_t> log2_lanes(64);
    for (auto& log2 : log2_lanes) {
      log2 = static_cast<std::uint8_t>(random() % (trial % 2 ? 6 : 3));
    }
    const int outside_rows = outside_rows_that_fit(log2_lanes.data(), static_cast<Index>(log2_lanes.size()));
    std::vector<int> owner(kLanes, -1);
    for (int e = 0; e < outside_rows; ++e) {
      const int first = first_lane_of(log2_lanes.data(), outside_rows, e);
      const int lanes = 1 << log2_lanes[at(e)];
      EXPECT_EQ(first % lanes, 0);
      for (int lane = first; lane < first + lanes; ++lane) {
        ASSERT_LT(lane, kLanes);
        EXPECT_EQ(owner[at(lane)], -1);
        owner[at(lane)] = e;
      }
    }
    EXPECT_TRUE(std::ranges::is_partitioned(owner, [](int e) { return e >= 0; })) << "no gaps";
  }
}

/// A lower triangle: rows without operands first, then `outside[k]` of these for each row k that follows, which also
/// needs the row before it, but for the first of every `chain`.
CsrMatrix with_far_operands(const std::vector<Index>& outside, Index chain) {
  constexpr Index kSources = 700;
  std::mt19937 random(3);
  CsrMatrix a{
      kSources + static_cast<Index>(outside.size()), kSources + static_cast<Index>(outside.size()), {0}, {}, {}};
  const auto add = [&](Index column, double value) {
    a.col_indices.push_back(column);
    a.values.push_back(value);
  };
  for (Index i = 0; i < a.rows; ++i) {
    if (i >= kSources) {
      const Index count = outside[at(i - kSources)];
      const auto first = static_cast<Index>(random() % static_cast<unsigned>(kSources - 2 * count + 2));
      for (Index k = 0; k < count; ++k) add(first + 2 * k, (k % 3 - 1.2) / count);
      if (i > kSources && (i - kSources) % chain != 0) add(i - 1, -0.3);
    }
    add(i, 1.0 + 0.25 * (i % 5));
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

struct Lengths {
  std::string name;
  std::vector<Index> outside;
  Index chain;
};

/// Long rows among short ones, in several orders.
std::vector<Lengths> mixtures() {
  const std::vector<Index> lengths{1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 300};
  const auto with = [&](Index rows, const auto& length_of) {
    std::vector<Index> outside;
    for (Index k = 0; k < rows; ++k) outside.push_back(length_of(k));
    return outside;
  };
  const auto kinds = static_cast<Index>(lengths.size());
  std::mt19937 random(11);
  std::vector<Lengths> result;
  for (const Index chain : {1, 7, 4000}) {
    result.push_back({"ascending", with(800, [&](Index k) { return lengths[at(k * kinds / 800)]; }), chain});
    result.push_back(
        {"descending", with(800, [&](Index k) { return lengths[at(kinds - 1 - k * kinds / 800)]; }), chain});
    result.push_back({"alternating", with(800, [&](Index k) { return lengths[at(k % kinds)]; }), chain});
    result.push_back({"at random", with(800, [&](Index) { return lengths[random() % lengths.size()]; }), chain});
    for (const Index longest : {5, 9, 17, 33, 65, 129, 300}) {
      const auto few = [&](Index k) { return k % 37 == 5 ? longest : static_cast<Index>(1 + random() % 4); };
      result.push_back({"a few of " + std::to_string(longest), with(800, few), chain});
    }
  }
  result.push_back(
      {"more than are cut at once", with(5 * kOutsideRowsCutAtOnce, [&](Index k) { return 1 + k % 6; }), 3});
  return result;
}

class BatchesTest : public test::OnSweeps<> {
 protected:
  void SetUp() override {
    OnSweeps::SetUp();
    if (!IsSkipped() && !kernels::cells_supported()) GTEST_SKIP() << "this device cannot run cells";
  }
};

TEST_F(BatchesTest, PlansHoldEachOutsideRowOnceInConsecutiveBatches) {
  for (const Lengths& lengths : mixtures()) {
    const CsrMatrix a = with_far_operands(lengths.outside, lengths.chain);
    const test::DeviceTriangle on_device(a, Triangle::lower, stream());
    for (const int ways : {1, 2, 4}) {
      SCOPED_TRACE(lengths.name + ", chains of " + std::to_string(lengths.chain) + ", ways " + std::to_string(ways));
      const auto layout = kernels::cells::make_layout(on_device.input(), {5, {}, ways, nullptr}, stream());
      const auto cells = cuda::fetch_array(layout.cell.data(), layout.cell.size(), stream());
      const auto batches = cuda::fetch_array(layout.batch.data(), layout.batch.size(), stream());
      const auto outside_rows = cuda::fetch_array(layout.outside_row.data(), layout.outside_row.size(), stream());
      const auto outside_row_at =
          cuda::fetch_array(layout.outside_row_at.data(), layout.outside_row_at.size(), stream());
      ASSERT_EQ(outside_rows.size(), at(layout.batches) * kLanes);
      std::vector<bool> taken(outside_rows.size(), false);
      std::size_t used = 0;
      Index next_batch = 0;
      for (const auto& cell : cells) {
        EXPECT_EQ(cell.first_batch, next_batch);
        next_batch += cell.batches;
        Index last = cell.first_batch;
        for (Index place = 0; place < cell.steps * kLanes; ++place) {
          const Index first = outside_row_at[at(cell.first_step * kLanes + place)];
          if (first < 0) continue;
          const Index batch = first / kLanes;
          EXPECT_TRUE(batch == last || batch == last + 1) << "none is skipped, none comes back";
          last = batch;
          const auto log2_lanes = outside_rows[at(first)].log2_lanes();
          EXPECT_LE(log2_lanes, batches[at(batch)].log2_lanes());
          EXPECT_EQ(first % (1 << log2_lanes), 0);
          for (Index lane = first; lane < first + (1 << log2_lanes); ++lane) {
            ASSERT_EQ(lane / kLanes, batch);
            EXPECT_FALSE(taken[at(lane)]);
            taken[at(lane)] = true;
            ++used;
            EXPECT_EQ(outside_rows[at(lane)].position, outside_rows[at(first)].position);
            EXPECT_EQ(outside_rows[at(lane)].position / 8, place);
          }
        }
        if (cell.batches > 0) {
          EXPECT_EQ(last, cell.first_batch + cell.batches - 1);
        }
      }
      EXPECT_EQ(next_batch, layout.batches);
      EXPECT_GT(used, 0U);
      for (std::size_t lane = 0; lane < outside_rows.size(); ++lane) {
        EXPECT_EQ(outside_rows[lane].position == kNoOutsideRow, !taken[lane]);
      }
      for (std::size_t r = 0; r + 1 < batches.size(); ++r) {
        EXPECT_EQ(batches[r + 1].first_row, batches[r].first_row + batches[r].width());
      }
      EXPECT_EQ(batches.back().first_row, layout.outside_entry_rows);
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(BatchesTest, RowsOfAllLengthsShareBatchesAndResultsRepeat) {
  for (const Lengths& lengths : mixtures()) {
    const CsrMatrix a = with_far_operands(lengths.outside, lengths.chain);
    const std::vector<double> b = test::right_hand_side(a.rows);
    const test::DeviceTriangle on_device(a, Triangle::lower, stream());
    for (const int cells : {1, 2, 5, 40}) {
      for (const int ways : {1, 2, 4}) {
        SCOPED_TRACE(lengths.name + ", chains of " + std::to_string(lengths.chain) + ", " + std::to_string(cells) +
                     " cells, ways " + std::to_string(ways));
        const auto sweep = kernels::make_cells_sweep(on_device.input(), {.cells = cells, .ways = ways}, stream());
        load(*sweep, a.values, test::inverse_diagonal(a));
        const std::vector<double> x = solve(*sweep, b);
        EXPECT_LE(test::triangular_error(a, {}, b, x), 1.0);
        for (int repeat = 0; repeat < 3; ++repeat) EXPECT_TRUE(test::same_bits(solve(*sweep, b), x));
        EXPECT_FALSE(non_finite_);
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST_F(BatchesTest, OutsideRowsKeepTheirNumbersThatAreNotFiniteToThemselves) {
  for (const Lengths& lengths : mixtures()) {
    const CsrMatrix a = with_far_operands(lengths.outside, lengths.chain);
    const std::vector<double> good = test::right_hand_side(a.rows);
    const test::DeviceTriangle on_device(a, Triangle::lower, stream());
    const auto sweep = kernels::make_cells_sweep(on_device.input(), {.cells = 5}, stream());
    load(*sweep, a.values, test::inverse_diagonal(a));
    const std::vector<double> x = solve(*sweep, good);
    ASSERT_FALSE(non_finite_);
    for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      for (const Index where : {3, 350, 699, a.rows - 1}) {
        SCOPED_TRACE(lengths.name + ", chains of " + std::to_string(lengths.chain) + ", row " + std::to_string(where));
        std::vector<bool> spoilt(at(a.rows), false);
        spoilt[at(where)] = true;
        for (Index i = 0; i < a.rows; ++i) {
          for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
            if (spoilt[at(a.col_indices[e])]) spoilt[at(i)] = true;
          }
        }
        std::vector<double> b = good;
        b[at(where)] = bad;
        const std::vector<double> result = solve(*sweep, b);
        EXPECT_TRUE(non_finite_);
        for (std::size_t i = 0; i < x.size(); ++i) {
          if (spoilt[i]) {
            EXPECT_FALSE(std::isfinite(result[i])) << i;
          } else {
            EXPECT_EQ(result[i], x[i]) << i;
          }
        }
      }
    }
    EXPECT_TRUE(test::same_bits(solve(*sweep, good), x));
    EXPECT_FALSE(non_finite_);
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace taskdag
