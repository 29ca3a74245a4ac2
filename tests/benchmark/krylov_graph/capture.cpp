#include "capture.hpp"

#include <petscdevice_cuda.h>

#include <vector>

namespace taskdag::benchmark {
namespace {

/// Deeper callers tell nothing more.
constexpr int most_functions = 8;

struct Trail {
  std::string text;
  int functions = 0;
};

/// An error handler of PETSc's: called where an error is raised, and once more by every caller that passes it on.
PetscErrorCode note_error(MPI_Comm /*comm*/, int /*line*/, const char* function, const char* /*file*/,
                          PetscErrorCode code, PetscErrorType type, const char* message, void* context) {
  Trail& trail = *static_cast<Trail*>(context);
  if (type == PETSC_ERROR_INITIAL && trail.functions == 0) trail.text = message ? message : "no message";
  if (trail.functions < most_functions)
    trail.text += std::string(trail.functions == 0 ? "; in " : " < ") + (function ? function : "?");
  ++trail.functions;
  return code;
}

}  // namespace

CapturedWork::CapturedWork(cudaStream_t stream, cudaStreamCaptureMode mode, const Work& work) : stream_(stream) {
  const cudaError_t begun = cudaStreamBeginCapture(stream, mode);
  if (begun != cudaSuccess) {
    note("cudaStreamBeginCapture", begun);
    return;
  }
  Trail trail;
  static_cast<void>(PetscPushErrorHandler(note_error, &trail));
  const PetscErrorCode worked = work();
  static_cast<void>(PetscPopErrorHandler());
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph_);
  // The error of a call that was refused would be found by whatever looks for errors next.
  static_cast<void>(cudaGetLastError());
  if (static_cast<int>(worked) != 0) {
    failure_ = trail.text.empty() ? "error " + std::to_string(static_cast<int>(worked)) : trail.text;
    return;
  }
  if (ended != cudaSuccess) {
    note("no error of PETSc's; cudaStreamEndCapture", ended);
    return;
  }
  count_nodes();
  const cudaError_t made = cudaGraphInstantiate(&replay_, graph_, 0);
  if (made != cudaSuccess) note("cudaGraphInstantiate", made);
}

CapturedWork::~CapturedWork() {
  if (replay_) static_cast<void>(cudaGraphExecDestroy(replay_));
  if (graph_) static_cast<void>(cudaGraphDestroy(graph_));
}

PetscErrorCode CapturedWork::launch() const {
  PetscFunctionBegin;
  PetscCallCUDA(cudaGraphLaunch(replay_, stream_));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CapturedWork::count_nodes() {
  std::size_t count = 0;
  if (cudaGraphGetNodes(graph_, nullptr, &count) != cudaSuccess || count == 0) return;
  std::vector<cudaGraphNode_t> nodes(count);
  if (cudaGraphGetNodes(graph_, nodes.data(), &count) != cudaSuccess) return;
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
    static_cast<void>(cudaGraphNodeGetType(node, &type));
    ++(type == cudaGraphNodeTypeKernel ? kernels_ : other_nodes_);
  }
}

void CapturedWork::note(const char* call, cudaError_t error) {
  failure_ = std::string(call) + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error);
  static_cast<void>(cudaGetLastError());
}

}  // namespace taskdag::benchmark
