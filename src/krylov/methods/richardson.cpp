// Richardson's method: x += damping · M⁻¹ r. Compiled as a CUDA source where CUDA is.
#include "krylov/methods/polynomial.hpp"

namespace taskdag::krylov {
namespace {

struct RichardsonRule {
  static constexpr bool momentum = false;
  double damping;
  static RichardsonRule of(const KrylovOptions& options) { return {options.damping}; }
  [[nodiscard]] TASKDAG_TASK PolynomialCoefficients next(const PolynomialCoefficients& /*before*/,
                                                         std::int64_t /*k*/) const {
    return {damping, 0.0, 0.0};
  }
};

}  // namespace

std::unique_ptr<Loop> make_richardson(const LoopInput& input) { return make_loop<Polynomial<RichardsonRule>>(input); }

}  // namespace taskdag::krylov
