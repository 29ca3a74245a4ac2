/// \file
/// A solve by Jacobi sweeps of a program, run after run.
#include "kernels/jacobi/program.hpp"

#include <cmath>

namespace taskdag::kernels {

JacobiOutcome run_to_tolerance(JacobiProgram& program, JacobiArrays& arrays, const JacobiStop& stop, Stream stream) {
  arrays.tolerance = stop.tolerance;
  int sweeps = 0;
  while (true) {
    program.enqueue(arrays, stream);
    const JacobiCheck check = program.check(stream);
    sweeps += static_cast<int>(check.sweeps);
    arrays.first = (arrays.first + check.sweeps) % arrays.ring_size;
    const bool converged = check.change <= stop.tolerance;
    if (converged || !std::isfinite(check.change) || sweeps >= stop.max_sweeps) {
      return {sweeps, check.change, converged};
    }
  }
}

}  // namespace taskdag::kernels
