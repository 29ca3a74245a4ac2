// TaskDAG without PETSc: assembles convection and diffusion on a square, chooses a factorisation and a Krylov method by
// what the matrix is, solves, and checks the solution. usage: library_app [POINTS [WIND]]
//
// Here everything is in host memory, on host threads. On a GPU (Backend::cuda) matrix, vectors and what apply() is
// given are in device memory, from cudaMalloc(), and MemorySpace::device takes the place of MemorySpace::host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <taskdag/taskdag.hpp>
#include <vector>

namespace {

constexpr auto host = taskdag::MemorySpace::host;

// The five-point matrix of n x n points, upwind: row by row, columns ascending.
taskdag::CsrMatrix assemble(taskdag::Index n, double wind) {
  taskdag::CsrMatrix a;
  a.rows = a.cols = n * n;
  a.row_offsets = {0};
  const auto put = [&a](bool inside, taskdag::Index column, double value) {
    if (!inside) return;
    a.col_indices.push_back(column);
    a.values.push_back(value);
  };
  for (taskdag::Index row = 0; row < a.rows; ++row) {
    const taskdag::Index x = row % n;
    put(row >= n, row - n, -1.0 - wind);
    put(x > 0, row - 1, -1.0 - wind);
    put(true, row, 4.0 + 2.0 * wind);
    put(x < n - 1, row + 1, -1.0);
    put(row < a.rows - n, row + n, -1.0);
    a.row_offsets.push_back(static_cast<taskdag::Offset>(a.values.size()));
  }
  return a;
}

// y = A x
std::vector<double> product(const taskdag::CsrMatrix& a, const std::vector<double>& x) {
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < y.size(); ++row) {
    for (auto k = static_cast<std::size_t>(a.row_offsets[row]); k < static_cast<std::size_t>(a.row_offsets[row + 1]);
         ++k) {
      y[row] += a.values[k] * x[static_cast<std::size_t>(a.col_indices[k])];
    }
  }
  return y;
}

// ‖b − A x‖ / ‖b‖, in the norm of the largest element
double residual(const taskdag::CsrMatrix& a, const std::vector<double>& x, const std::vector<double>& b) {
  const std::vector<double> ax = product(a, x);
  double difference = 0.0;
  double size = 0.0;
  for (std::size_t row = 0; row < b.size(); ++row) {
    difference = std::fmax(difference, std::abs(b[row] - ax[row]));
    size = std::fmax(size, std::abs(b[row]));
  }
  return difference / size;
}

bool solve(taskdag::Index n, double wind) {
  taskdag::ContextOptions where;
  where.backend = taskdag::Backend::host;
  const taskdag::Context context = taskdag::Context::create(where);

  const taskdag::CsrMatrix a = assemble(n, wind);
  const std::vector<double> b = product(a, std::vector<double>(static_cast<std::size_t>(a.rows), 1.0));
  std::vector<double> x(b.size());

  // Conjugate gradients with IC(0) need a symmetric matrix; GMRES with ILU(0) does not.
  const bool symmetric = taskdag::is_symmetric(context, a.view(), host);
  taskdag::FactorOptions factor;
  factor.kind = symmetric ? taskdag::FactorKind::ic : taskdag::FactorKind::ilu;
  taskdag::KrylovOptions krylov;
  krylov.method = symmetric ? taskdag::KrylovMethod::cg : taskdag::KrylovMethod::gmres;

  // The symbolic phase once a pattern, factor() again for new values.
  taskdag::Factorization factorization(context, a.pattern(), host, factor);
  const taskdag::FactorStatus status = factorization.factor(a.values.data(), host);
  if (!status.ok()) {
    std::printf("no factor: row %d has a bad pivot\n", static_cast<int>(status.first_row));
    return false;
  }
  taskdag::FunctionMap preconditioner([&](const double* from, double* to, taskdag::Stream stream) {
    factorization.apply(taskdag::Apply::full, from, to, host, stream);
  });
  taskdag::Krylov solver(context, a.view(), &preconditioner, krylov);
  taskdag::KrylovTolerances tolerances;
  tolerances.relative = 1e-10;
  const taskdag::KrylovOutcome outcome = solver.solve(b.data(), x.data(), false, tolerances);

  const double left = residual(a, x, b);
  std::printf("%d rows on %s, %s: %s after %d iterations, residual %.1e\n", static_cast<int>(a.rows),
              context.device_name().c_str(), to_string(krylov.method), to_string(outcome.reason),
              static_cast<int>(outcome.iterations), left);
  return outcome.converged() && left < 1e-8;
}

}  // namespace

// 0: solved; 2: not converged; 1: an error, in words
int main(int argc, char** argv) {
  try {
    const int points = argc > 1 ? std::atoi(argv[1]) : 100;
    const double wind = argc > 2 ? std::atof(argv[2]) : 0.0;
    return solve(std::clamp(points, 2, 10000), wind) ? 0 : 2;
  } catch (const std::exception& error) {
    std::printf("library_app: %s\n", error.what());
    return 1;
  }
}
