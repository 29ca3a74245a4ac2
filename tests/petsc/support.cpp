#include "support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "taskdag/io/matrix_market.hpp"

namespace taskdag::test {
namespace {

void must(PetscErrorCode code) {
  if (static_cast<int>(code) != 0) throw std::runtime_error("PETSc error " + std::to_string(static_cast<int>(code)));
}

double value_at(PetscInt i, double seed) { return 1.0 + 0.5 * std::sin(seed * (static_cast<double>(i) + 1.0)); }

}  // namespace

int ranks() {
  int size = 0;
  MPI_Comm_size(PETSC_COMM_WORLD, &size);
  return size;
}

int rank() {
  int number = 0;
  MPI_Comm_rank(PETSC_COMM_WORLD, &number);
  return number;
}

std::string words(std::initializer_list<std::string> list) {
  std::string text;
  for (const std::string& word : list) {
    text += word;
    text += ' ';
  }
  return text;
}

ScopedOptions::ScopedOptions(const std::string& text) {
  must(PetscOptionsCreate(&options_));
  must(PetscOptionsInsertString(options_, text.c_str()));
  must(PetscOptionsPush(options_));
}

ScopedOptions::~ScopedOptions() {
  (void)PetscOptionsPop();
  (void)PetscOptionsDestroy(&options_);
}

ErrorCapture::ErrorCapture() { must(PetscPushErrorHandler(keep, this)); }
ErrorCapture::~ErrorCapture() { (void)PetscPopErrorHandler(); }

PetscErrorCode ErrorCapture::keep(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                                  const char* message, void* context) {
  auto& self = *static_cast<ErrorCapture*>(context);
  if (type == PETSC_ERROR_INITIAL && self.message_.empty() && message) self.message_ = message;
  return code;
}

OwnedMat make_matrix(const CsrMatrix& a, MatType type, PetscInt local_rows) {
  OwnedMat matrix;
  must(MatCreate(PETSC_COMM_WORLD, matrix.out()));
  if (local_rows == PETSC_DECIDE)
    must(MatSetSizes(matrix, PETSC_DECIDE, PETSC_DECIDE, a.rows, a.cols));
  else
    must(MatSetSizes(matrix, local_rows, local_rows, a.rows, a.cols));
  must(MatSetType(matrix, type));
  Index widest = 0;
  for (Index i = 0; i < a.rows; ++i)
    widest =
        std::max(widest, a.row_offsets[static_cast<std::size_t>(i) + 1] - a.row_offsets[static_cast<std::size_t>(i)]);
  must(MatSeqAIJSetPreallocation(matrix, widest, nullptr));
  must(MatMPIAIJSetPreallocation(matrix, widest, nullptr, widest, nullptr));
  PetscInt first = 0;
  PetscInt last = 0;
  must(MatGetOwnershipRange(matrix, &first, &last));
  const std::vector<PetscInt> columns = to_petsc_indices(a.col_indices);
  const std::vector<PetscScalar> values(a.values.begin(), a.values.end());
  for (PetscInt i = first; i < last; ++i) {
    const auto begin = static_cast<std::size_t>(a.row_offsets[static_cast<std::size_t>(i)]);
    const PetscInt count = a.row_offsets[static_cast<std::size_t>(i) + 1] - a.row_offsets[static_cast<std::size_t>(i)];
    must(MatSetValues(matrix, 1, &i, count, columns.data() + begin, values.data() + begin, INSERT_VALUES));
  }
  must(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  must(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  return matrix;
}

std::vector<PetscInt> to_petsc_indices(const std::vector<Index>& indices) { return {indices.begin(), indices.end()}; }

OwnedMat make_local_matrix(const CsrMatrix& a, MatType type) {
  OwnedMat matrix;
  OwnedMat wanted;
  const std::vector<PetscScalar> values(a.values.begin(), a.values.end());
  must(MatCreateSeqAIJ(PETSC_COMM_SELF, a.rows, a.cols, 0, nullptr, matrix.out()));
  must(MatSeqAIJSetPreallocationCSR(matrix, to_petsc_indices(a.row_offsets).data(),
                                    to_petsc_indices(a.col_indices).data(), values.data()));
  must(MatConvert(matrix, type, MAT_INITIAL_MATRIX, wanted.out()));
  return wanted;
}

std::string what_is_missing_for(const std::string& type) {
  [[maybe_unused]] bool gpu = type == MATAIJCUSPARSE;
#if !defined(PETSC_HAVE_CUDA)
  if (type == MATAIJCUSPARSE) return "this PETSc has no CUDA";
#endif
#if !defined(PETSC_HAVE_KOKKOS_KERNELS)
  if (type == MATAIJKOKKOS) return "this PETSc has no Kokkos Kernels";
#elif defined(PETSC_HAVE_CUDA)
  gpu = gpu || type == MATAIJKOKKOS;
#endif
  return gpu && probe_devices().devices == 0 ? probe_devices().message : "";
}

OwnedVec make_vector(Mat a, double seed) {
  OwnedVec x;
  PetscInt first = 0;
  PetscInt last = 0;
  PetscScalar* array = nullptr;
  must(MatCreateVecs(a, x.out(), nullptr));
  must(VecGetOwnershipRange(x, &first, &last));
  must(VecGetArrayWrite(x, &array));
  for (PetscInt i = first; i < last; ++i) array[i - first] = static_cast<PetscReal>(value_at(i, seed));
  must(VecRestoreArrayWrite(x, &array));
  return x;
}

double relative_difference(Vec a, Vec b) {
  OwnedVec difference;
  PetscReal of_difference = 0.0;
  PetscReal of_b = 0.0;
  must(VecDuplicate(a, difference.out()));
  must(VecCopy(a, difference));
  must(VecAXPY(difference, -1.0, b));
  must(VecNorm(difference, NORM_INFINITY, &of_difference));
  must(VecNorm(b, NORM_INFINITY, &of_b));
  return of_difference / of_b;
}

double difference_of_applications(PC a, PC b, Mat matrix) {
  const OwnedVec in = make_vector(matrix);
  const OwnedVec x = make_vector(matrix);
  const OwnedVec y = make_vector(matrix);
  EXPECT_EQ(static_cast<int>(PCApply(a, in, x)), 0);
  EXPECT_EQ(static_cast<int>(PCApply(b, in, y)), 0);
  return relative_difference(x, y);
}

double difference_of_columns(PC a, PC b, Mat matrix) {
  PetscInt rows = 0;
  PetscReal size = 0.0;
  PetscReal difference = 0.0;
  OwnedMat in;
  OwnedMat x;
  OwnedMat y;
  EXPECT_EQ(static_cast<int>(MatGetLocalSize(matrix, &rows, nullptr)), 0);
  EXPECT_EQ(
      static_cast<int>(MatCreateDense(PETSC_COMM_WORLD, rows, PETSC_DECIDE, PETSC_DETERMINE, 3, nullptr, in.out())), 0);
  EXPECT_EQ(static_cast<int>(MatSetRandom(in, nullptr)), 0);
  EXPECT_EQ(static_cast<int>(MatDuplicate(in, MAT_DO_NOT_COPY_VALUES, x.out())), 0);
  EXPECT_EQ(static_cast<int>(MatDuplicate(in, MAT_DO_NOT_COPY_VALUES, y.out())), 0);
  EXPECT_EQ(static_cast<int>(PCMatApply(a, in, x)), 0);
  EXPECT_EQ(static_cast<int>(PCMatApply(b, in, y)), 0);
  EXPECT_EQ(static_cast<int>(MatNorm(y, NORM_INFINITY, &size)), 0);
  EXPECT_EQ(static_cast<int>(MatAXPY(x, -1.0, y, SAME_NONZERO_PATTERN)), 0);
  EXPECT_EQ(static_cast<int>(MatNorm(x, NORM_INFINITY, &difference)), 0);
  return difference / size;
}

bool is_symmetric(const CsrMatrix& matrix) {
  const OwnedMat a = make_local_matrix(matrix);
  PetscBool symmetric = PETSC_FALSE;
  EXPECT_EQ(static_cast<int>(MatIsSymmetric(a, 0.0, &symmetric)), 0);
  return symmetric == PETSC_TRUE;
}

CsrMatrix nudged(CsrMatrix a, unsigned seed) {
  unsigned state = 2654435761U * seed + 1U;
  for (double& value : a.values) {
    state = 1664525U * state + 1013904223U;
    value *= 1.0 + (static_cast<int>(state >> 16U) % 2) * 0x1p-52;
  }
  return a;
}

std::vector<std::string> listed_matrices() {
  std::vector<std::string> paths;
  const char* const folder = std::getenv("TASKDAG_MATRIX_DIR");
  if (folder == nullptr || *folder == '\0') return paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().find(".mtx") != std::string::npos) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

CsrMatrix load(const std::string& name) {
  return read_matrix_market(std::string(TASKDAG_TEST_DATA_DIR) + "/" + name + ".mtx.xz");
}

std::string view_text(KSP ksp, PetscViewerFormat format) {
  std::vector<char> text(1U << 16U);
  PetscViewer viewer = nullptr;
  // A string viewer takes short forms only: the long form goes through a file.
  FILE* file = std::tmpfile();
  must(PetscViewerASCIIOpenWithFILE(PetscObjectComm(reinterpret_cast<PetscObject>(ksp)), file, &viewer));
  must(PetscViewerPushFormat(viewer, format));
  must(KSPView(ksp, viewer));
  must(PetscViewerPopFormat(viewer));
  must(PetscViewerFlush(viewer));
  std::rewind(file);
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  must(PetscViewerDestroy(&viewer));
  (void)std::fclose(file);
  return {text.data(), size};
}

Solve solve(Mat a, const std::string& options) {
  const ScopedOptions scope("-ksp_rtol 1e-8 " + options);
  Solve result;
  OwnedKsp ksp;
  OwnedVec b = make_vector(a);
  OwnedVec x;
  must(VecDuplicate(b, x.out()));
  must(KSPCreate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), ksp.out()));
  must(KSPSetOperators(ksp, a, a));
  {
    const ErrorCapture errors;
    result.code = KSPSetFromOptions(ksp);
    if (static_cast<int>(result.code) == 0) result.code = KSPSolve(ksp, b, x);
    result.message = errors.message();
  }
  if (static_cast<int>(result.code) != 0) return result;
  PC pc = nullptr;
  must(KSPGetPC(ksp, &pc));
  must(PCGetFailedReason(pc, &result.failed));
  must(KSPGetIterationNumber(ksp, &result.iterations));
  must(KSPGetConvergedReason(ksp, &result.reason));
  PetscReal residual = 0.0;
  must(KSPGetResidualNorm(ksp, &residual));
  result.residual = residual;
  result.view = view_text(ksp);
  return result;
}

OwnedPc make_pc(Mat a, const std::string& options) {
  const ScopedOptions scope(options);
  OwnedPc pc;
  must(PCCreate(PetscObjectComm(reinterpret_cast<PetscObject>(a)), pc.out()));
  must(PCSetOperators(pc, a, a));
  must(PCSetFromOptions(pc));
  must(PCSetUp(pc));
  return pc;
}

PetscEventPerfInfo event_info(const char* name) {
  PetscLogEvent event = 0;
  PetscEventPerfInfo info{};
  must(PetscLogEventGetId(name, &event));
  must(PetscLogEventGetPerfInfo(PETSC_DETERMINE, event, &info));
  return info;
}

int event_count(const char* name) { return event_info(name).count; }

namespace {
std::string& backend_in_use() {
  static std::string name = "host";
  return name;
}
}  // namespace

bool OnBackend::use(const std::string& name) {
  backend_in_use() = name;
  return name == "host" || probe_devices().devices > 0;
}
Backend OnBackend::backend() { return backend_in_use() == "host" ? Backend::host : Backend::cuda; }
std::string OnBackend::option() { return "-pc_taskdag_backend " + backend_in_use() + " "; }

std::vector<std::string> backends() { return {"host", "cuda"}; }
std::string name_of_backend(const testing::TestParamInfo<std::string>& test) { return test.param; }

}  // namespace taskdag::test
