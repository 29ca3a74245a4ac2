#include "problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace taskdag::benchmark {
namespace {

/// The coefficient along an axis at a node.
using Coefficient = double (*)(PetscInt n, const std::array<PetscInt, 3>& node, int axis);

double one(PetscInt /*n*/, const std::array<PetscInt, 3>& /*node*/, int /*axis*/) { return 1.0; }
double jumping(PetscInt n, const std::array<PetscInt, 3>& node, int /*axis*/) {
  PetscInt cubes = 0;
  for (const PetscInt at : node) cubes += 8 * at / n;
  return cubes % 2 == 0 ? 1.0 : 1000.0;
}
double layered(PetscInt /*n*/, const std::array<PetscInt, 3>& /*node*/, int axis) { return axis == 2 ? 1e-3 : 1.0; }

MatStencil stencil_of(const std::array<PetscInt, 3>& node, PetscInt component = 0) {
  MatStencil place{};
  place.i = node[0];
  place.j = node[1];
  place.k = node[2];
  place.c = component;
  return place;
}

/// Harmonic means of the coefficients between nodes; the nodes beyond the boundary are left out.
PetscErrorCode fill_seven_points(DM grid, Coefficient coefficient, Mat matrix) {
  DMDALocalInfo info;
  PetscFunctionBegin;
  PetscCall(DMDAGetLocalInfo(grid, &info));
  const PetscInt n = info.mx;
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const std::array<PetscInt, 3> node{i, j, k};
        std::array<MatStencil, 7> columns{stencil_of(node)};
        std::array<double, 7> values{};
        PetscInt count = 1;
        for (int axis = 0; axis < 3; ++axis) {
          for (const PetscInt step : {-1, 1}) {
            auto other = node;
            auto& at = other.at(static_cast<std::size_t>(axis));
            at += step;
            const double own = coefficient(n, node, axis);
            if (at < 0 || at >= n) {
              values[0] += own;
              continue;
            }
            const double theirs = coefficient(n, other, axis);
            const double mean = 2.0 * own * theirs / (own + theirs);
            values[0] += mean;
            columns.at(static_cast<std::size_t>(count)) = stencil_of(other);
            values.at(static_cast<std::size_t>(count)) = -mean;
            ++count;
          }
        }
        const MatStencil row = stencil_of(node);
        PetscCall(MatSetValuesStencil(matrix, 1, &row, count, columns.data(), values.data(), INSERT_VALUES));
      }
    }
  }
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

using ElementMatrix = std::array<double, 576>;  // 24 × 24

std::array<PetscInt, 3> corner(int node) { return {node & 1, (node >> 1) & 1, (node >> 2) & 1}; }

/// Stiffness of a cube of side 1: two Gauss points an axis.
ElementMatrix element_stiffness() {
  constexpr double kYoung = 1.0;
  constexpr double kPoisson = 0.3;
  const double lambda = kYoung * kPoisson / ((1.0 + kPoisson) * (1.0 - 2.0 * kPoisson));
  const double mu = kYoung / (2.0 * (1.0 + kPoisson));
  const double half = 0.5 / std::sqrt(3.0);
  ElementMatrix stiffness{};
  for (int point = 0; point < 8; ++point) {
    std::array<std::array<double, 3>, 8> gradient{};
    for (int node = 0; node < 8; ++node) {
      for (int axis = 0; axis < 3; ++axis) {
        double value = 1.0;
        for (int other = 0; other < 3; ++other) {
          const double at = 0.5 + (corner(point).at(static_cast<std::size_t>(other)) == 0 ? -half : half);
          const bool far = corner(node).at(static_cast<std::size_t>(other)) == 1;
          if (other == axis) {
            value *= far ? 1.0 : -1.0;
          } else {
            value *= far ? at : 1.0 - at;
          }
        }
        gradient.at(static_cast<std::size_t>(node)).at(static_cast<std::size_t>(axis)) = value;
      }
    }
    for (std::size_t a = 0; a < 8; ++a) {
      for (std::size_t b = 0; b < 8; ++b) {
        double dot = 0.0;
        for (std::size_t m = 0; m < 3; ++m) dot += gradient.at(a).at(m) * gradient.at(b).at(m);
        for (std::size_t p = 0; p < 3; ++p) {
          for (std::size_t q = 0; q < 3; ++q) {
            double value =
                lambda * gradient.at(a).at(p) * gradient.at(b).at(q) + mu * gradient.at(a).at(q) * gradient.at(b).at(p);
            if (p == q) value += mu * dot;
            stiffness.at((3 * a + p) * 24 + 3 * b + q) += value / 8.0;
          }
        }
      }
    }
  }
  return stiffness;
}

