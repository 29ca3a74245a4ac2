#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "base/index.hpp"
#include "kernels/factor/fill/levels.hpp"
#include "reference/ic.hpp"
#include "reference/ilu.hpp"
#include "reference/sptrsv.hpp"
#include "solver/checks.hpp"

namespace taskdag::test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A sum with the sum of its terms' magnitudes.
struct Sum {
  long double value = 0;
  long double size = 0;
  int terms = 0;
  void add(long double term, long double magnitude) {
    value += term;
    size += magnitude;
    ++terms;
  }
  void add(long double term) { add(term, std::abs(term)); }
};

/// |residual| in units of the rounding errors of its terms.
double in_units(long double residual, long double size, int terms) {
  const long double unit = (terms + 8) * (std::numeric_limits<double>::epsilon() * size +
                                          static_cast<long double>(std::numeric_limits<double>::min()));
  const long double error = std::abs(residual) / unit;
  return std::isnan(error) ? kInfinity : static_cast<double>(error);
}

double largest(const std::vector<Sum>& residuals) {
  double worst = 0;
  for (const Sum& r : residuals) worst = std::max(worst, in_units(r.value, r.size, r.terms));
  return worst;
}

bool takes(const TriangularOptions& options, Index i, Index j) {
  return options.triangle == Triangle::lower ? j < i : j > i;
}

/// T x with magnitudes: y_i = Σ t_ij x_j, sizes carried through.
std::vector<Sum> multiply(const CsrMatrix& a, const TriangularOptions& options, const std::vector<Sum>& x) {
  std::vector<Sum> y(at(a.rows));
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset e = a.row_offsets[at(i)]; e < a.row_offsets[at(i) + 1]; ++e) {
      const Index j = a.col_indices[at(e)];
      const bool diagonal = i == j && !options.unit_diagonal;
      if (!diagonal && !takes(options, i, j)) continue;
      const auto value = static_cast<long double>(a.values[at(e)]);
      const std::size_t to = at(options.transposed ? j : i);
      const std::size_t from = at(options.transposed ? i : j);
      y[to].add(value * x[from].value, std::abs(value) * x[from].size);
    }
    if (options.unit_diagonal) y[at(i)].add(x[at(i)].value, x[at(i)].size);
  }
  return y;
}

std::vector<Sum> as_sums(const std::vector<double>& x) {
  std::vector<Sum> sums(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) sums[i].add(static_cast<long double>(x[i]));
  return sums;
}

std::vector<Sum> residual(const CsrMatrix& a, const CsrMatrix& f, double shift, bool upper_only) {
  std::vector<Sum> r(f.values.size());
  std::size_t e = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Offset g = a.row_offsets[at(i)]; g < a.row_offsets[at(i) + 1]; ++g) {
      if (upper_only && a.col_indices[at(g)] < i) continue;
      r[e].add(static_cast<long double>(a.values[at(g)]));
      if (a.col_indices[at(g)] == i) r[e].add(static_cast<long double>(shift));
      ++e;
    }
  }
  return r;
}

double ilu0_error(const CsrMatrix& a, const CsrMatrix& f, double shift) {
  std::vector<Sum> r = residual(a, f, shift, false);
  std::vector<Offset> entry_of_column(at(f.cols), -1);
  for (Index i = 0; i < f.rows; ++i) {
    const Offset begin = f.row_offsets[at(i)];
    const Offset end = f.row_offsets[at(i) + 1];
    for (Offset e = begin; e < end; ++e) entry_of_column[at(f.col_indices[at(e)])] = e;
    for (Offset e = begin; e < end; ++e) {
      const Index k = f.col_indices[at(e)];
      const auto l = static_cast<long double>(k < i ? f.values[at(e)] : 1.0);
      if (k >= i) {  // L's unit diagonal times U's row i
        r[at(e)].add(-static_cast<long double>(f.values[at(e)]));
        continue;
      }
      for (Offset g = f.row_offsets[at(k)]; g < f.row_offsets[at(k) + 1]; ++g) {
        const Index j = f.col_indices[at(g)];
        if (j < k || entry_of_column[at(j)] < 0) continue;
        r[at(entry_of_column[at(j)])].add(-l * static_cast<long double>(f.values[at(g)]));
      }
    }
    for (Offset e = begin; e < end; ++e) entry_of_column[at(f.col_indices[at(e)])] = -1;
  }
  return largest(r);
}

double ic0_error(const CsrMatrix& a, const CsrMatrix& f, double shift) {
  std::vector<Sum> r = residual(a, f, shift, true);
  for (Index k = 0; k < f.rows; ++k) {
    const Offset begin = f.row_offsets[at(k)];
    const Offset end = f.row_offsets[at(k) + 1];
    const auto d = static_cast<long double>(f.values[at(begin)]);
    const auto u = [&](Offset e) { return e == begin ? 1.0L : static_cast<long double>(f.values[at(e)]); };
    for (Offset e = begin; e < end; ++e) {
      const Index i = f.col_indices[at(e)];
      const auto row_begin = f.col_indices.begin() + f.row_offsets[at(i)];
      const auto row_end = f.col_indices.begin() + f.row_offsets[at(i) + 1];
      for (Offset g = e; g < end; ++g) {
        const auto found = std::lower_bound(row_begin, row_end, f.col_indices[at(g)]);
        if (found == row_end || *found != f.col_indices[at(g)]) continue;
        r[static_cast<std::size_t>(found - f.col_indices.begin())].add(-u(e) * d * u(g));
      }
    }
  }
  return largest(r);
}

}  // namespace

