/// \file
/// What the tests of SOR, by rows and by point blocks, have in common.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "backends.hpp"

namespace taskdag::test {

inline constexpr SorSweep kSweeps[] = {SorSweep::forward, SorSweep::backward, SorSweep::symmetric};
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

class SorBackendTest : public BackendTest {
 protected:
  [[nodiscard]] Sor make(const CsrMatrix& a, const SorOptions& options, std::span<const Index> order = {}) const {
    MatrixArrays arrays = place(a);
    return {context(), arrays.pattern(), space(), options, order, stream()};
  }
  FactorStatus load(Sor& sor, const CsrMatrix& a) const {
    return sor.update_values(place(a.values).data(), space(), stream());
  }
  std::vector<double> run(Sor& sor, SorSweep sweep, int iterations, SorStart start, const std::vector<double>& b,
                          const std::vector<double>& x) const {
    Array<double> from = place(b);
    Array<double> to = place(x);
    sor.iterate(sweep, iterations, start, from.data(), to.data(), space(), stream());
    return to.read();
  }
  /// From zero x is work space: what is in it must not matter.
  std::vector<double> from_zero(Sor& sor, SorSweep sweep, int iterations, const std::vector<double>& b) const {
    return run(sor, sweep, iterations, SorStart::zero, b, std::vector<double>(b.size(), kNan));
  }
};

}  // namespace taskdag::test