/// The displacements of the face i = 0 are held: their rows and columns are those of the identity.
PetscErrorCode fill_elasticity(DM grid, Mat matrix) {
  DMDALocalInfo info;
  PetscFunctionBegin;
  PetscCall(DMDAGetLocalInfo(grid, &info));
  const ElementMatrix stiffness = element_stiffness();
  for (PetscInt k = info.zs; k < std::min(info.zs + info.zm, info.mz - 1); ++k) {
    for (PetscInt j = info.ys; j < std::min(info.ys + info.ym, info.my - 1); ++j) {
      for (PetscInt i = info.xs; i < std::min(info.xs + info.xm, info.mx - 1); ++i) {
        std::array<MatStencil, 24> places{};
        std::array<bool, 24> held{};
        for (int node = 0; node < 8; ++node) {
          const auto at = corner(node);
          for (int c = 0; c < 3; ++c) {
            const std::size_t place = 3 * static_cast<std::size_t>(node) + static_cast<std::size_t>(c);
            places.at(place) = stencil_of({i + at[0], j + at[1], k + at[2]}, c);
            held.at(place) = i + at[0] == 0;
          }
        }
        ElementMatrix values = stiffness;
        for (std::size_t r = 0; r < 24; ++r) {
          for (std::size_t c = 0; c < 24; ++c) {
            if (held.at(r) || held.at(c)) values.at(r * 24 + c) = r == c ? 0.125 : 0.0;
          }
        }
        PetscCall(MatSetValuesStencil(matrix, 24, places.data(), 24, places.data(), values.data(), ADD_VALUES));
      }
    }
  }
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

PetscErrorCode attach_rigid_body_motions(DM grid, Mat matrix) {
  PetscFunctionBegin;
  Vec coordinates = nullptr;
  MatNullSpace motions = nullptr;
  PetscCall(DMDASetUniformCoordinates(grid, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0));
  PetscCall(DMGetCoordinates(grid, &coordinates));
  PetscCall(MatNullSpaceCreateRigidBody(coordinates, &motions));
  PetscCall(MatSetNearNullSpace(matrix, motions));
  PetscCall(MatNullSpaceDestroy(&motions));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace

PetscErrorCode make_multigrid_problem(const std::string& name, PetscInt n, MultigridProblem* problem) {
  PetscFunctionBegin;
  const bool elastic = name == "elasticity";
  Coefficient coefficient = nullptr;
  if (name == "poisson") coefficient = one;
  if (name == "jumps") coefficient = jumping;
  if (name == "anisotropic") coefficient = layered;
  PetscCheck(elastic || coefficient, PETSC_COMM_WORLD, PETSC_ERR_ARG_OUTOFRANGE,
             "-problem %s: there are poisson, jumps, anisotropic, elasticity", name.c_str());
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         elastic ? DMDA_STENCIL_BOX : DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, elastic ? 3 : 1, 1, nullptr, nullptr, nullptr, &problem->grid));
  PetscCall(DMSetFromOptions(problem->grid));
  PetscCall(DMSetUp(problem->grid));
  PetscCall(DMCreateMatrix(problem->grid, &problem->matrix));
  if (elastic) {
    PetscCall(fill_elasticity(problem->grid, problem->matrix));
  } else {
    PetscCall(fill_seven_points(problem->grid, coefficient, problem->matrix));
  }
  PetscCall(MatAssemblyBegin(problem->matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(problem->matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(problem->matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(problem->matrix, MAT_SPD, PETSC_TRUE));
  if (elastic) PetscCall(attach_rigid_body_motions(problem->grid, problem->matrix));
  PetscFunctionReturn(static_cast<PetscErrorCode>(0));
}

}  // namespace taskdag::benchmark
