// -pc_taskdag_across: the preconditioner of the whole matrix, whatever the number of ranks.
#include <petscdmda.h>

#include <algorithm>
#include <cmath>

#include "support.hpp"
#include "support/without_diagonal.hpp"

namespace taskdag::test {
namespace {

const std::string kOurs = "-pc_type taskdag -pc_taskdag_backend host ";
const std::string kAcross = kOurs + "-pc_taskdag_across on ";
const std::string kOn = kAcross;  // by colours
const std::string kByBlocks = kAcross + "-pc_taskdag_ordering taskdag_bmc ";
/// One rank with the whole matrix: what it is to be.
const std::string kReference = kOurs + "-pc_taskdag_ordering taskdag_color ";

struct Order {
  std::string across;
  std::string reference;
  const char* view;
};
const Order kColours = {kOn, kReference, "across ranks: the whole matrix, by colours (taskdag_color); colours: "};
const Order kNatural = {kAcross + "-pc_taskdag_ordering natural ", kOurs + "-pc_taskdag_ordering natural ",
                        "across ranks: the whole matrix, in its order; waves: "};

// Without restarts: these make a stagnating solve go another way by rounding.
constexpr auto kGmres = "-ksp_type gmres -ksp_gmres_restart 300 ";
struct Kind {
  const char* name;
  const char* options;
  const char* ksp;
  bool symmetric = false;  ///< for symmetric matrices alone
};
constexpr Kind kKinds[] = {
    {"ilu", "-pc_taskdag_type ilu ", kGmres},
    {"icc", "-pc_taskdag_type icc ", "-ksp_type cg ", true},
    {"dilu", "-pc_taskdag_type dilu ", kGmres},
    {"dic", "-pc_taskdag_type dic ", "-ksp_type cg ", true},
    {"ssor", "-pc_taskdag_type sor -pc_sor_symmetric ", kGmres},
    {"sor", "-pc_taskdag_type sor -pc_sor_forward -pc_sor_omega 1.3 ", kGmres},
    {"sor_backward", "-pc_taskdag_type sor -pc_sor_backward -pc_sor_its 2 ", kGmres},
    {"ssor_twice", "-pc_taskdag_type sor -pc_sor_its 2 -pc_sor_omega 0.9 ", kGmres},
};

CsrMatrix grid() { return make_stencil({.stencil = Stencil::five_point, .nx = 20, .ny = 14, .nz = 1}); }
CsrMatrix wind() { return make_stencil({.stencil = Stencil::seven_point, .nx = 9, .ny = 8, .nz = 7, .wind = 2.0}); }
CsrMatrix box() { return make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 6, .ny = 5, .nz = 5}); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
/// Rank 0 prints for all.
bool shows(const Solve& result, const std::string& part) { return rank() != 0 || has(result.view, part); }

/// On this rank alone, without nodes: a colour is one of rows.
OwnedMat make_whole(const CsrMatrix& a) {
  const ScopedOptions options("-mat_no_inode");
  return make_local_matrix(a);
}

OwnedPc make_local_pc(Mat whole, const std::string& options) {
  const ScopedOptions scope(options);
  OwnedPc pc;
  EXPECT_EQ(static_cast<int>(PCCreate(PETSC_COMM_SELF, pc.out())), 0);
  EXPECT_EQ(static_cast<int>(PCSetOperators(pc, whole, whole)), 0);
  EXPECT_EQ(static_cast<int>(PCSetFromOptions(pc)), 0);
  EXPECT_EQ(static_cast<int>(PCSetUp(pc)), 0);
  return pc;
}

/// Copies a vector on all ranks to each of them.
void gather(Vec spread, Vec whole) {
  VecScatter scatter = nullptr;
  Vec all = nullptr;
  PETSC_OK(VecScatterCreateToAll(spread, &scatter, &all));
  PETSC_OK(VecScatterBegin(scatter, spread, all, INSERT_VALUES, SCATTER_FORWARD));
  PETSC_OK(VecScatterEnd(scatter, spread, all, INSERT_VALUES, SCATTER_FORWARD));
  PETSC_OK(VecCopy(all, whole));
  PETSC_OK(VecScatterDestroy(&scatter));
  PETSC_OK(VecDestroy(&all));
}

using Application = PetscErrorCode (*)(PC, Vec, Vec);

/// Of what both make of the same vector, the largest difference relative to the largest element.
double difference(PC across, Mat a, PC reference, Mat whole, Application apply = PCApply) {
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a, 2.0);
  OwnedVec wb;
  OwnedVec wx;
  OwnedVec wy;
  EXPECT_EQ(static_cast<int>(MatCreateVecs(whole, wb.out(), wx.out())), 0);
  EXPECT_EQ(static_cast<int>(VecDuplicate(wx, wy.out())), 0);
  gather(b, wb);
  EXPECT_EQ(static_cast<int>(apply(across, b, x)), 0);
  gather(x, wx);
  EXPECT_EQ(static_cast<int>(apply(reference, wb, wy)), 0);
  return relative_difference(wx, wy);
}

