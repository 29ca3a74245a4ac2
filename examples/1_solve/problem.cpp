#include "problem.hpp"

#include <array>
#include <limits>
#include <taskdag/generators.hpp>
#include <taskdag/io/matrix_market.hpp>
#include <vector>

#include "distribute.hpp"

namespace example {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.ends_with(end);
}

bool is_matrix_market(const std::string& file) {
  for (const char* end : {".mtx", ".mtx.gz", ".mtx.xz", ".mtx.bz2", ".mtx.zst"}) {
    if (ends_with(file, end)) return true;
  }
  return false;
}

std::string string_option(const char* name) {
  std::array<char, PETSC_MAX_PATH_LEN> text{};
  PetscBool set = PETSC_FALSE;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetString(nullptr, nullptr, name, text.data(), text.size(), &set));
  if (set && text[0] == '\0') throw InputError(std::string(name) + " needs a value");
  return text.data();
}

taskdag::Index count_option(const char* name, taskdag::Index fallback) {
  PetscInt value = fallback;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetInt(nullptr, nullptr, name, &value, nullptr));
  if (value < 1 || value > std::numeric_limits<taskdag::Index>::max()) {
    throw InputError(std::string(name) + " " + std::to_string(value) + ": a positive number is needed");
  }
  return static_cast<taskdag::Index>(value);
}

/// A viewer on a PETSc binary file whose first object is of the class `class_id`.
PetscViewer open_binary(MPI_Comm comm, const std::string& file, PetscClassId class_id, const char* what) {
  PetscBool there = PETSC_FALSE;
  PetscCallAbort(comm, PetscTestFile(file.c_str(), 'r', &there));
  if (!there) throw InputError("cannot read " + file);
  PetscViewer viewer = nullptr;
  PetscInt found = 0;
  PetscInt count = 0;
  PetscCallAbort(comm, PetscViewerBinaryOpen(comm, file.c_str(), FILE_MODE_READ, &viewer));
  PetscCallAbort(comm, PetscViewerBinaryRead(viewer, &found, 1, &count, PETSC_INT));
  PetscCallAbort(comm, PetscViewerDestroy(&viewer));
  if (count != 1 || found != class_id) {
    throw InputError(file + " is neither a Matrix Market file (.mtx, .mtx.gz, .mtx.xz, ...) nor a PETSc binary " +
                     what);
  }
  PetscCallAbort(comm, PetscViewerBinaryOpen(comm, file.c_str(), FILE_MODE_READ, &viewer));
  return viewer;
}

Mat load_matrix(MPI_Comm comm, const std::string& file) {
  PetscViewer viewer = open_binary(comm, file, MAT_FILE_CLASSID, "matrix");
  Mat a = nullptr;
  PetscCallAbort(comm, MatCreate(comm, &a));
  PetscCallAbort(comm, MatSetType(a, MATAIJ));
  PetscCallAbort(comm, MatSetFromOptions(a));
  PetscCallAbort(comm, MatLoad(a, viewer));
  PetscCallAbort(comm, PetscViewerDestroy(&viewer));
  PetscInt rows = 0, cols = 0;
  PetscCallAbort(comm, MatGetSize(a, &rows, &cols));
  if (rows != cols) {
    throw InputError(file + ": the matrix is " + std::to_string(rows) + " x " + std::to_string(cols) +
                     ", a square one is needed");
  }
  return a;
}

Vec load_vector(Mat a, const std::string& file) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscViewer viewer = open_binary(comm, file, VEC_FILE_CLASSID, "vector");
  PetscInt header[2] = {0, 0};
  PetscCallAbort(comm, PetscViewerBinaryRead(viewer, header, 2, nullptr, PETSC_INT));
  PetscCallAbort(comm, PetscViewerDestroy(&viewer));
  PetscInt rows = 0;
  PetscCallAbort(comm, MatGetSize(a, &rows, nullptr));
  if (header[1] != rows) {
    throw InputError(file + ": the right-hand side has " + std::to_string(header[1]) + " rows, the matrix has " +
                     std::to_string(rows));
  }
  viewer = open_binary(comm, file, VEC_FILE_CLASSID, "vector");
  Vec b = nullptr;
  PetscCallAbort(comm, MatCreateVecs(a, nullptr, &b));
  PetscCallAbort(comm, VecLoad(b, viewer));
  PetscCallAbort(comm, PetscViewerDestroy(&viewer));
  return b;
}

