// ILU(0) and IC(0) under ATA and its baselines on CUDA against the serial references.
#include <functional>
#include <limits>

#include "backends.hpp"
#include "backends/cuda/stream.hpp"
#include "base/handover.hpp"
#include "device_fixture.hpp"
#include "device_triangle.hpp"
#include "kernels/sptrsv/schedules/catalogue/catalogue.hpp"
#include "measure.hpp"
#include "papers/helal/factor/ata.hpp"
#include "problems.hpp"

namespace taskdag {
namespace {

using kernels::AtaFactorization;
using kernels::AtaOptions;
using kernels::CoarseMode;
using kernels::DevicePattern;
using kernels::FactorForm;
using kernels::FactorReport;
using test::Problem;
using test::upload;

/// A matrix on the device, as ILU and IC take it, and what a factorisation of it has left.
class Placed {
 public:
  Placed(const CsrMatrix& a, cudaStream_t stream)
      : rows_(a.rows),
        entries_(a.entries()),
        offsets_(upload(a.row_offsets, stream)),
        columns_(upload(a.col_indices, stream)),
        values_(upload(a.values, stream)),
        diagonal_(static_cast<std::size_t>(a.rows), stream),
        found_(a.values.size(), stream),
        inverse_(diagonal_.size(), stream),
        unit_(a.values.size(), stream) {
    static_cast<void>(kernels::find_diagonal(pattern(), diagonal_.data(), stream));
    upper_ = kernels::upper_pattern(pattern(), diagonal_.data(), stream);
  }
  [[nodiscard]] DevicePattern pattern() const { return {rows_, entries_, offsets_.data(), columns_.data()}; }
  [[nodiscard]] const Offset* diagonal() const { return diagonal_.data(); }
  [[nodiscard]] DevicePattern upper() const { return upper_.pattern(); }
  [[nodiscard]] kernels::FactorInput input(FactorKind kind) const {
    return {values_.data(), kind == FactorKind::ic ? upper_.source.data() : nullptr, {}};
  }
  [[nodiscard]] kernels::FactorTarget target() const {
    return {found_.data(), inverse_.data(), unit_.data(), report_.data()};
  }
  /// As the reference has them: of IC the unit U with the pivots.
  [[nodiscard]] std::vector<double> found(FactorKind kind, cudaStream_t stream) const {
    if (kind == FactorKind::ilu) return cuda::fetch_array(found_.data(), found_.size(), stream);
    const auto entries = static_cast<std::size_t>(upper_.entries);
    const auto starts = cuda::fetch_array(upper_.row_offsets.data(), diagonal_.size() + 1, stream);
    const auto scaled = cuda::fetch_array(found_.data(), entries, stream);
    auto unit = cuda::fetch_array(unit_.data(), entries, stream);
    for (std::size_t i = 0; i < diagonal_.size(); ++i) {
      const auto e = static_cast<std::size_t>(starts[i]);
      unit[e] = scaled[e];
    }
    return unit;
  }
  [[nodiscard]] const FactorReport& report() const { return *report_.data(); }
  void reset_report() { *report_.data() = {}; }

