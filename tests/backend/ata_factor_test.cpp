// ILU(0) and IC(0) under ATA and its baselines on CUDA against the serial references.
#include <functional>
#include <limits>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "base/handover.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "measure.hpp"
#include "problems.hpp"
#include "studies/ata_factor/ic.hpp"
#include "studies/ata_factor/ilu.hpp"

namespace taskdag {
namespace {

using kernels::AtaFactorization;
using kernels::AtaOptions;
using kernels::CoarseMode;
using kernels::DevicePattern;
using kernels::FactorForm;
using test::Problem;
using test::upload;

struct Form {
  std::string name;
  FactorKind kind;
  std::function<std::unique_ptr<AtaFactorization>(SolveSchedule, const DevicePattern&, const AtaOptions&, cudaStream_t)>
      make;
};

std::vector<Form> forms() {
  std::vector<Form> result;
  for (const FactorForm form : {FactorForm::rows, FactorForm::columns}) {
    result.push_back(
        {form == FactorForm::rows ? "ILU(0) by rows" : "ILU(0) by columns", FactorKind::ilu,
         [=](SolveSchedule schedule, const DevicePattern& pattern, const AtaOptions& options, cudaStream_t stream) {
           return kernels::make_ata_ilu0(schedule, pattern, form, options, stream);
         }});
  }
  result.push_back({"IC(0)", FactorKind::ic, kernels::make_ata_ic0});
  return result;
}

struct Kind {
  std::string name;
  SolveSchedule schedule;
  AtaOptions options;
};

std::vector<Kind> kinds(const std::vector<Index>& granularities) {
  std::vector<Kind> result;
  for (const SolveSchedule schedule : {SolveSchedule::level_launch, SolveSchedule::level_graph,
                                       SolveSchedule::level_barrier, SolveSchedule::self_scheduled}) {
    result.push_back({to_string(schedule), schedule, {}});
  }
  for (const SolveSchedule schedule :
       {SolveSchedule::ata_concurrency, SolveSchedule::ata_locality, SolveSchedule::ata_greedy}) {
    for (const CoarseMode coarse : {CoarseMode::graph, CoarseMode::streams}) {
      for (const Index granularity : granularities) {
        result.push_back({to_string(schedule) + std::string(coarse == CoarseMode::graph ? " graph" : " streams") +
                              ", S = " + std::to_string(granularity),
                          schedule,
                          {.granularity = granularity, .coarse = coarse}});
      }
    }
  }
  return result;
}

using AtaFactorTest = test::OnDevice<>;

/// A matrix on the device.
class Placed {
 public:
  Placed(const CsrMatrix& a, cudaStream_t stream)
      : rows_(a.rows),
        entries_(a.entries()),
        offsets_(upload(a.row_offsets, stream)),
        columns_(upload(a.col_indices, stream)),
        values_(upload(a.values, stream)) {}
  [[nodiscard]] DevicePattern pattern() const { return {rows_, entries_, offsets_.data(), columns_.data()}; }
  [[nodiscard]] const double* values() const { return values_.data(); }

 private:
  Index rows_;
  Offset entries_;
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  cuda::DeviceArray<double> values_;
};

std::vector<double> factor(AtaFactorization& f, const double* values, cudaStream_t stream) {
  f.factor(values, stream);
  const auto out = upload(std::vector<double>(static_cast<std::size_t>(f.entries()), -7.0), stream);
  f.copy_factor(out.data(), stream);
  return cuda::fetch_array(out.data(), out.size(), stream);
}

CsrMatrix reference(const CsrMatrix& a, FactorKind kind) {
  FactorStatus status;
  return test::reference_factor(a, {.kind = kind}, 0.0, status);
}

void expect_equal(const CsrMatrix& expected, const std::vector<double>& values) {
  ASSERT_EQ(values.size(), expected.values.size());
  CsrMatrix found = expected;
  found.values = values;
  EXPECT_LE(test::factor_difference(found, expected), test::kForwardBound);
}

TEST_F(AtaFactorTest, EveryScheduleMatchesTheReference) {
  for (const Problem& problem : test::small_problems()) {
    const Placed a(problem.a, stream());
    for (const Form& form : forms()) {
      const CsrMatrix expected = reference(problem.a, form.kind);
      for (const Kind& kind : kinds({0, 1, 32, 1000, 1 << 30})) {
        SCOPED_TRACE(problem.name + ", " + form.name + ", " + kind.name);
        const auto f = form.make(kind.schedule, a.pattern(), kind.options, stream());
        for (int repeat = 0; repeat < 2; ++repeat) {
          expect_equal(expected, factor(*f, a.values(), stream()));
        }
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST_F(AtaFactorTest, MoreRowsThanFitOnTheDeviceEnd) {
  const CsrMatrix matrix = make_stencil({.stencil = Stencil::seven_point, .nx = 40, .ny = 40, .nz = 40, .wind = 1.5});
  const Placed a(matrix, stream());
  for (const Form& form : forms()) {
    const CsrMatrix expected = reference(matrix, form.kind);
    for (const Kind& kind : kinds({0, 5000})) {
      SCOPED_TRACE(form.name + ", " + kind.name);
      const auto f = form.make(kind.schedule, a.pattern(), kind.options, stream());
      expect_equal(expected, factor(*f, a.values(), stream()));
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_F(AtaFactorTest, NewValuesAndUnmanagedRunsLeaveNothingBehind) {
  CsrMatrix matrix = make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10});
  const Placed a(matrix, stream());
  for (const Form& form : forms()) {
    for (const Kind& kind : kinds({0, 100})) {
      SCOPED_TRACE(form.name + ", " + kind.name);
      const auto f = form.make(kind.schedule, a.pattern(), kind.options, stream());
      expect_equal(reference(matrix, form.kind), factor(*f, a.values(), stream()));
      f->factor_unmanaged(a.values(), stream());
      CsrMatrix other = matrix;
      other.values = test::other_values(other.values);
      other = test::made_dominant(other);
      const Placed b(other, stream());
      expect_equal(reference(other, form.kind), factor(*f, b.values(), stream()));
    }
  }
}

TEST_F(AtaFactorTest, FactorisationsEndOnNumbersThatAreNotFinite) {
  for (const double bad :
       {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), not_yet()}) {
    CsrMatrix matrix = test::tridiagonal(2000, -1, 2.75, -1.25);
    // The diagonal entry of row 1: a pivot of 0, or a value that spreads.
    matrix.values[3] = bad == 0.0 ? 1.25 / 2.75 : bad;
    const Placed a(matrix, stream());
    for (const Form& form : forms()) {
      for (const Kind& kind : kinds({0, 32})) {
        SCOPED_TRACE(form.name + ", " + kind.name);
        const auto f = form.make(kind.schedule, a.pattern(), kind.options, stream());
        const std::vector<double> values = factor(*f, a.values(), stream());
        if (bad != 0.0) {
          EXPECT_FALSE(test::all_finite(values));
        }
        for (const double value : values) ASSERT_TRUE(is_ready(value));
      }
    }
  }
}

TEST_F(AtaFactorTest, RefusesRowsWithoutDiagonal) {
  CsrMatrix matrix = test::tridiagonal(5, -1, 0, -1);
  const Placed a(matrix, stream());
  for (const Form& form : forms()) {
    EXPECT_THROW(form.make(SolveSchedule::level_graph, a.pattern(), {}, stream()), InvalidInput);
  }
}

}  // namespace
}  // namespace taskdag