void expect_same(const CsrMatrix& matrix, const Kind& kind, const Order& order = kColours) {
  SCOPED_TRACE(kind.name);
  const OwnedMat a = make_matrix(matrix);
  const OwnedMat whole = make_whole(matrix);
  const OwnedPc ours = make_pc(a, order.across + kind.options);
  const OwnedPc reference = make_local_pc(whole, order.reference + kind.options);
  const Solve one = solve(whole, words({kind.ksp, order.reference, kind.options}));
  const Solve all = solve(a, words({kind.ksp, order.across, kind.options}));
  EXPECT_EQ(static_cast<int>(all.code), 0) << all.message;
  EXPECT_EQ(all.reason, one.reason);
  EXPECT_EQ(all.failed, one.failed);
  EXPECT_TRUE(shows(all, order.view)) << all.view;
  if (one.failed != PC_NOERROR) return;
  // Longer solves go apart by the rounding of their sums.
  if (one.iterations < 120) {
    EXPECT_NEAR(static_cast<double>(all.iterations), static_cast<double>(one.iterations), 1.0);
  }
  EXPECT_LT(difference(ours, a, reference, whole), 1e-12);
}

TEST(Across, IsWhatOneRankHas) {
  for (const Kind& kind : kKinds) {
    expect_same(grid(), kind);
    expect_same(box(), kind);
    if (!kind.symmetric) expect_same(wind(), kind);
  }
}

TEST(Across, InTheMatrixOrderIsWhatOneRankHas) {
  for (const Kind& kind : kKinds) {
    for (const CsrMatrix& matrix : {grid(), wind(), load("orsreg_1")}) {
      if (!kind.symmetric || is_symmetric(matrix)) expect_same(matrix, kind, kNatural);
    }
  }
}

using OwnedDm = Owned<DM, DMDestroy>;

/// Diffusion with wind, other numbers in each direction.
void fill_star(DM boxes, Mat a) {
  DMDALocalInfo info;
  PETSC_OK(DMDAGetLocalInfo(boxes, &info));
  const PetscInt ends[] = {info.mx, info.my, info.mz};
  for (PetscInt k = info.zs; k < info.zs + info.zm; ++k) {
    for (PetscInt j = info.ys; j < info.ys + info.ym; ++j) {
      for (PetscInt i = info.xs; i < info.xs + info.xm; ++i) {
        const MatStencil row = {k, j, i, 0};
        const PetscScalar diagonal = 9.0;
        PETSC_OK(MatSetValuesStencil(a, 1, &row, 1, &row, &diagonal, INSERT_VALUES));
        for (int direction = 0; direction < 6; ++direction) {
          PetscInt place[] = {i, j, k};
          PetscInt& moved = place[direction / 2];
          moved += direction % 2 == 0 ? -1 : 1;
          if (moved < 0 || moved >= ends[direction / 2]) continue;
          const MatStencil column = {place[2], place[1], place[0], 0};
          const PetscScalar value = -1.0 - 0.2 * direction;
          PETSC_OK(MatSetValuesStencil(a, 1, &row, 1, &column, &value, INSERT_VALUES));
        }
      }
    }
  }
  PETSC_OK(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY));
  PETSC_OK(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY));
}

/// The boxes of a DMDA: the ranks' numbering lets each row come after the same neighbours as that of one rank.
TEST(Across, BoxesTakeTheIterationsOfOneRank) {
  const auto solve_boxes = [](MPI_Comm comm) {
    OwnedDm boxes;
    OwnedMat a;
    EXPECT_EQ(static_cast<int>(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                                            DMDA_STENCIL_STAR, 12, 11, 10, PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1,
                                            1, nullptr, nullptr, nullptr, boxes.out())),
              0);
    EXPECT_EQ(static_cast<int>(DMSetUp(boxes)), 0);
    EXPECT_EQ(static_cast<int>(DMCreateMatrix(boxes, a.out())), 0);
    fill_star(boxes, a);
    const Solve solved = solve(a, kNatural.across + "-pc_taskdag_type ilu " + kGmres + "-ksp_rtol 1e-8");
    EXPECT_GT(solved.reason, 0);
    return solved.iterations;
  };
  EXPECT_EQ(solve_boxes(PETSC_COMM_WORLD), solve_boxes(PETSC_COMM_SELF));
}

