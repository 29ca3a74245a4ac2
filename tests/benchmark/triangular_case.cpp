#include "triangular_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "base/index.hpp"
#include "dag/transpose.hpp"
#include "papers/helal/coarse_dag.hpp"
#include "reference/sptrsv.hpp"
#include "side_by_side.hpp"
#include "taskdag/factorization.hpp"

namespace taskdag::benchmark {
namespace {

/// The matrix of a rearranged pattern.
CsrMatrix with_values(const MappedPattern& pattern, const std::vector<double>& values) {
  CsrMatrix result{pattern.rows, pattern.cols, pattern.row_offsets, pattern.col_indices, {}};
  result.values.reserve(pattern.source_entry.size());
  for (const Offset e : pattern.source_entry) result.values.push_back(values[at(e)]);
  return result;
}

}  // namespace

CsrMatrix make_factor(const CsrMatrix& a) {
  FactorOptions options;
  options.zero_pivot = 0.0;
  Factorization factorization(Context::create({Backend::host, 0, -1}), a.pattern(), MemorySpace::host, options);
  factorization.factor(a.values.data(), MemorySpace::host);
  return factorization.copy_factor();
}

HostTriangle take_triangle(const CsrMatrix& lu, const TriangularOptions& options) {
  HostTriangle t{{lu.rows, lu.rows, {0}, {}, {}}, options.triangle, options.unit_diagonal};
  const bool lower = options.triangle == Triangle::lower;
  for (Index i = 0; i < lu.rows; ++i) {
    const auto put = [&](Index j, double value) {
      t.matrix.col_indices.push_back(j);
      t.matrix.values.push_back(value);
    };
    if (!lower && options.unit_diagonal) put(i, 1.0);
    for (Offset e = lu.row_offsets[at(i)]; e < lu.row_offsets[at(i) + 1]; ++e) {
      const Index j = lu.col_indices[at(e)];
      const bool diagonal = j == i && !options.unit_diagonal;
      if (diagonal || (lower ? j < i : j > i)) put(j, lu.values[at(e)]);
    }
    if (lower && options.unit_diagonal) put(i, 1.0);
    t.matrix.row_offsets.push_back(static_cast<Offset>(t.matrix.col_indices.size()));
  }
  if (!options.transposed) return t;
  t.matrix = with_values(transpose(t.matrix.pattern()), t.matrix.values);
  t.triangle = lower ? Triangle::upper : Triangle::lower;
  return t;
}

HostTriangle in_level_order(const HostTriangle& t, const Schedule& levels) {
  return {with_values(permute_pattern(t.matrix.pattern(), levels.order(), levels.order()), t.matrix.values),
          Triangle::lower, t.unit_diagonal};
}

std::string dag_class(const Schedule& levels, int multiprocessors) {
  constexpr int kWarpsThatFill = 4;  // a multiprocessor
  std::vector<Index> rows_of_level;
  const auto offsets = levels.level_offsets();
  for (Index level = 0; level < levels.levels(); ++level) {
    rows_of_level.push_back(offsets[at(level) + 1] - offsets[at(level)]);
  }
  return kernels::to_string(kernels::classify(rows_of_level, kWarpsThatFill * multiprocessors));
}

SerialLoop::SerialLoop(const HostTriangle& t) : forward_(t.triangle == Triangle::lower) {
  const CsrMatrix& m = t.matrix;
  for (Index i = 0; i < m.rows; ++i) {
    for (Offset e = m.row_offsets[at(i)]; e < m.row_offsets[at(i) + 1]; ++e) {
      if (m.col_indices[at(e)] == i) {
        pivots_.push_back(1.0 / m.values[at(e)]);
      } else {
        columns_.push_back(m.col_indices[at(e)]);
        values_.push_back(m.values[at(e)]);
      }
    }
    offsets_.push_back(static_cast<Offset>(columns_.size()));
  }
}

void SerialLoop::solve(const double* b, double* x) const {
  const std::size_t n = pivots_.size();
  for (std::size_t step = 0; step < n; ++step) {
    const std::size_t i = forward_ ? step : n - 1 - step;
    double sum = b[i];
    for (auto e = at(offsets_[i]); e < at(offsets_[i + 1]); ++e) sum -= values_[e] * x[columns_[e]];
    x[i] = sum * pivots_[i];
  }
}

std::vector<double> random_vector(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<double> values(size);
  for (double& value : values) value = uniform(random);
  return values;
}

std::vector<double> reference_solutions(const CsrMatrix& lu, const TriangularOptions& options,
                                        const std::vector<double>& b) {
  std::vector<double> x(b.size());
  if (b.empty()) return x;
  const std::size_t rows = at(lu.rows);
  side_by_side(b.size() / rows, [&](std::size_t k) {
    kernels::reference_sptrsv(lu.view(), options, b.data() + k * rows, x.data() + k * rows);
  });
  return x;
}

std::vector<double> reference_application(const CsrMatrix& lu, const std::vector<double>& b) {
  return reference_solutions(lu, {.triangle = Triangle::upper},
                             reference_solutions(lu, {.triangle = Triangle::lower, .unit_diagonal = true}, b));
}

double relative_error(const std::vector<double>& x, const std::vector<double>& reference) {
  return relative_error(std::span(x), std::span(reference));
}

double relative_error(std::span<const double> x, std::span<const double> reference) {
  double error = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i]) || !std::isfinite(reference[i])) return std::numeric_limits<double>::infinity();
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  return size > 0.0 ? error / size : error;
}

double accepted_error(double rival_error) {
  constexpr double kError = 1e-12;
  return std::isfinite(rival_error) ? std::max(kError, 10.0 * rival_error) : kError;
}

}  // namespace taskdag::benchmark
