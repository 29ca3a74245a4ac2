/// \file
/// Triangular patterns for the tests of schedules.
#pragma once

#include <string>
#include <vector>

#include "support/matrices.hpp"
#include "taskdag/csr.hpp"
#include "taskdag/generators.hpp"

namespace taskdag::test {

struct NamedMatrix {
  std::string name;
  CsrMatrix a;
};

inline CsrMatrix dense(Index n) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      a.col_indices.push_back(j);
      a.values.push_back(i == j ? n : 1.0 / (1 + i + j));
    }
    a.row_offsets.push_back(static_cast<Offset>(a.col_indices.size()));
  }
  return a;
}

inline CsrMatrix diagonal(Index n) {
  CsrMatrix a{n, n, {0}, {}, {}};
  for (Index i = 0; i < n; ++i) {
    a.col_indices.push_back(i);
    a.values.push_back(2.0);
    a.row_offsets.push_back(i + 1);
  }
  return a;
}

inline CsrMatrix chain(Index n) { return make_stencil({.stencil = Stencil::five_point, .nx = n, .ny = 1}); }

/// Real and generated ones, and the extremes.
inline std::vector<NamedMatrix> schedule_matrices() {
  std::vector<NamedMatrix> result;
  for (const std::string& name : bundled_matrices()) result.push_back({name, load_bundled(name)});
  result.push_back({"empty", CsrMatrix()});
  result.push_back({"one row", diagonal(1)});
  result.push_back({"diagonal", diagonal(100)});
  result.push_back({"dense", dense(40)});
  result.push_back({"chain", chain(500)});
  result.push_back({"5-point", make_stencil({.stencil = Stencil::five_point, .nx = 40, .ny = 30})});
  result.push_back({"27-point", make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 9, .ny = 8, .nz = 7})});
  result.push_back({"Erdős–Rényi", make_erdos_renyi_lower(700, 0.005, 3)});
  result.push_back({"narrow band", make_narrow_band_lower(2000, 0.14, 10, 5)});
  return result;
}

}  // namespace taskdag::test
