// Matrices from applications: those of tests/data and those of TASKDAG_MATRIX_DIR.
//
// Many of them make factors so ill-conditioned that two right computations differ by more than the forward bound. The
// backward error (measure.hpp) is demanded of all; the forward bound of those whose serial reference moves by less than
// a tenth of it when each input value changes by one part in 2^52. Where the factor itself breaks down, the status must
// be the reference's, and the pattern is tested again with a dominant diagonal.
#include "support/matrices.hpp"

#include <iostream>

#include "backends.hpp"
#include "measure.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

/// How many comparisons had the forward bound demanded of them.
struct Counts {
  int matrices = 0;
  int forward = 0;
};

class MatricesTest : public test::BackendTest {
 protected:
  void check_forward(double error, double sensitivity, const char* what, Counts& counts) {
    if (!(sensitivity <= test::kForwardBound / 10)) return;
    EXPECT_LE(error, test::kForwardBound) << what;
    ++counts.forward;
  }

  /// @returns whether the factorisation went through
  bool check_factorization(const CsrMatrix& a, FactorKind kind, Counts& counts) {
    const FactorOptions options{.kind = kind};
    FactorStatus expected;
    const CsrMatrix reference = test::reference_factor(a, options, 0.0, expected);
    Factorization f = factorization(a, options);
    const FactorStatus status = factor(f, a.values);
    EXPECT_EQ(status.outcome, expected.outcome);
    EXPECT_EQ(status.first_row, expected.first_row);
    if (!status.ok() || !expected.ok()) return false;
    const CsrMatrix computed = f.copy_factor();
    EXPECT_LE(test::factor_error(a, computed, kind), 1.0);
    CsrMatrix moved = a;
    moved.values = test::nudged(a.values);
    FactorStatus unused;
    check_forward(test::factor_difference(computed, reference),
                  test::factor_difference(test::reference_factor(moved, options, 0.0, unused), reference), "factor",
                  counts);

    const std::vector<double> b = test::right_hand_side(a.rows);
    CsrMatrix moved_factor = computed;
    moved_factor.values = test::nudged(computed.values);
    for (const bool transposed : {false, true}) {
      const std::vector<double> wanted = test::reference_apply(computed, kind, transposed, b);
      const std::vector<double> x = apply(f, transposed ? Apply::transposed : Apply::full, b);
      EXPECT_EQ(test::all_finite(x), test::all_finite(wanted));
      if (!test::all_finite(x) || !test::all_finite(wanted)) continue;
      EXPECT_LE(test::apply_error(computed, kind, transposed, b, x), 1.0) << (transposed ? "transposed" : "full");
      check_forward(test::difference(x, wanted),
                    test::difference(test::reference_apply(moved_factor, kind, transposed, b), wanted), "application",
                    counts);
    }
    return true;
  }

  void check_triangles(const CsrMatrix& a, Counts& counts) {
    const std::vector<double> b = test::right_hand_side(a.rows);
    CsrMatrix moved = a;
    moved.values = test::nudged(a.values);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      for (const bool transposed : {false, true}) {
        const TriangularOptions options{.triangle = triangle, .transposed = transposed};
        TriangularSolver solver = triangular(a, options);
        const std::vector<double> wanted = test::reference_solve(a, options, b);
        const std::vector<double> x = solve(solver, b);
        EXPECT_EQ(test::all_finite(x), test::all_finite(wanted));
        if (!test::all_finite(x) || !test::all_finite(wanted)) continue;
        EXPECT_LE(test::triangular_error(a, options, b, x), 1.0);
        check_forward(test::difference(x, wanted), test::difference(test::reference_solve(moved, options, b), wanted),
                      "triangular solve", counts);
      }
    }
  }

  void check(const std::string& name, const CsrMatrix& a, Counts& counts) {
    SCOPED_TRACE(name);
    ++counts.matrices;
    check_triangles(a, counts);
    for (const FactorKind kind : {FactorKind::ilu, FactorKind::ic}) {
      SCOPED_TRACE(kind == FactorKind::ic ? "ic0" : "ilu0");
      if (!check_factorization(a, kind, counts)) {
        EXPECT_TRUE(check_factorization(test::made_dominant(a), kind, counts)) << "dominant";
      }
    }
    const std::vector<Index> rcm = reverse_cuthill_mckee(a.pattern());
    Factorization ordered = factorization(a, {}, rcm, rcm);
    static_cast<void>(factor(ordered, a.values));
    const CsrMatrix first = ordered.copy_factor();
    static_cast<void>(factor(ordered, a.values));
    EXPECT_TRUE(test::same_bits(ordered.copy_factor().values, first.values)) << "rcm, repeated";
  }

  template <class Load>
  void check_all(const std::vector<std::string>& names, const Load& load) {
    Counts counts;
    std::string left_out;
    for (const std::string& name : names) {
      const CsrMatrix a = load(name);
      if (a.rows == a.cols && test::has_full_diagonal(a)) {
        check(name, a, counts);
      } else {
        left_out += " " + name;
      }
    }
    RecordProperty("left_out", left_out);
    std::cout << counts.matrices << " matrices, " << counts.forward
              << " forward comparisons; without a full diagonal:" << left_out << '\n';
    EXPECT_GT(counts.matrices, 0);
    EXPECT_GT(counts.forward, counts.matrices);
  }
};

INSTANTIATE_TEST_SUITE_P(On, MatricesTest, testing::ValuesIn(test::once_per_backend()),
                         [](const auto& parameter) { return test::name_of(parameter.param); });

TEST_P(MatricesTest, BundledOnesMatchTheReference) { check_all(test::bundled_matrices(), test::load_bundled); }

TEST_P(MatricesTest, ThoseOfTheGivenFolderMatchTheReference) {
  TASKDAG_SKIP_WITHOUT_MATRICES();
  check_all(test::listed_matrices(), test::load_listed);
}

}  // namespace
}  // namespace taskdag
