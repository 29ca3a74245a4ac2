#include "ksp/ritz.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "boundary.hpp"
#include "mat/held.hpp"

namespace taskdag::petsc {
namespace {

/// Symmetric tridiagonal.
struct Tridiagonal {
  std::vector<double> diagonal;
  std::vector<double> beside;  ///< beside[k]: of k and k + 1
};

/// Of conjugate gradients' steps α and β, as PETSc has it. A step of 0 is one that has not been taken.
Tridiagonal of_conjugate_gradients(const KrylovOutcome& outcome, std::size_t iterations) {
  Tridiagonal t;
  for (std::size_t k = 1; k <= iterations && outcome.alpha[k] != 0.0; ++k) {
    const double root = std::sqrt(std::abs(outcome.beta[k]));
    const double above = k > 1 ? root / outcome.alpha[k - 1] : 0.0;
    if (k > 1) t.beside.push_back(above);
    t.diagonal.push_back(root * above + 1.0 / outcome.alpha[k]);
  }
  return t;
}

Tridiagonal of_lanczos(const KrylovOutcome& outcome, std::size_t iterations) {
  const auto end = static_cast<std::ptrdiff_t>(iterations) + 1;
  Tridiagonal t;
  t.diagonal.assign(outcome.alpha.begin() + 1, outcome.alpha.begin() + end);
  if (iterations > 1) t.beside.assign(outcome.beta.begin() + 2, outcome.beta.begin() + end);
  return t;
}

/// Wilkinson's: the eigenvalue of the last two rows that is nearer to the last diagonal element.
double shift_of(const Tridiagonal& t, std::size_t last) {
  const double beside = t.beside[last - 1];
  const double half = (t.diagonal[last - 1] - t.diagonal[last]) / 2.0;
  return t.diagonal[last] - beside * beside / (half + std::copysign(std::hypot(half, beside), half));
}

/// A QR step on rows first, …, last: the first rotation is that of the shifted matrix, and those after it take away
/// the element that the one before has put outside the diagonals.
void step(Tridiagonal& t, std::size_t first, std::size_t last) {
  double x = t.diagonal[first] - shift_of(t, last);
  double z = t.beside[first];
  for (std::size_t k = first; k < last; ++k) {
    const double length = std::hypot(x, z);
    const double c = length > 0.0 ? x / length : 1.0;
    const double s = length > 0.0 ? z / length : 0.0;
    const double a = t.diagonal[k];
    const double b = t.beside[k];
    const double d = t.diagonal[k + 1];
    if (k > first) t.beside[k - 1] = length;
    t.diagonal[k] = c * c * a + 2.0 * c * s * b + s * s * d;
    t.diagonal[k + 1] = s * s * a - 2.0 * c * s * b + c * c * d;
    t.beside[k] = (c * c - s * s) * b + c * s * (d - a);
    if (k + 1 == last) break;
    x = t.beside[k];
    z = s * t.beside[k + 1];
    t.beside[k + 1] *= c;
  }
}

bool is_negligible(const Tridiagonal& t, std::size_t k) {
  const double scale = std::abs(t.diagonal[k]) + std::abs(t.diagonal[k + 1]);
  return std::abs(t.beside[k]) <= std::numeric_limits<double>::epsilon() * scale;
}

/// By QR steps from the last row on, two or three for each; their number is limited whatever the elements are.
std::vector<double> eigenvalues_of(Tridiagonal t) {
  std::size_t last = t.diagonal.empty() ? 0 : t.diagonal.size() - 1;
  for (std::size_t remaining = 30 * (last + 1); last > 0 && remaining > 0; --remaining) {
    std::size_t first = last;
    while (first > 0 && !is_negligible(t, first - 1)) --first;
    if (first == last)
      --last;
    else
      step(t, first, last);
  }
  std::ranges::sort(t.diagonal);
  return std::move(t.diagonal);
}

/// Of a dense matrix by columns, by ascending real parts: PETSc hands it to LAPACK.
PetscErrorCode eigenvalues_of_dense(const std::vector<double>& elements, std::size_t rows,
                                    std::vector<std::complex<double>>* values) {
  PetscFunctionBegin;
  const auto n = static_cast<PetscInt>(rows);
  Held<Mat> matrix;
  Held<KSP> ksp;
  PC pc = nullptr;
  std::vector<PetscReal> parts;
  std::vector<PetscScalar> scalars;
  PetscCall(guarded([&] {
    parts.resize(2 * rows);
    scalars.assign(elements.begin(), elements.end());
  }));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, scalars.data(), matrix.out()));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp.out()));
  PetscCall(KSPSetOperators(ksp, matrix, matrix));
  PetscCall(KSPSetType(ksp, KSPPREONLY));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPComputeEigenvaluesExplicitly(ksp, n, parts.data(), parts.data() + rows));
  PetscCall(guarded([&] {
    for (std::size_t k = 0; k < rows; ++k) values->emplace_back(parts[k], parts[k + rows]);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool has_arnoldi(const KrylovOptions& options) {
  return options.method == KrylovMethod::gmres || options.method == KrylovMethod::fgmres;
}
std::size_t room_of_column(const KrylovOptions& options) { return static_cast<std::size_t>(options.restart) + 1; }

/// The square part of GMRES' small matrix.
std::vector<double> square_of(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t columns) {
  std::vector<double> square;
  for (std::size_t j = 0; j < columns; ++j) {
    const auto column = outcome.hessenberg.begin() + static_cast<std::ptrdiff_t>(j * room_of_column(options));
    square.insert(square.end(), column, column + static_cast<std::ptrdiff_t>(columns));
  }
  return square;
}

/// The symmetric matrix (0 H; Hᵀ 0) of GMRES' small one: its eigenvalues are the singular values, those with the other
/// sign, and a zero.
std::vector<double> doubled(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t columns) {
  const std::size_t rows = 2 * columns + 1;
  std::vector<double> both(rows * rows, 0.0);
  for (std::size_t j = 0; j < columns; ++j) {
    for (std::size_t i = 0; i < j + 2; ++i) {
      const double element = outcome.hessenberg[j * room_of_column(options) + i];
      both[(columns + 1 + j) * rows + i] = both[i * rows + columns + 1 + j] = element;
    }
  }
  return both;
}

}  // namespace

bool has_ritz_values(KrylovMethod method) {
  using M = KrylovMethod;
  return method == M::cg || method == M::minres || method == M::gmres || method == M::fgmres;
}

PetscErrorCode find_ritz_values(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t iterations,
                                std::vector<std::complex<double>>* values) {
  PetscFunctionBegin;
  std::vector<double> square;
  const std::size_t columns = outcome.hessenberg.size() / room_of_column(options);
  const std::size_t known = outcome.alpha.empty() ? 0 : std::min(iterations, outcome.alpha.size() - 1);
  PetscCall(guarded([&] {
    if (has_arnoldi(options)) {
      square = square_of(options, outcome, columns);
      return;
    }
    const auto real = eigenvalues_of(options.method == KrylovMethod::cg ? of_conjugate_gradients(outcome, known)
                                                                        : of_lanczos(outcome, known));
    values->assign(real.begin(), real.end());
  }));
  if (!square.empty()) PetscCall(eigenvalues_of_dense(square, columns, values));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_singular_values(const KrylovOptions& options, const KrylovOutcome& outcome, std::size_t iterations,
                                    std::vector<double>* values) {
  PetscFunctionBegin;
  std::vector<double> both;
  std::vector<std::complex<double>> found;
  const std::size_t columns = outcome.hessenberg.size() / room_of_column(options);
  if (has_arnoldi(options) && columns > 0) {
    PetscCall(guarded([&] { both = doubled(options, outcome, columns); }));
    PetscCall(eigenvalues_of_dense(both, 2 * columns + 1, &found));
    found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(columns));
  } else {
    PetscCall(find_ritz_values(options, outcome, iterations, &found));
  }
  PetscCall(guarded([&] {
    for (const std::complex<double>& value : found)
      values->push_back(options.method == KrylovMethod::cg ? value.real() : std::abs(value.real()));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