TEST(Across, SameBitsOnAnyNumberOfRanks) {
  for (const Order& order : {kColours, kNatural}) {
    for (const CsrMatrix& matrix : {wind(), box(), load("orsreg_1")}) {
      const OwnedMat a = make_matrix(matrix);
      const OwnedMat whole = make_whole(matrix);
      for (const Kind& kind : kKinds) {
        if (kind.symmetric && !is_symmetric(matrix)) continue;
        const std::string options = order.across + kind.options;
        EXPECT_EQ(difference(make_pc(a, options), a, make_local_pc(whole, options), whole), 0.0) << kind.name;
      }
    }
  }
}

TEST(Across, RealMatrices) {
  for (const char* name : {"ex6", "bcsstk16", "jpwh_991", "orsreg_1", "sherman1", "steam2", "add32"}) {
    SCOPED_TRACE(name);
    const CsrMatrix matrix = load(name);
    for (const Kind& kind : kKinds) {
      // So badly conditioned that GMRES feels the rounding of each sum.
      if (std::string(name) == "bcsstk16" && !kind.symmetric) continue;
      if (!kind.symmetric || is_symmetric(matrix)) expect_same(matrix, kind);
    }
  }
}

/// Deals rows out unevenly: the first rank has none, the last one most.
OwnedMat make_uneven(const CsrMatrix& matrix) {
  const PetscInt few = 5;
  const PetscInt local = rank() == 0 && ranks() > 1 ? 0 : few;
  const PetscInt most = static_cast<PetscInt>(matrix.rows) - few * std::max(0, ranks() - 2);
  return make_matrix(matrix, MATAIJ, rank() == ranks() - 1 ? most : local);
}

/// Blocks do not cross ranks: on several they are others.
TEST(Across, BlocksTakeFewMoreIterationsOnMoreRanks) {
  const CsrMatrix grids[] = {
      make_stencil({.stencil = Stencil::five_point, .nx = 60, .ny = 60, .nz = 1}),
      make_stencil({.stencil = Stencil::seven_point, .nx = 16, .ny = 16, .nz = 16, .wind = 1.0})};
  for (const CsrMatrix& matrix : grids) {
    const OwnedMat a = make_matrix(matrix);
    const OwnedMat whole = make_whole(matrix);
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(kind.name);
      if (kind.symmetric && !is_symmetric(matrix)) continue;
      const Solve one = solve(whole, words({kind.ksp, kOurs, kind.options, "-pc_taskdag_ordering taskdag_bmc"}));
      const Solve all = solve(a, words({kind.ksp, kByBlocks, kind.options}));
      EXPECT_EQ(static_cast<int>(all.code), 0) << all.message;
      EXPECT_GT(all.reason, 0);
      EXPECT_TRUE(shows(all, "by colours (taskdag_bmc)")) << all.view;
      EXPECT_LE(static_cast<double>(all.iterations), 1.0 + 1.15 * static_cast<double>(one.iterations));
    }
  }
}

/// x = M⁻¹ e_j for all j: M⁻¹ by columns, on each rank.
std::vector<double> inverse_of(PC pc, Mat a, Index rows) {
  const auto n = static_cast<std::size_t>(rows);
  std::vector<double> inverse(n * n);
  const OwnedVec b = make_vector(a);
  const OwnedVec x = make_vector(a, 2.0);
  OwnedVec all;
  EXPECT_EQ(static_cast<int>(VecCreateSeq(PETSC_COMM_SELF, rows, all.out())), 0);
  for (Index j = 0; j < rows; ++j) {
    EXPECT_EQ(static_cast<int>(VecSet(b, 0.0)), 0);
    EXPECT_EQ(static_cast<int>(VecSetValue(b, j, rank() == 0 ? 1.0 : 0.0, ADD_VALUES)), 0);
    EXPECT_EQ(static_cast<int>(VecAssemblyBegin(b)), 0);
    EXPECT_EQ(static_cast<int>(VecAssemblyEnd(b)), 0);
    EXPECT_EQ(static_cast<int>(PCApply(pc, b, x)), 0);
    gather(x, all);
    const PetscScalar* column = nullptr;
    EXPECT_EQ(static_cast<int>(VecGetArrayRead(all, &column)), 0);
    std::copy_n(column, n, inverse.begin() + static_cast<std::ptrdiff_t>(n * static_cast<std::size_t>(j)));
    EXPECT_EQ(static_cast<int>(VecRestoreArrayRead(all, &column)), 0);
  }
  return inverse;
}

