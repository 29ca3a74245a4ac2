// Chebyshev's iteration with polynomials of the first kind for eigenvalues between two bounds, or of the fourth kind
// for those up to one. Compiled as a CUDA source where CUDA is.
#include "krylov/chebyshev_rule.hpp"
#include "krylov/methods/polynomial.hpp"

namespace taskdag::krylov {

std::unique_ptr<Loop> make_chebyshev(const LoopInput& input) { return make_loop<Polynomial<ChebyshevRule>>(input); }

}  // namespace taskdag::krylov
