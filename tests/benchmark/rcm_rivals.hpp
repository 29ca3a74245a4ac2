/// \file
/// Other libraries' reverse Cuthill-McKee, for comparison. Each is there or not; available() says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::benchmark {

/// One library's ordering of one matrix.
class RcmRival {
 public:
  virtual ~RcmRival() = default;
  /// @returns order with order[new] = old. @throws Error with the library's words
  virtual std::vector<Index> order() = 0;
};

/// cuSOLVER's cusolverSpXcsrsymrcmHost, which works on the host; the library is opened here. `version` is filled in.
/// @returns null where libcusolver or libcusparse cannot be opened. `a` must outlive the result.
std::unique_ptr<RcmRival> make_cusolver_rcm(const CsrMatrix& a, std::string& version);

/// PETSc's MatGetOrdering with MATORDERINGRCM of a sequential aij matrix.
/// @returns null in a build without PETSc. `a` must outlive the result.
std::unique_ptr<RcmRival> make_petsc_rcm(const CsrMatrix& a, std::string& version);

}  // namespace taskdag::benchmark