/// The largest |M − A| on the pattern of A, or on the diagonal: an incomplete factorisation, in whatever order of the
/// rows, is A there. inverse: M⁻¹ by columns.
double misfit_on_pattern(const std::vector<double>& inverse, const CsrMatrix& a, bool diagonal_only) {
  const auto n = static_cast<std::size_t>(a.rows);
  std::vector<double> left(inverse);  // by columns; becomes I, and `right` M
  std::vector<double> right(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) right[k * n + k] = 1.0;
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t i = k; i < n; ++i) {
      if (std::abs(left[k * n + i]) > std::abs(left[k * n + pivot])) pivot = i;
    }
    for (std::size_t j = 0; j < n; ++j) {
      std::swap(left[j * n + k], left[j * n + pivot]);
      std::swap(right[j * n + k], right[j * n + pivot]);
    }
    const double scale = 1.0 / left[k * n + k];
    for (std::size_t j = 0; j < n; ++j) {
      left[j * n + k] *= scale;
      right[j * n + k] *= scale;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const double factor = left[k * n + i];
      if (i == k || factor == 0.0) continue;
      for (std::size_t j = 0; j < n; ++j) {
        left[j * n + i] -= factor * left[j * n + k];
        right[j * n + i] -= factor * right[j * n + k];
      }
    }
  }
  double worst = 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    for (auto e = static_cast<std::size_t>(a.row_offsets[i]); e < static_cast<std::size_t>(a.row_offsets[i + 1]); ++e) {
      const auto j = static_cast<std::size_t>(a.col_indices[e]);
      if (diagonal_only && i != j) continue;
      worst = std::max(worst, std::abs(right[j * n + i] - a.values[e]));
    }
  }
  return worst;
}

TEST(Across, FactorsOfBlocksAreThoseOfTheirOrder) {
  const CsrMatrix winds = make_stencil({.stencil = Stencil::five_point, .nx = 12, .ny = 10, .nz = 1, .wind = 1.0});
  const CsrMatrix boxes = make_stencil({.stencil = Stencil::twenty_seven_point, .nx = 5, .ny = 5, .nz = 4});
  for (const CsrMatrix& matrix : {winds, boxes}) {
    const OwnedMat a = make_matrix(matrix);
    for (const Kind& kind : kKinds) {
      if (has(kind.name, "sor") || (kind.symmetric && !is_symmetric(matrix))) continue;
      SCOPED_TRACE(kind.name);
      const bool diagonal_only = has(kind.name, "d");
      const OwnedPc pc = make_pc(a, kByBlocks + kind.options + "-pc_taskdag_bmc_block_size 6");
      const std::vector<double> inverse = inverse_of(pc, a, matrix.rows);
      EXPECT_LT(misfit_on_pattern(inverse, matrix, diagonal_only), 1e-10);
    }
  }
}

TEST(Across, OtherApplicationsByBlocks) {
  const OwnedMat a = make_matrix(wind());
  const OwnedVec b = make_vector(a, 1.0);
  const OwnedVec c = make_vector(a, 2.0);
  const OwnedVec x = make_vector(a, 3.0);
  const OwnedVec y = make_vector(a, 4.0);
  const std::string blocks = kByBlocks + "-pc_taskdag_bmc_block_size 6 ";
  for (const char* type : {"-pc_taskdag_type ilu", "-pc_taskdag_type dilu"}) {
    const OwnedPc pc = make_pc(a, blocks + type);
    PetscScalar left = 0.0;
    PetscScalar right = 0.0;
    PETSC_OK(PCApply(pc, b, x));
    PETSC_OK(PCApplyTranspose(pc, c, y));
    PETSC_OK(VecDot(x, c, &left));
    PETSC_OK(VecDot(b, y, &right));
    EXPECT_NEAR(left, right, 1e-12 * std::abs(left));
  }
  // SSOR of a symmetric matrix is symmetric.
  const OwnedMat symmetric = make_matrix(box());
  const OwnedVec sb = make_vector(symmetric, 1.0);
  const OwnedVec sc = make_vector(symmetric, 2.0);
  const OwnedVec sx = make_vector(symmetric, 3.0);
  const OwnedVec sy = make_vector(symmetric, 4.0);
  PetscScalar left = 0.0;
  PetscScalar right = 0.0;
  const OwnedPc ssor = make_pc(symmetric, blocks + "-pc_taskdag_type sor -pc_sor_its 2 -pc_sor_omega 1.2");
  PETSC_OK(PCApply(ssor, sb, sx));
  PETSC_OK(PCApply(ssor, sc, sy));
  PETSC_OK(VecDot(sx, sc, &left));
  PETSC_OK(VecDot(sb, sy, &right));
  EXPECT_NEAR(left, right, 1e-12 * std::abs(left));
  for (const Kind& kind : kKinds)
    EXPECT_EQ(
        difference_of_applications(make_pc(symmetric, blocks + kind.options + "-pc_taskdag_threads 1"),
                                   make_pc(symmetric, blocks + kind.options + "-pc_taskdag_threads 2"), symmetric),
        0.0)
        << kind.name;
}