 private:
  Index rows_;
  Offset entries_;
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  cuda::DeviceArray<double> values_;
  cuda::DeviceArray<Offset> diagonal_;
  kernels::DeviceCsr upper_;
  cuda::DeviceArray<double> found_;
  cuda::DeviceArray<double> inverse_;
  cuda::DeviceArray<double> unit_;
  cuda::PinnedValue<FactorReport> report_;
};

struct Form {
  std::string name;
  FactorKind kind;
  bool reports;  ///< bad pivots
  std::function<std::unique_ptr<AtaFactorization>(SolveSchedule, const Placed&, const AtaOptions&, cudaStream_t)> make;
};

std::vector<Form> forms() {
  std::vector<Form> result;
  for (const FactorForm form : {FactorForm::rows, FactorForm::columns}) {
    const bool by_rows = form == FactorForm::rows;
    result.push_back({by_rows ? "ILU(0) by rows" : "ILU(0) by columns", FactorKind::ilu, by_rows,
                      [=](SolveSchedule schedule, const Placed& a, const AtaOptions& options, cudaStream_t stream) {
                        return kernels::make_ata_ilu(schedule, a.pattern(), a.diagonal(), false, form, options, stream);
                      }});
  }
  result.push_back({"IC(0)", FactorKind::ic, true,
                    [](SolveSchedule schedule, const Placed& a, const AtaOptions& options, cudaStream_t stream) {
                      return kernels::make_ata_ic(schedule, a.upper(), kernels::transpose_pattern(a.upper(), stream),
                                                  false, options, stream);
                    }});
  return result;
}

struct Kind {
  std::string name;
  SolveSchedule schedule;
  AtaOptions options;
};

std::vector<Kind> kinds(const std::vector<Index>& granularities) {
  std::vector<Kind> result;
  for (const SolveSchedule schedule : kernels::kAtaBaselines) result.push_back({to_string(schedule), schedule, {}});
  for (const SolveSchedule schedule : kernels::kAtaPolicies) {
    result.push_back({to_string(schedule) + std::string(", S by warps and levels"),
                      schedule,
                      {.task_size = AtaSize::warps_and_levels}});
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

std::vector<double> factor(AtaFactorization& f, Placed& a, FactorKind kind, cudaStream_t stream) {
  a.reset_report();
  f.factor(a.input(kind), {}, a.target(), stream);
  cuda::synchronize(stream);
  return a.found(kind, stream);
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
    Placed a(problem.a, stream());
    for (const Form& form : forms()) {
      const CsrMatrix expected = reference(problem.a, form.kind);
      for (const Kind& kind : kinds({0, 1, 32, 1000, 1 << 30})) {
        SCOPED_TRACE(problem.name + ", " + form.name + ", " + kind.name);
        const auto f = form.make(kind.schedule, a, kind.options, stream());
        for (int repeat = 0; repeat < 2; ++repeat) {
          expect_equal(expected, factor(*f, a, form.kind, stream()));
        }
        ASSERT_FALSE(HasFailure());
      }
    }
  }
}

TEST_F(AtaFactorTest, MoreRowsThanFitOnTheDeviceEnd) {
  const CsrMatrix matrix = make_stencil({.stencil = Stencil::seven_point, .nx = 40, .ny = 40, .nz = 40, .wind = 1.5});
  Placed a(matrix, stream());
  for (const Form& form : forms()) {
    const CsrMatrix expected = reference(matrix, form.kind);
    for (const Kind& kind : kinds({0, 5000})) {
      SCOPED_TRACE(form.name + ", " + kind.name);
      const auto f = form.make(kind.schedule, a, kind.options, stream());
      expect_equal(expected, factor(*f, a, form.kind, stream()));
      ASSERT_FALSE(HasFailure());
    }
  }
}

TEST_F(AtaFactorTest, NewValuesAndUnmanagedRunsLeaveNothingBehind) {
  CsrMatrix matrix = make_stencil({.stencil = Stencil::seven_point, .nx = 12, .ny = 11, .nz = 10});
  Placed a(matrix, stream());
  for (const Form& form : forms()) {
    for (const Kind& kind : kinds({0, 100})) {
      SCOPED_TRACE(form.name + ", " + kind.name);
      const auto f = form.make(kind.schedule, a, kind.options, stream());
      expect_equal(reference(matrix, form.kind), factor(*f, a, form.kind, stream()));
      f->factor_unmanaged(a.input(form.kind), {}, a.target(), stream());
      CsrMatrix other = matrix;
      other.values = test::other_values(other.values);
      other = test::made_dominant(other);
      Placed b(other, stream());
      expect_equal(reference(other, form.kind), factor(*f, b, form.kind, stream()));
    }
  }
}

TEST_F(AtaFactorTest, FactorisationsEndOnNumbersThatAreNotFinite) {
  for (const double bad :
       {0.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), not_yet()}) {
    CsrMatrix matrix = test::tridiagonal(2000, -1, 2, -1);
    // The diagonal entry of row 1: a pivot of 0, or a value that spreads.
    matrix.values[3] = bad == 0.0 ? 0.5 : bad;
    Placed a(matrix, stream());
    for (const Form& form : forms()) {
      for (const Kind& kind : kinds({0, 32})) {
        SCOPED_TRACE(form.name + ", " + kind.name + ", " + std::to_string(bad) +
                     (is_ready(bad) ? "" : " of the hand-over"));
        const auto f = form.make(kind.schedule, a, kind.options, stream());
        const std::vector<double> values = factor(*f, a, form.kind, stream());
        if (bad != 0.0) {
          EXPECT_FALSE(test::all_finite(values));
        }
        for (const double value : values) ASSERT_TRUE(is_ready(value));
        if (!form.reports) continue;
        const FactorReport& report = a.report();
        EXPECT_EQ(bad == 0.0 ? report.first_zero : report.first_non_finite, 1);
        EXPECT_EQ(report.last_zero, bad == 0.0 ? 1 : -1);
      }
    }
  }
}

}  // namespace
}  // namespace taskdag
