/// \file
/// Comparison of vectors in device memory.
#pragma once

#include <cstddef>

namespace taskdag::benchmark {

/// Adds to *count the number of places where the bits of x and y differ; two NaNs do not differ. All in device memory.
/// Asynchronous on the default stream.
void count_differences(std::size_t size, const double* x, const double* y, unsigned long long* count);

}  // namespace taskdag::benchmark