TEST(Across, AutoSaysWhatItExpects) {
  const OwnedMat a = make_matrix(wind());
  const std::string automatic = kOurs + "-pc_taskdag_across auto ";
  const Solve solved = solve(a, automatic + kGmres + "-pc_taskdag_type ilu");
  EXPECT_GT(solved.reason, 0);
  // On few ranks own rows are expected to be the faster ones, whatever the matrix.
  const char* const expected = ranks() == 1 ? "across ranks: no, auto: there is one rank"
                                            : "across ranks: no, auto: each rank's own rows are expected to take 1.";
  EXPECT_TRUE(shows(solved, expected)) << solved.view;
  EXPECT_EQ(difference_of_applications(make_pc(a, automatic + "-pc_taskdag_type ilu"),
                                       make_pc(a, kOurs + "-pc_taskdag_type ilu"), a),
            0.0);
  const struct {
    const char* options;
    const char* reason;
  } cases[] = {{"-pc_taskdag_type jacobi", "auto: it is for the types ilu, icc, dilu, dic and sor"},
               {"-pc_taskdag_type ilu -pc_factor_levels 1", "auto: it is for factors without fill"},
               {"-pc_taskdag_type ilu -pc_taskdag_ordering rcm", "-pc_taskdag_ordering cannot be rcm"},
               {"-pc_taskdag_type ilu -pc_taskdag_ordering natural", "auto: the order of the matrix is asked for"}};
  for (const auto& [options, reason] : cases) {
    const Solve refused = solve(a, automatic + kGmres + options);
    EXPECT_GT(refused.reason, 0) << options;
    EXPECT_TRUE(ranks() == 1 || shows(refused, reason)) << refused.view;
  }
}

TEST(Across, RanksWithoutRows) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const OwnedMat a = make_uneven(grid());
    const OwnedMat whole = make_whole(grid());
    EXPECT_LT(difference(make_pc(a, kOn + kind.options), a, make_local_pc(whole, kReference + kind.options), whole),
              1e-12);
    EXPECT_GT(solve(a, words({kind.ksp, kByBlocks, kind.options})).reason, 0);
  }
}

TEST(Across, NoRowsAtAll) {
  const OwnedMat a = make_matrix(CsrMatrix{});
  for (const Kind& kind : kKinds) EXPECT_GE(solve(a, words({kind.ksp, kOn, kind.options})).reason, 0) << kind.name;
  for (const Kind& kind : kKinds)
    EXPECT_GE(solve(a, words({kind.ksp, kByBlocks, kind.options})).reason, 0) << kind.name;
}

/// An entry that only one of two rows has makes them neighbours all the same.
TEST(Across, PatternsThatAreNotSymmetric) {
  const CsrMatrix full = wind();
  CsrMatrix matrix{full.rows, full.cols, {0}, {}, {}};
  for (Index i = 0; i < full.rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    for (auto e = static_cast<std::size_t>(full.row_offsets[row]);
         e < static_cast<std::size_t>(full.row_offsets[row + 1]); ++e) {
      const Index j = full.col_indices[e];
      if (j > i && (i + j) % 3 == 0) continue;
      matrix.col_indices.push_back(j);
      matrix.values.push_back(full.values[e]);
    }
    matrix.row_offsets.push_back(static_cast<Offset>(matrix.col_indices.size()));
  }
  for (const Kind& kind : kKinds) {
    if (!kind.symmetric) expect_same(matrix, kind);
  }
  const Solve refused = solve(make_matrix(matrix), kOn + "-pc_taskdag_type icc");
  EXPECT_NE(static_cast<int>(refused.code), 0);
  EXPECT_TRUE(has(refused.message, "need a matrix with a symmetric pattern")) << refused.message;
}

