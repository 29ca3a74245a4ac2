/// \file
/// A triangular system to measure: from a problem's ILU(0), with right-hand sides and their solutions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "taskdag/triangular.hpp"

namespace taskdag::benchmark {

/// L and U of the host backend's ILU(0) in natural order, in one matrix (L's unit diagonal is not stored).
CsrMatrix make_factor(const CsrMatrix& a);

/// One triangle, transposed if asked for, as a matrix of its own with its diagonal (ones where it is unit).
struct HostTriangle {
  CsrMatrix matrix;
  Triangle triangle = Triangle::lower;  ///< of `matrix`
  bool unit_diagonal = false;
  [[nodiscard]] Offset strict_entries() const { return matrix.entries() - matrix.rows; }
};
HostTriangle take_triangle(const CsrMatrix& lu, const TriangularOptions& options);

/// B = P T Pᵀ in the order of `levels`: always lower. Row p of B is row levels.order()[p] of T.
HostTriangle in_level_order(const HostTriangle& t, const Schedule& levels);

/// The shape of the system's DAG, as the paper on adaptive task aggregation sorts its results: "parallel", "wide" or
/// "L-shape". See papers/helal/coarse_dag.hpp.
std::string dag_class(const Schedule& levels, int multiprocessors);

/// A plain serial loop over a triangle in CSR, the strict entries and inverse pivots apart.
class SerialLoop {
 public:
  explicit SerialLoop(const HostTriangle& t);
  void solve(const double* b, double* x) const;

 private:
  bool forward_;
  std::vector<Offset> offsets_ = {0};
  std::vector<Index> columns_;
  std::vector<double> values_;
  std::vector<double> pivots_;
};

/// Uniform in [-1, 1].
std::vector<double> random_vector(std::size_t size, unsigned seed);

/// Solutions of the serial reference, a column a processor. b: lu.rows values a column.
std::vector<double> reference_solutions(const CsrMatrix& lu, const TriangularOptions& options,
                                        const std::vector<double>& b);

/// The serial reference's application of L U, L with a unit diagonal.
std::vector<double> reference_application(const CsrMatrix& lu, const std::vector<double>& b);

/// Largest difference, relative to the largest reference value; infinity if one of either is not finite.
double relative_error(std::span<const double> x, std::span<const double> reference);
double relative_error(const std::vector<double>& x, const std::vector<double>& reference);

/// The relative error that a result may have: 1e-12, or ten times the rival's where that is larger and finite, because
/// some factors amplify rounding.
double accepted_error(double rival_error);

}  // namespace taskdag::benchmark
