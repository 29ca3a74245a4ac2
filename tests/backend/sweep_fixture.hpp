/// \file
/// The fixture of tests that load and solve CUDA sweeps directly.
#pragma once

#include <vector>

#include "device_fixture.hpp"
#include "device_triangle.hpp"

namespace taskdag::test {

template <class Base = testing::Test>
class OnSweeps : public OnDevice<Base> {
 protected:
  using OnDevice<Base>::stream;

  /// `pivots`: inverse ones by row; empty: all 1.
  void load(kernels::Sweep& sweep, const std::vector<double>& values, const std::vector<double>& pivots) {
    const auto device_values = upload(values, stream());
    const auto device_pivots = upload(pivots, stream());
    sweep.load_values(device_values.data(), pivots.empty() ? nullptr : device_pivots.data(), stream());
    cuda::synchronize(stream());
  }

  /// @returns x; non_finite_ tells whether the sweep found it to hold a NaN or an infinity
  std::vector<double> solve(kernels::Sweep& sweep, const std::vector<double>& b) {
    const auto rhs = upload(b, stream());
    const auto x = upload(std::vector<double>(b.size(), -7.0), stream());
    run(sweep, rhs.data(), x.data());
    return cuda::fetch_array(x.data(), b.size(), stream());
  }

  void run(kernels::Sweep& sweep, const double* rhs, double* x) {
    const auto flag = upload(std::vector<int>{0}, stream());
    sweep.solve(rhs, x, flag.data(), stream());
    non_finite_ = cuda::fetch(flag.data(), stream()) != 0;
  }

  bool non_finite_ = false;
};

}  // namespace taskdag::test