TEST(Across, OtherTypesOfMatrices) {
  const CsrMatrix scalar =
      make_stencil({.stencil = Stencil::seven_point, .nx = 4, .ny = 4, .nz = 4, .unknowns_per_node = 3});
  for (const char* type : {MATBAIJ, MATSBAIJ, MATDENSE}) {
    for (const Kind& kind : kKinds) {
      SCOPED_TRACE(words({type, kind.name}));
      const PetscInt nodes = 64 / ranks() + (rank() < 64 % ranks() ? 1 : 0);
      const OwnedMat a = make_matrix(scalar, MATAIJ, 3 * nodes);
      OwnedMat other;
      OwnedMat back;  // by rows, with the zeros that blocks are filled up with
      PETSC_OK(MatSetBlockSize(a, 3));
      PETSC_OK(MatSetOption(a, MAT_SYMMETRIC, PETSC_TRUE));
      PETSC_OK(MatConvert(a, type, MAT_INITIAL_MATRIX, other.out()));
      PETSC_OK(MatConvert(other, MATAIJ, MAT_INITIAL_MATRIX, back.out()));
      const OwnedPc pc = make_pc(other, kOn + kind.options);
      EXPECT_EQ(difference_of_applications(pc, make_pc(back, kOn + kind.options), a), 0.0);
    }
  }
}

/// Where sweeps are not by the device, entries and vectors come to the host, and the view says so.
TEST(Across, MatricesOnADevice) {
  const std::string missing = what_is_missing_for(MATAIJCUSPARSE);
  if (!missing.empty()) GTEST_SKIP() << missing;
  const OwnedMat a = make_matrix(wind(), MATAIJCUSPARSE);
  const OwnedMat host = make_matrix(wind());
  for (const Kind& kind : kKinds) {
    if (kind.symmetric) continue;
    const std::string options = words({kind.ksp, "-pc_type taskdag -pc_taskdag_across on", kind.options});
    const Solve ours = solve(a, options);
    EXPECT_EQ(static_cast<int>(ours.code), 0) << ours.message;
    EXPECT_NEAR(static_cast<double>(ours.iterations), static_cast<double>(solve(host, options).iterations), 1.0);
    if (rank() != 0) continue;  // who has the view
    EXPECT_NE(shows(ours, "entries and vectors are copied from the device"),
              shows(ours, "preconditioner: applied inside"))
        << ours.view;
  }
}

TEST(Across, TransposedHalvesAndColumns) {
  const OwnedMat a = make_matrix(wind());
  const OwnedMat whole = make_whole(wind());
  for (const char* type : {"-pc_taskdag_type ilu", "-pc_taskdag_type dilu"})
    EXPECT_LT(difference(make_pc(a, kOn + type), a, make_local_pc(whole, kReference + type), whole, PCApplyTranspose),
              1e-12);
  const OwnedMat symmetric = make_matrix(box());
  const OwnedMat whole_box = make_whole(box());
  const OwnedVec b = make_vector(symmetric, 1.0);
  const OwnedVec half = make_vector(symmetric, 2.0);
  const OwnedVec x = make_vector(symmetric, 3.0);
  const OwnedVec y = make_vector(symmetric, 4.0);
  for (const char* type : {"-pc_taskdag_type icc", "-pc_taskdag_type dic"}) {
    const OwnedPc ours = make_pc(symmetric, kOn + type);
    const OwnedPc reference = make_local_pc(whole_box, kReference + type);
    EXPECT_LT(difference(ours, symmetric, reference, whole_box, PCApplyTranspose), 1e-12);
    EXPECT_EQ(difference_of_columns(ours, make_pc(symmetric, kOn + type), symmetric), 0.0);
    PETSC_OK(PCApply(ours, b, x));
    PETSC_OK(PCApplySymmetricLeft(ours, b, half));
    PETSC_OK(PCApplySymmetricRight(ours, half, y));
    EXPECT_LT(relative_difference(y, x), 1e-13);
    PetscScalar square = 0.0;
    PetscScalar product = 0.0;
    PETSC_OK(VecDot(half, half, &square));
    PETSC_OK(VecDot(b, x, &product));
    EXPECT_NEAR(square, product, 1e-12 * product) << "one half is not the other's transpose";
  }
  const Solve refused = solve(a, words({"-ksp_type bicg", kOn, "-pc_taskdag_type sor"}));
  EXPECT_NE(static_cast<int>(refused.code), 0);
  EXPECT_TRUE(has(refused.message, "SOR is applied transposed only where")) << refused.message;
}

