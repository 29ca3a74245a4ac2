/// \file
/// Krylov methods that count their iterations, on one thread.
#pragma once

#include <functional>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// y = M⁻¹ r.
using Preconditioner = std::function<std::vector<double>(const std::vector<double>&)>;

struct Solve {
  int iterations = 0;
  bool converged = false;
  double residual = 0.0;  ///< ‖b − A x‖ / ‖b‖ at the end
};

/// Both start at 0 and end when the preconditioned residual's norm has fallen to `tolerance` of its first one, or after
/// `most` iterations, or where the method breaks down.
/// Conjugate gradients; A and M symmetric and positive definite.
Solve conjugate_gradients(const CsrMatrix& a, const std::vector<double>& b, const Preconditioner& m, double tolerance,
                          int most);
/// BiCGStab, preconditioned from the left.
Solve bicgstab(const CsrMatrix& a, const std::vector<double>& b, const Preconditioner& m, double tolerance, int most);

}  // namespace taskdag::benchmark
