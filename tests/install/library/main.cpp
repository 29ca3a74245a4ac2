// Solves a lower triangular system with the installed library: a unit bidiagonal matrix turns ones into alternating
// sums, so the solution is 1, 0, 1, 0, ...
#include <cmath>
#include <cstdio>
#include <taskdag/taskdag.hpp>
#include <vector>

int main() {
  constexpr taskdag::Index n = 101;
  taskdag::CsrMatrix a;
  a.rows = a.cols = n;
  for (taskdag::Index i = 0; i < n; ++i) {
    for (taskdag::Index j = i > 0 ? i - 1 : 0; j <= i; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(1.0);
    }
    a.row_offsets.push_back(static_cast<taskdag::Offset>(a.values.size()));
  }
  taskdag::ContextOptions options;
  options.backend = taskdag::Backend::host;
  const taskdag::Context context = taskdag::Context::create(options);
  taskdag::TriangularSolver solver(context, a.view(), taskdag::MemorySpace::host, {});
  std::vector<double> x(n, 1.0);
  solver.solve(x.data(), x.data(), taskdag::MemorySpace::host);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::abs(x[i] - (i % 2 == 0 ? 1.0 : 0.0)) > 0) {
      std::printf("x[%zu] is %g\n", i, x[i]);
      return 1;
    }
  }
  std::printf("TaskDAG %d.%d.%d solved it on %s\n", TASKDAG_VERSION_MAJOR, TASKDAG_VERSION_MINOR, TASKDAG_VERSION_PATCH,
              context.device_name().c_str());
  return 0;
}