TEST(Across, RichardsonGoesOnFromTheVector) {
  const OwnedMat a = make_matrix(wind());
  const OwnedMat whole = make_whole(wind());
  for (const Kind& kind : kKinds) {
    if (!has(kind.name, "sor")) continue;
    const std::string options = words({"-ksp_type richardson -ksp_max_it 3 -ksp_norm_type none", kind.options});
    const ScopedOptions scope(kOn + options);
    const Solve ours = solve(a, kOn + options);
    const Solve one = solve(whole, kReference + options);
    EXPECT_EQ(ours.reason, one.reason) << kind.name;
    EXPECT_EQ(ours.iterations, one.iterations) << kind.name;
  }
}

TEST(Across, NewValuesAreTaken) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const OwnedMat a = make_matrix(grid());
    const OwnedPc pc = make_pc(a, kOn + kind.options);
    const int symbolic = event_count("TaskDAGSymbolic");
    PETSC_OK(MatScale(a, 4.0));
    PETSC_OK(MatShift(a, 1.0));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(event_count("TaskDAGSymbolic"), symbolic);
    EXPECT_EQ(difference_of_applications(pc, make_pc(a, kOn + kind.options), a), 0.0);
  }
}

/// A preconditioner of old values is kept, one by SOR has those of now, as PETSc's.
TEST(Across, KeptWhileValuesChange) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const OwnedMat a = make_matrix(grid());
    const OwnedMat old = make_matrix(grid());
    const OwnedPc pc = make_pc(a, kOn + kind.options);
    PETSC_OK(PCSetReusePreconditioner(pc, PETSC_TRUE));
    PETSC_OK(MatShift(a, 3.0));
    PETSC_OK(PCSetUp(pc));
    const bool follows = has(kind.name, "sor");
    EXPECT_EQ(difference_of_applications(pc, make_pc(follows ? a : old, kOn + kind.options), a), 0.0);
  }
}

TEST(Across, ShiftsAreThoseOfTheWholeMatrix) {
  CsrMatrix matrix = box();
  for (Index i = 0; i < matrix.rows; ++i) {
    for (auto e = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i)]);
         e < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(i) + 1]); ++e)
      if (matrix.col_indices[e] == i) matrix.values[e] *= i % 7 == 6 ? 0.02 : 1.0;
  }
  const OwnedMat a = make_matrix(matrix);
  const OwnedMat whole = make_whole(matrix);
  for (const char* options :
       {"-pc_taskdag_type icc", "-pc_taskdag_type icc -pc_taskdag_icc_shift petsc",
        "-pc_taskdag_type icc -pc_factor_shift_type nonzero -pc_factor_zeropivot 0.1 -pc_factor_shift_amount 0.1",
        "-pc_taskdag_type ilu -pc_factor_shift_type positive_definite",
        "-pc_taskdag_type ilu -pc_factor_shift_type inblocks -pc_factor_zeropivot 0.5 -pc_factor_shift_amount 0.3",
        "-pc_taskdag_type dic -pc_taskdag_icc_shift petsc"}) {
    SCOPED_TRACE(options);
    EXPECT_LT(difference(make_pc(a, kOn + options), a, make_local_pc(whole, kReference + options), whole), 1e-10);
  }
  const Solve shifted = solve(a, kOn + "-ksp_type cg -pc_taskdag_type icc -ksp_max_it 3");
  EXPECT_TRUE(shows(shifted, "times the diagonal, attempts: ")) << shifted.view;
}

CsrMatrix with_value(CsrMatrix matrix, Index row, double value) {
  for (auto e = static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row)]);
       e < static_cast<std::size_t>(matrix.row_offsets[static_cast<std::size_t>(row) + 1]); ++e)
    if (matrix.col_indices[e] == row || value == 0.0) matrix.values[e] = value;
  return matrix;
}