double difference(const std::vector<double>& x, const std::vector<double>& reference) {
  double error = 0;
  double size = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) != std::isnan(reference[i])) return kInfinity;
    if (x[i] == reference[i] || std::isnan(x[i])) continue;
    error = std::max(error, std::abs(x[i] - reference[i]));
    size = std::max(size, std::abs(reference[i]));
  }
  for (const double value : reference) size = std::max(size, std::abs(value));
  return error / size;
}

double factor_difference(const CsrMatrix& f, const CsrMatrix& reference) {
  if (f.col_indices != reference.col_indices || f.row_offsets != reference.row_offsets) return kInfinity;
  double worst = 0;
  for (std::size_t i = 0; i + 1 < f.row_offsets.size(); ++i) {
    const std::vector<double> row(f.values.begin() + f.row_offsets[i], f.values.begin() + f.row_offsets[i + 1]);
    const std::vector<double> expected(reference.values.begin() + f.row_offsets[i],
                                       reference.values.begin() + f.row_offsets[i + 1]);
    worst = std::max(worst, difference(row, expected));
  }
  return worst;
}

double triangular_error(const CsrMatrix& a, const TriangularOptions& options, const std::vector<double>& b,
                        const std::vector<double>& x) {
  std::vector<Sum> y = multiply(a, options, as_sums(x));
  for (std::size_t i = 0; i < y.size(); ++i) y[i].add(-static_cast<long double>(b[i]));
  return largest(y);
}

double factor_error(const CsrMatrix& a, const CsrMatrix& f, FactorKind kind, double shift) {
  return kind == FactorKind::ic ? ic0_error(a, f, shift) : ilu0_error(a, f, shift);
}

double apply_error(const CsrMatrix& f, FactorKind kind, bool transposed, const std::vector<double>& b,
                   const std::vector<double>& x) {
  std::vector<Sum> y = as_sums(x);
  int terms = 0;  // the sweeps' errors add up: twice the longest sum bounds both
  const auto pass = [&](const TriangularOptions& options) {
    y = multiply(f, options, y);
    for (const Sum& sum : y) terms = std::max(terms, sum.terms);
  };
  if (kind == FactorKind::ic) {
    pass({Triangle::upper, true, false});
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto d = static_cast<long double>(f.values[at(f.row_offsets[i])]);
      y[i].value *= d;
      y[i].size *= std::abs(d);
    }
    pass({Triangle::upper, true, true});
  } else if (transposed) {
    pass({Triangle::lower, true, true});
    pass({Triangle::upper, false, true});
  } else {
    pass({Triangle::upper, false, false});
    pass({Triangle::lower, true, false});
  }
  double worst = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const auto right = static_cast<long double>(b[i]);
    worst = std::max(worst, in_units(right - y[i].value, y[i].size + std::abs(right), 2 * terms));
  }
  return worst;
}

CsrMatrix with_fill(const CsrMatrix& a, const FactorOptions& options) {
  host::ThreadPool pool(1);
  MappedPattern pattern{a.rows, a.cols, a.row_offsets, a.col_indices, {}};
  const RowBlocks* const blocks = blocks_of_fill(options);
  if (options.kind == FactorKind::ic) {
    pattern = fill_upper_pattern(upper_triangle(a.pattern()), options.levels, blocks, pool);
  } else {
    pattern.source_entry.resize(a.col_indices.size());
    std::iota(pattern.source_entry.begin(), pattern.source_entry.end(), Offset{0});
    pattern = fill_pattern(pattern, options.levels, blocks, pool);
  }
  CsrMatrix result{a.rows, a.cols, pattern.row_offsets, pattern.col_indices, {}};
  for (const Offset source : pattern.source_entry) {
    result.values.push_back(source < 0 ? 0.0 : a.values[static_cast<std::size_t>(source)]);
  }
  return result;
}

CsrMatrix reference_factor(const CsrMatrix& a, const FactorOptions& options, double shift, FactorStatus& status) {
  return options.kind == FactorKind::ic ? kernels::reference_ic(a.view(), options, shift, status)
                                        : kernels::reference_ilu(a.view(), options, shift, status);
}

std::vector<double> reference_solve(const CsrMatrix& a, const TriangularOptions& options,
                                    const std::vector<double>& b) {
  std::vector<double> x(b.size());
  kernels::reference_sptrsv(a.view(), options, b.data(), x.data());
  return x;
}

std::vector<double> reference_apply(const CsrMatrix& f, FactorKind kind, bool transposed,
                                    const std::vector<double>& b) {
  if (kind == FactorKind::ic) {
    std::vector<double> x = reference_solve(f, {Triangle::upper, true, true}, b);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] /= f.values[at(f.row_offsets[i])];
    return reference_solve(f, {Triangle::upper, true, false}, x);
  }
  if (transposed) {
    return reference_solve(f, {Triangle::lower, true, true}, reference_solve(f, {Triangle::upper, false, true}, b));
  }
  return reference_solve(f, {Triangle::upper, false, false}, reference_solve(f, {Triangle::lower, true, false}, b));
}

bool all_finite(const std::vector<double>& x) {
  return std::ranges::all_of(x, [](double value) { return std::isfinite(value); });
}

bool same_bits(const std::vector<double>& x, const std::vector<double>& y) {
  return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0);
}

}  // namespace taskdag::test
