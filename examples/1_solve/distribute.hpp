/// \file
/// From rank 0's memory to distributed PETSc objects.
#pragma once

#include <petscmat.h>

#include <functional>
#include <taskdag/csr.hpp>
#include <vector>

namespace example {

/// Runs `make` on rank 0 and spreads the rows of the square matrix that it returns. The type follows -mat_type.
/// An exception of `make` becomes an InputError on every rank. Collective.
Mat distribute_matrix(MPI_Comm comm, const std::function<taskdag::CsrMatrix()>& make);

/// Runs `make` on rank 0 and spreads the values that it returns over a vector that fits `a`.
/// @throws InputError on every rank, also where the length is not that of `a`. Collective.
Vec distribute_vector(Mat a, const std::function<std::vector<double>()>& make);

}  // namespace example