TEST(Across, AFailureOfOneRankIsOneOfAll) {
  const CsrMatrix matrix = grid();
  for (const Kind& kind : kKinds) {
    for (const Index row : {Index{0}, matrix.rows - 1}) {
      SCOPED_TRACE(kind.name);
      const OwnedMat zero = make_matrix(with_value(matrix, row, 0.0));
      const std::string options = words({kind.ksp, kOn, kind.options});
      const Solve failed = solve(zero, options);
      EXPECT_EQ(static_cast<int>(failed.code), 0) << failed.message;
      EXPECT_EQ(failed.reason, KSP_DIVERGED_PC_FAILED);
      EXPECT_EQ(failed.failed, PC_FACTOR_NUMERIC_ZEROPIVOT);
      const Solve error = solve(zero, options + "-ksp_error_if_not_converged");
      EXPECT_EQ(static_cast<int>(error.code), PETSC_ERR_MAT_LU_ZRPVT);
      EXPECT_TRUE(has(error.message, "row " + std::to_string(row))) << error.message;

      const Solve number = solve(make_matrix(with_value(matrix, row, std::nan(""))), options);
      EXPECT_LT(number.reason, 0);
      const Solve missing = solve(make_matrix(without_diagonal(matrix, row)), options);
      EXPECT_EQ(static_cast<int>(missing.code), PETSC_ERR_ARG_WRONGSTATE);
      EXPECT_TRUE(has(missing.message, "row " + std::to_string(row) + " has no diagonal entry")) << missing.message;
    }
  }
}

TEST(Across, AfterAFailureGoodValuesAreTaken) {
  for (const Kind& kind : kKinds) {
    SCOPED_TRACE(kind.name);
    const OwnedMat a = make_matrix(grid());
    const OwnedMat good = make_matrix(grid());
    const OwnedPc pc = make_pc(a, kOn + kind.options);
    PETSC_OK(MatZeroEntries(a));
    PETSC_OK(PCSetUp(pc));
    PETSC_OK(MatCopy(good, a, SAME_NONZERO_PATTERN));
    PETSC_OK(PCSetUp(pc));
    EXPECT_EQ(difference_of_applications(pc, make_pc(good, kOn + kind.options), a), 0.0);
  }
}

TEST(Across, WhatDoesNotGoWithItIsRefused) {
  const OwnedMat a = make_matrix(grid());
  const struct {
    const char* options;
    const char* part;
  } cases[] = {{"-pc_taskdag_type jacobi", "for the types ilu, icc, dilu, dic and sor, not for jacobi"},
               {"-pc_taskdag_type auto", "for the types ilu, icc, dilu, dic and sor, not for auto"},
               {"-pc_factor_levels 1", "without fill, and -pc_factor_levels is 1"},
               {"-pc_taskdag_ordering rcm", "-pc_taskdag_ordering cannot be rcm"},
               {"-pc_taskdag_consolidate on", "nor with -pc_taskdag_consolidate"},
               {"-pc_taskdag_type dilu -pc_taskdag_eisenstat", "neither with -pc_taskdag_eisenstat"},
               {"-pc_taskdag_schedule plan", "has one schedule"},
               {"-pc_taskdag_backend cuda", "the matrix is in host memory"},
               {"-pc_taskdag_backend cuda -pc_taskdag_type sor", "the matrix is in host memory"},
               {"-pc_taskdag_backend cuda -pc_taskdag_type sor -pc_sor_forward", "for one symmetric sweep of SOR"},
               {"-pc_taskdag_precision single", "no -pc_taskdag_precision single"}};
  for (const auto& [options, part] : cases) {
    const Solve refused = solve(a, kOn + options);
    EXPECT_NE(static_cast<int>(refused.code), 0) << options;
    EXPECT_TRUE(has(refused.message, part)) << refused.message;
  }
}

TEST(Across, OptionsThatChangeAreTaken) {
  const OwnedMat a = make_matrix(grid());
  const OwnedPc pc = make_pc(a, kOurs + "-pc_taskdag_type ilu");
  PETSC_OK(PCTaskDAGSetAcross(pc, "on"));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(difference_of_applications(pc, make_pc(a, kAcross), a), 0.0) << "without a type it is ilu";
  PETSC_OK(PCTaskDAGSetAcross(pc, "off"));
  PETSC_OK(PCSetUp(pc));
  EXPECT_EQ(difference_of_applications(pc, make_pc(a, kOurs + "-pc_taskdag_type ilu"), a), 0.0);
}

TEST(Across, ThreadsChangeNoBit) {
  const OwnedMat a = make_matrix(make_stencil({.stencil = Stencil::five_point, .nx = 90, .ny = 80, .nz = 1}));
  for (const Kind& kind : kKinds)
    EXPECT_EQ(difference_of_applications(make_pc(a, kOn + kind.options + "-pc_taskdag_threads 1"),
                                         make_pc(a, kOn + kind.options + "-pc_taskdag_threads 2"), a),
              0.0)
        << kind.name;
}

}  // namespace
}  // namespace taskdag::test
