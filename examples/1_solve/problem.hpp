/// \file
/// What the program solves: a matrix and a right-hand side, read or generated, spread over the ranks.
#pragma once

#include <petscksp.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace example {

/// The user asked for something that cannot be done; what() is one line for the terminal. Thrown on every rank.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Problem {
  std::string name;  ///< a file, or the generator's parameters
  Mat a = nullptr;   ///< square, rows distributed as PETSc decides
  Vec b = nullptr;   ///< right-hand side, compatible with a
};

/// Reads `-f`, `-rhs`, `-stencil`, `-nx`, `-ny`, `-nz`, `-dof`, `-wind`, `-seed`, `-mean` and makes the problem.
/// Collective. The caller destroys a and b. @throws InputError
Problem make_problem(MPI_Comm comm);

}  // namespace example
