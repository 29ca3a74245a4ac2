// Real matrices: those of tests/data are what their README says, those of TASKDAG_MATRIX_DIR can be read.
#include "support/matrices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "scratch_file.hpp"
#include "taskdag/error.hpp"
#include "taskdag/io/matrix_market.hpp"

namespace taskdag {
namespace {

struct Known {
  const char* name;
  Index rows;
  Offset entries;
  Index missing_diagonals;
  Offset zeros;
};

const std::vector<Known>& known_matrices() {
  static const std::vector<Known> known = {{"add32", 4960, 23884, 0, 4036},  {"adder_dcop_05", 1813, 11097, 12, 0},
                                           {"bcsstk16", 4884, 290378, 0, 0}, {"ex6", 1651, 49533, 0, 471},
                                           {"jpwh_991", 991, 6027, 0, 0},    {"orsreg_1", 2205, 14133, 0, 0},
                                           {"sherman1", 1000, 3750, 0, 0},   {"steam2", 600, 13760, 0, 8100}};
  return known;
}

TEST(BundledMatricesTest, AreTheOnesThatTheReadmeLists) {
  std::vector<std::string> names;
  for (const Known& known : known_matrices()) names.emplace_back(known.name);
  EXPECT_EQ(test::bundled_matrices(), names);
}

TEST(BundledMatricesTest, HaveTheCountsThatTheCollectionStates) {
  for (const Known& known : known_matrices()) {
    SCOPED_TRACE(known.name);
    const CsrMatrix a = test::load_bundled(known.name);
    validate(a.pattern(), {.square = true});
    EXPECT_EQ(a.rows, known.rows);
    EXPECT_EQ(a.entries(), known.entries);
    EXPECT_EQ(std::count(a.values.begin(), a.values.end(), 0.0), known.zeros);
    Index missing = 0;
    for (Index i = 0; i < a.rows; ++i) {
      const Index* row = a.pattern().col_indices;
      const Offset* offsets = a.pattern().row_offsets;
      if (!std::binary_search(row + offsets[i], row + offsets[i + 1], i)) ++missing;
    }
    EXPECT_EQ(missing, known.missing_diagonals);
  }
}

TEST(BundledMatricesTest, UnknownNamesAreRefused) { EXPECT_THROW(test::load_bundled("nope"), InvalidInput); }

TEST(ListedMatricesTest, AreValidAndSurviveWritingAndReading) {
  TASKDAG_SKIP_WITHOUT_MATRICES();
  const std::vector<std::string> names = test::listed_matrices();
  ASSERT_FALSE(names.empty()) << "no matrices in " << test::matrix_dir();
  constexpr Offset kSmall = 1000000;
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const CsrMatrix a = test::load_listed(name);
    ASSERT_NO_THROW(validate(a.pattern()));
    if (a.entries() > kSmall) continue;
    const test::ScratchFile file("copy.mtx");
    write_matrix_market(file.path(), a.view());
    const CsrMatrix copy = read_matrix_market(file.path());
    EXPECT_EQ(copy.row_offsets, a.row_offsets);
    EXPECT_EQ(copy.col_indices, a.col_indices);
    EXPECT_EQ(copy.values, a.values);
  }
}

}  // namespace
}  // namespace taskdag
