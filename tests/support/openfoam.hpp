/// \file
/// OpenFOAM's DILU and DIC as they are published: the reciprocals rD by a recurrence over the faces, an application by
/// a forward and a backward loop. (H. Jasak, OpenFOAM's lduMatrix: DILUPreconditioner, DICPreconditioner.)
#pragma once

#include <vector>

#include "taskdag/csr.hpp"

namespace taskdag::test {

/// A face of owner l and neighbour u > l has the entries (u, l), `lower`, and (l, u), `upper`; 0 where there is none.
struct Face {
  Index l;
  Index u;
  double lower;
  double upper;
};

struct FacePreconditioner {
  std::vector<Face> faces;  ///< by owner, then neighbour, ascending
  std::vector<double> reciprocal;

  /// dic: `lower` is taken to be `upper`.
  FacePreconditioner(const CsrMatrix& a, bool dic) : reciprocal(static_cast<std::size_t>(a.rows), 0.0) {
    const auto find = [&](Index i, Index j, double& value) {
      for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
        if (a.col_indices[e] != j) continue;
        value = a.values[e];
        return true;
      }
      return false;
    };
    std::vector<std::vector<Index>> reaches(at(a.rows));  // by owner: the neighbours that either entry names
    for (Index i = 0; i < a.rows; ++i) {
      for (auto e = at(a.row_offsets[at(i)]); e < at(a.row_offsets[at(i) + 1]); ++e) {
        const Index j = a.col_indices[e];
        if (j == i) reciprocal[at(i)] = a.values[e];
        if (j > i) reaches[at(i)].push_back(j);
        double unused = 0.0;
        if (j < i && !dic && !find(j, i, unused)) reaches[at(j)].push_back(i);
      }
    }
    for (Index l = 0; l < a.rows; ++l) {
      for (const Index u : reaches[at(l)]) {
        Face face{l, u, 0.0, 0.0};
        find(l, u, face.upper);
        if (dic) {
          face.lower = face.upper;
        } else {
          find(u, l, face.lower);
        }
        faces.push_back(face);
      }
    }
    for (const Face& face : faces) reciprocal[at(face.u)] -= face.upper * face.lower / reciprocal[at(face.l)];
    for (double& value : reciprocal) value = 1.0 / value;
  }

  /// The order of the faces is that of the owners; a backward loop in reverse is right for any matrix, a forward one
  /// needs faces sorted by owner.
  [[nodiscard]] std::vector<double> apply(const std::vector<double>& r) const {
    std::vector<double> w(r.size());
    for (std::size_t i = 0; i < w.size(); ++i) w[i] = reciprocal[i] * r[i];
    for (const Face& face : faces) w[at(face.u)] -= reciprocal[at(face.u)] * face.lower * w[at(face.l)];
    for (auto face = faces.rbegin(); face != faces.rend(); ++face) {
      w[at(face->l)] -= reciprocal[at(face->l)] * face->upper * w[at(face->u)];
    }
    return w;
  }

 private:
  template <class Number>
  static std::size_t at(Number i) {
    return static_cast<std::size_t>(i);
  }
};

}  // namespace taskdag::test