/// A number in [-1, 1) that depends on its arguments alone, so that the problem is the same on any number of ranks
/// (the SplitMix64 finaliser: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014).
double random_value(std::uint64_t seed, std::uint64_t row) {
  std::uint64_t z = (row + 1) * 0x9e3779b97f4a7c15U + seed * 0xd1342543de82ef95U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  z ^= z >> 31U;
  return static_cast<double>(z >> 11U) * 0x1p-52 - 1.0;
}

/// b = A x for a random x: the solution is known to exist, also for a singular matrix. Without a mean it is noise, of
/// which a Krylov method finds the most part quickly; solutions of applications have a smooth part, too.
Vec random_right_hand_side(Mat a) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(a));
  PetscInt seed = 1, first = 0, last = 0;
  PetscReal mean = 0;
  PetscCallAbort(comm, PetscOptionsGetInt(nullptr, nullptr, "-seed", &seed, nullptr));
  PetscCallAbort(comm, PetscOptionsGetReal(nullptr, nullptr, "-mean", &mean, nullptr));
  Vec x = nullptr, b = nullptr;
  PetscCallAbort(comm, MatCreateVecs(a, &x, &b));
  PetscCallAbort(comm, VecGetOwnershipRange(x, &first, &last));
  PetscScalar* values = nullptr;
  PetscCallAbort(comm, VecGetArrayWrite(x, &values));
  for (PetscInt row = first; row < last; ++row) {
    values[row - first] = mean + random_value(static_cast<std::uint64_t>(seed), static_cast<std::uint64_t>(row));
  }
  PetscCallAbort(comm, VecRestoreArrayWrite(x, &values));
  PetscCallAbort(comm, MatMult(a, x, b));
  PetscCallAbort(comm, VecDestroy(&x));
  return b;
}

taskdag::StencilSpec stencil_options() {
  PetscInt points = 7;
  PetscReal wind = 0;
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetInt(nullptr, nullptr, "-stencil", &points, nullptr));
  PetscCallAbort(PETSC_COMM_SELF, PetscOptionsGetReal(nullptr, nullptr, "-wind", &wind, nullptr));
  taskdag::StencilSpec spec;
  switch (points) {
    case 5:
      spec.stencil = taskdag::Stencil::five_point;
      break;
    case 7:
      spec.stencil = taskdag::Stencil::seven_point;
      break;
    case 27:
      spec.stencil = taskdag::Stencil::twenty_seven_point;
      break;
    default:
      throw InputError("-stencil " + std::to_string(points) + ": there are 5, 7 and 27");
  }
  spec.nx = count_option("-nx", 50);
  spec.ny = count_option("-ny", spec.nx);
  spec.nz = count_option("-nz", points == 5 ? 1 : spec.nx);
  spec.unknowns_per_node = count_option("-dof", 1);
  spec.wind = wind;
  return spec;
}

std::string describe(const taskdag::StencilSpec& spec) {
  const char* points = "27";
  if (spec.stencil == taskdag::Stencil::five_point) points = "5";
  if (spec.stencil == taskdag::Stencil::seven_point) points = "7";
  std::array<char, 200> text{};
  std::snprintf(text.data(), text.size(), "%s-point stencil, %d x %d x %d nodes, %d unknowns per node, wind %g", points,
                spec.nx, spec.ny, spec.nz, spec.unknowns_per_node, spec.wind);
  return text.data();
}

}  // namespace

Problem make_problem(MPI_Comm comm) {
  Problem problem;
  const std::string file = string_option("-f");
  const std::string rhs = string_option("-rhs");
  if (file.empty()) {
    const taskdag::StencilSpec spec = stencil_options();
    problem.name = describe(spec);
    problem.a = distribute_matrix(comm, [&spec] { return taskdag::make_stencil(spec); });
  } else {
    problem.name = file;
    problem.a = is_matrix_market(file) ? distribute_matrix(comm, [&file] { return taskdag::read_matrix_market(file); })
                                       : load_matrix(comm, file);
  }
  if (rhs.empty()) {
    problem.b = random_right_hand_side(problem.a);
  } else if (is_matrix_market(rhs)) {
    problem.b = distribute_vector(problem.a, [&rhs] { return taskdag::read_matrix_market_vector(rhs); });
  } else {
    problem.b = load_vector(problem.a, rhs);
  }
  return problem;
}

}  // namespace example
