// Krylov iterations captured into a CUDA graph: what PETSc and the preconditioner of the options permit, whether a
// replay computes the same, and what it takes. krylov_graph.sh makes rows of the lines that begin with "row: ".
#include <petscdevice_cuda.h>
#include <petscksp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "capture.hpp"
#include "measure.hpp"

namespace {

using taskdag::benchmark::CapturedWork;
using taskdag::benchmark::measure;
using taskdag::benchmark::Times;
using taskdag::benchmark::Work;

constexpr const char* kHelp =
    "Captures Krylov iterations into CUDA graphs.\n"
    "  -stencil N      5 or 7 points [5]\n"
    "  -nx N           nodes along each axis [250]\n"
    "  -emax X         an upper bound of the preconditioned matrix's eigenvalues, for Chebyshev's iteration [1.2]\n"
    "  -methods LIST   of chebyshev, richardson, cg and parts [all]\n"
    "  -repeat N       measurements of which the median is taken [31]\n"
    "Exit status: 0; 1 where a replay computes something else, or after an error outside of a capture; 77 without a\n"
    "GPU. A capture that fails is a result.\n\n";

constexpr int no_gpu = 77;
constexpr double most_error = 1e-10;  // far above rounding, far below anything that is left out
constexpr int replays = 4;            // more than two: solves alternate between two sets of slots

struct Options {
  PetscInt stencil = 5;
  PetscInt n = 250;
  PetscReal emax = 1.2;
  PetscInt repeat = 31;
};

/// What all cases have in common.
struct Bench {
  Options options;
  Mat matrix = nullptr;
  cudaStream_t stream = nullptr;
  double worst = 0.0;  ///< of all errors
};

/// A case, as its rows name it.
struct Label {
  std::string method;
  PetscInt iterations = 1;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
};

std::string text(double value, const char* format) {
  std::array<char, 32> out{};
  static_cast<void>(std::snprintf(out.data(), out.size(), format, value));
  return out.data();
}

/// One field of a line of CSV.
std::string field(std::string words) {
  std::replace(words.begin(), words.end(), ',', ';');
  std::replace(words.begin(), words.end(), '"', '\'');
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words;
}

/// NaN is more than anything.
void raise(double* worst, double error) {
  if (!std::isnan(*worst) && !(error <= *worst)) *worst = error;
}

/// Of one graph or two.
struct Nodes {
  int kernels = 0;
  int others = 0;
};

Nodes operator+(const Nodes& a, const Nodes& b) { return {a.kernels + b.kernels, a.others + b.others}; }
Nodes nodes_of(const CapturedWork& work) { return {work.kernels(), work.other_nodes()}; }

/// times, nodes: null where there are none.
PetscErrorCode write_row(const Label& label, const char* form, const Times* times, const Nodes* nodes,
                         const std::string& error, const std::string& status) {
  PetscFunctionBegin;
  const std::string measured = times ? text(times->back_to_back, "%.2f") + ',' + text(times->with_wait, "%.2f") : ",";
  const std::string counted = nodes ? std::to_string(nodes->kernels) + ',' + std::to_string(nodes->others) : ",";
  const char* const mode = label.mode == cudaStreamCaptureModeRelaxed ? "relaxed" : "thread-local";
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "row: %s,%d,%s,%s,%s,%s,%s,%s\n", label.method.c_str(),
                        static_cast<int>(label.iterations), mode, form, measured.c_str(), counted.c_str(),
                        error.c_str(), field(status).c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Five or seven points a row, the boundary's values known: the diagonal is the number of neighbours inside.
PetscErrorCode make_matrix(const Options& options, Mat* matrix) {
  PetscFunctionBegin;
  const PetscInt n = options.n;
  const PetscInt layers = options.stencil == 7 ? n : 1;
  const PetscInt rows = n * n * layers;
  PetscCall(MatCreate(PETSC_COMM_SELF, matrix));
  PetscCall(MatSetSizes(*matrix, rows, rows, rows, rows));
  PetscCall(MatSetFromOptions(*matrix));
  PetscCall(MatSeqAIJSetPreallocation(*matrix, options.stencil, nullptr));
  const std::array<std::pair<PetscInt, PetscInt>, 3> axes{{{1, n}, {n, n}, {n * n, layers}}};  // stride, nodes
  for (PetscInt row = 0; row < rows; ++row) {
    PetscCall(MatSetValue(*matrix, row, row, static_cast<PetscScalar>(options.stencil - 1), INSERT_VALUES));
    for (const auto& [stride, nodes] : axes) {
      const PetscInt place = row / stride % nodes;
      if (place > 0) PetscCall(MatSetValue(*matrix, row, row - stride, -1.0, INSERT_VALUES));
      if (place + 1 < nodes) PetscCall(MatSetValue(*matrix, row, row + stride, -1.0, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(*matrix, MAT_SPD, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_solver(const Bench& bench, const Label& label, KSP* ksp) {
  PetscFunctionBegin;
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, bench.matrix, bench.matrix));
  PetscCall(KSPSetType(*ksp, label.method == "parts" ? KSPCG : label.method.c_str()));
  // Neither norms nor tests: all iterations are made, and the method itself decides nothing by numbers.
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_NONE));
  PetscCall(KSPSetConvergenceTest(*ksp, KSPConvergedSkip, nullptr, nullptr));
  PetscCall(KSPSetTolerances(*ksp, 1e-5, 1e-50, 1e5, label.iterations));
  if (label.method == "chebyshev")
    PetscCall(KSPChebyshevSetEigenvalues(*ksp, bench.options.emax, 0.1 * bench.options.emax));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Vectors of one case. A capture that failed leaves some of them locked, so that no other case gets them.
struct Vectors {
  std::array<Vec, 10> all{};

  PetscErrorCode make(Mat matrix) {
    PetscFunctionBegin;
    for (Vec& one : all) {
      PetscCall(MatCreateVecs(matrix, &one, nullptr));
      PetscCall(VecSet(one, 0.0));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode destroy() {
    PetscFunctionBegin;
    for (Vec& one : all) PetscCall(VecDestroy(&one));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
};

/// ‖a − b‖ / ‖b‖, raising *worst where it is more. Of what is on the device: PETSc does not know that a replay has
/// written, so norms that it keeps and copies on the host are not to be had.
PetscErrorCode compare(Vec a, Vec b, Vec scratch, double* worst) {
  PetscFunctionBegin;
  PetscReal difference = 0;
  PetscReal scale = 0;
  PetscCall(VecWAXPY(scratch, -1.0, b, a));
  PetscCall(VecNorm(scratch, NORM_2, &difference));
  PetscCall(VecNorm(b, NORM_2, &scale));
  raise(worst, static_cast<double>(difference / scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode write_checked(Bench* bench, const Label& label, const char* form, const Times* times, const Nodes* nodes,
                             double error) {
  PetscFunctionBegin;
  raise(&bench->worst, error);
  PetscCall(write_row(label, form, times, nodes, text(error, "%.1e"), error <= most_error ? "ok" : "wrong"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A graph of one KSPSolve() beside KSPSolve() itself. timed: else the capture and its result alone.
PetscErrorCode study_solve(Bench* bench, const Label& label, bool timed, bool* captured) {
  PetscFunctionBegin;
  KSP ksp = nullptr;
  Vectors vectors;
  PetscCall(make_solver(*bench, label, &ksp));
  PetscCall(vectors.make(bench->matrix));
  const Vec b = vectors.all[0];
  const Vec x = vectors.all[1];
  const Vec scratch = vectors.all[2];
  const std::array<Vec, 2> rhs{vectors.all[3], vectors.all[4]};
  const std::array<Vec, 2> expected{vectors.all[5], vectors.all[6]};
  const int repeat = static_cast<int>(bench->options.repeat);
  const Work solve = [&] { return KSPSolve(ksp, b, x); };
  Times times;

  // What is made on first use is made here; then a second solve, for what differs without a graph.
  double error = 0.0;
  for (std::size_t k = 0; k < rhs.size(); ++k) {
    PetscCall(VecSetRandom(rhs[k], nullptr));
    PetscCall(VecCopy(rhs[k], b));
    PetscCall(solve());
    PetscCall(VecCopy(x, expected[k]));
    PetscCall(solve());
    PetscCall(compare(x, expected[k], scratch, &error));
  }
  if (timed) {
    PetscCall(measure(bench->stream, repeat, solve, &times));
    PetscCall(write_checked(bench, label, "plain", &times, nullptr, error));
  }

  PetscCallCUDA(cudaDeviceSynchronize());
  const CapturedWork work(bench->stream, label.mode, solve);
  *captured = work.failure().empty();
  if (!*captured) {
    PetscCall(write_row(label, "graph", nullptr, nullptr, "", work.failure()));
    PetscCallCUDA(cudaDeviceSynchronize());
  } else {
    // Each replay has another right-hand side and another result to write over than the one before.
    error = 0.0;
    for (std::size_t k = 0; k < replays; ++k) {
      PetscCall(VecCopy(rhs[k % 2], b));
      PetscCall(VecSet(x, 7.0));
      PetscCall(work.launch());
      PetscCall(compare(x, expected[k % 2], scratch, &error));
    }
    if (timed)
      PetscCall(measure(
          bench->stream, repeat, [&] { return work.launch(); }, &times));
    const Nodes nodes = nodes_of(work);
    PetscCall(write_checked(bench, label, "graph", timed ? &times : nullptr, &nodes, error));
    error = 0.0;
    for (std::size_t k = 0; k < rhs.size(); ++k) {
      PetscCall(VecCopy(rhs[k], b));
      PetscCall(solve());
      PetscCall(compare(x, expected[k], scratch, &error));
    }
    if (timed) PetscCall(measure(bench->stream, repeat, solve, &times));
    PetscCall(write_checked(bench, label, "plain after a capture", timed ? &times : nullptr, nullptr, error));
  }
  PetscCall(vectors.destroy());
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The work between the dot products of a CG iteration, with numbers that stay: a graph holds the numbers that it was
/// captured with, where CG's own change. So this is no solver; it shows what CG would gain if they could be exchanged.
class Parts {
 public:
  PetscErrorCode make(const Bench& bench, const Label& label) {
    PetscFunctionBegin;
    matrix_ = bench.matrix;
    PetscCall(make_solver(bench, label, &ksp_));
    PetscCall(KSPGetPC(ksp_, &pc_));
    PetscCall(vectors_.make(matrix_));
    PetscCall(VecSetRandom(start_, nullptr));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode destroy() {
    PetscFunctionBegin;
    PetscCall(vectors_.destroy());
    PetscCall(KSPDestroy(&ksp_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// From one product on to the next: updates of two vectors, and the preconditioner.
  PetscErrorCode precondition() {
    PetscFunctionBegin;
    PetscCall(VecAXPY(x_, alpha, p_));
    PetscCall(VecAXPY(r_, -alpha, w_));
    PetscCall(PCApply(pc_, r_, z_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// The same from there: the direction, and the matrix.
  PetscErrorCode multiply() {
    PetscFunctionBegin;
    PetscCall(VecAYPX(p_, beta, z_));
    PetscCall(MatMult(matrix_, p_, w_));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode iterate(const Work& first, const Work& second) {
    PetscFunctionBegin;
    PetscScalar product = 0.0;
    PetscCall(first());
    PetscCall(VecDot(z_, r_, &product));
    PetscCall(second());
    PetscCall(VecDot(p_, w_, &product));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Some iterations, the same each time.
  PetscErrorCode run(const Work& iteration) {
    PetscFunctionBegin;
    PetscCall(VecCopy(start_, r_));
    for (const Vec zero : {x_, p_, w_}) PetscCall(VecSet(zero, 0.0));
    for (int k = 0; k < replays; ++k) PetscCall(iteration());
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /// Their results are what is expected from now on.
  PetscErrorCode expect() {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < 3; ++k) PetscCall(VecCopy(result(k), expected(k)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode check(double* error) {
    PetscFunctionBegin;
    for (std::size_t k = 0; k < 3; ++k) PetscCall(compare(result(k), expected(k), scratch_, error));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  static constexpr PetscScalar alpha = 1e-3;  // small: nothing grows over many iterations
  static constexpr PetscScalar beta = 0.5;

  [[nodiscard]] Vec result(std::size_t k) const { return vectors_.all[k]; }
  [[nodiscard]] Vec expected(std::size_t k) const { return vectors_.all[7 + k]; }

  Mat matrix_ = nullptr;
  KSP ksp_ = nullptr;
  PC pc_ = nullptr;
  Vectors vectors_;
  Vec& x_ = vectors_.all[0];
  Vec& z_ = vectors_.all[1];
  Vec& w_ = vectors_.all[2];
  Vec& r_ = vectors_.all[3];
  Vec& p_ = vectors_.all[4];
  Vec& start_ = vectors_.all[5];
  Vec& scratch_ = vectors_.all[6];
};

PetscErrorCode study_parts(Bench* bench, const Label& label) {
  PetscFunctionBegin;
  Parts parts;
  PetscCall(parts.make(*bench, label));
  const Work precondition = [&] { return parts.precondition(); };
  const Work multiply = [&] { return parts.multiply(); };
  const auto one_form = [&](const char* form, const Work& first, const Work& second, const Nodes* nodes) {
    PetscFunctionBegin;
    const Work iteration = [&] { return parts.iterate(first, second); };
    double error = 0.0;
    Times times;
    PetscCall(parts.run(iteration));
    if (!nodes) PetscCall(parts.expect());
    if (!nodes) PetscCall(parts.run(iteration));
    PetscCall(parts.check(&error));
    PetscCall(measure(bench->stream, static_cast<int>(bench->options.repeat), iteration, &times));
    PetscCall(write_checked(bench, label, form, &times, nodes, error));
    PetscFunctionReturn(PETSC_SUCCESS);
  };
  PetscCall(one_form("plain", precondition, multiply, nullptr));

  PetscCallCUDA(cudaDeviceSynchronize());
  const CapturedWork first(bench->stream, label.mode, precondition);
  const CapturedWork second(bench->stream, label.mode, multiply);
  if (first.failure().empty() && second.failure().empty()) {
    const Work replay_first = [&] { return first.launch(); };
    const Work replay_second = [&] { return second.launch(); };
    const Nodes of_first = nodes_of(first);
    const Nodes of_second = nodes_of(second);
    const Nodes of_both = of_first + of_second;
    PetscCall(one_form("graph of updates and preconditioner", replay_first, multiply, &of_first));
    PetscCall(one_form("graph of direction and product", precondition, replay_second, &of_second));
    PetscCall(one_form("both graphs", replay_first, replay_second, &of_both));
  } else {
    for (const auto& [form, work] : {std::pair("graph of updates and preconditioner", &first),
                                     std::pair("graph of direction and product", &second)})
      PetscCall(write_row(label, form, nullptr, nullptr, "", work->failure().empty() ? "ok" : work->failure()));
  }
  PetscCall(parts.destroy());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// With both modes of capturing. Times once: the graphs are the same.
PetscErrorCode study(Bench* bench, const std::string& method, PetscInt iterations) {
  PetscFunctionBegin;
  bool captured = false;
  for (const cudaStreamCaptureMode mode : {cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed})
    PetscCall(study_solve(bench, {method, iterations, mode}, mode == cudaStreamCaptureModeThreadLocal || !captured,
                          &captured));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Prints what PETSc made of the options: a capture is of one stream, which the objects of PETSc's that keep one took
/// when they were made.
PetscErrorCode find_stream(cudaStream_t* stream) {
  PetscFunctionBegin;
  PetscDeviceContext context = nullptr;
  PetscStreamType type = PETSC_STREAM_DEFAULT;
  // Before the matrix: PETSc's default stream, which a matrix keeps, is set where the context is made.
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamType(context, &type));
  PetscCall(PetscGetCurrentCUDAStream(stream));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "stream: %s, %s, %s\n", PetscStreamTypes[type],
                        *stream ? "one of its own" : "the legacy one",
                        *stream == PetscDefaultCudaStream ? "that of matrices, too" : "matrices have another one"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run(int* status) {
  PetscFunctionBegin;
  Bench bench;
  Options& options = bench.options;
  std::array<char*, 8> names{};
  PetscInt methods = static_cast<PetscInt>(names.size());
  PetscBool given = PETSC_FALSE;
  PetscInt rows = 0;
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-stencil", &options.stencil, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-nx", &options.n, nullptr));
  PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-emax", &options.emax, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeat", &options.repeat, nullptr));
  PetscCall(PetscOptionsGetStringArray(nullptr, nullptr, "-methods", names.data(), &methods, &given));
  PetscCheck((options.stencil == 5 || options.stencil == 7) && options.n > 1 && options.repeat > 0, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "-stencil is 5 or 7, -nx more than 1, -repeat positive");
  // By parts before CG, the one that is expected to fail, so that a failure leaves nothing behind for others.
  std::vector<std::string> chosen{"chebyshev", "richardson", "parts", "cg"};
  if (given) chosen.assign(names.begin(), names.begin() + methods);
  for (PetscInt k = 0; given && k < methods; ++k) PetscCall(PetscFree(names[static_cast<std::size_t>(k)]));

  PetscCall(find_stream(&bench.stream));
  PetscCall(make_matrix(options, &bench.matrix));
  PetscCall(MatGetSize(bench.matrix, &rows, nullptr));
  PetscCall(PetscPrintf(PETSC_COMM_SELF, "rows: %d\n", static_cast<int>(rows)));
  for (const std::string& method : chosen) {
    if (method == "parts") {
      PetscCall(study_parts(&bench, {method}));
    } else if (method == "cg") {
      PetscCall(study(&bench, method, 1));
    } else {
      for (const PetscInt iterations : {2, 10}) PetscCall(study(&bench, method, iterations));
    }
  }
  PetscCall(MatDestroy(&bench.matrix));
  *status = bench.worst <= most_error ? 0 : 1;
  if (*status != 0) PetscCall(PetscPrintf(PETSC_COMM_SELF, "a solve or a replay has computed something else\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    static_cast<void>(std::puts("skipped: no GPU"));
    return no_gpu;
  }
  int status = 1;
  // The legacy stream cannot be captured; one rank needs nothing of MPI. The command line may say otherwise.
  for (const auto& [name, value] : {std::pair("-root_device_context_stream_type", "nonblocking"),
                                    std::pair("-use_gpu_aware_mpi", "0"), std::pair("-mat_type", MATAIJCUSPARSE)})
    if (PetscOptionsSetValue(nullptr, name, value)) return 1;
  if (PetscInitialize(&argc, &argv, nullptr, kHelp)) return 1;
  if (run(&status)) return 1;
  if (PetscFinalize()) return 1;
  return status;
}
