#include "backend_choice.hpp"

#include <algorithm>
#include <compare>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <utility>
#include <vector>

#include "boundary.hpp"
#include "compat.hpp"
#include "options.hpp"
#include "shared_error.hpp"
#include "taskdag/calibration.hpp"
#include "taskdag/processors.hpp"

namespace taskdag::petsc {
namespace {

struct Configuration {
  Backend backend;
  int threads;
  int device;
  auto operator<=>(const Configuration&) const = default;
};

struct Process {
  int local_rank = 0;
  int threads = 1;             ///< this rank's share of what the ranks of its node may run on
  std::recursive_mutex mutex;  ///< threads of the application may make preconditioners at the same time
  std::map<Configuration, Context> contexts;
  std::map<int, std::string> unusable;  ///< devices that were there and could not be used, and why: tried once
  std::set<int> calibrated;             ///< devices for which that was tried
};

/// What is decided for a matrix.
struct Decision {
  bool cuda = false;
  int device = -1;
  std::string reason;
};

// Never destroyed: at exit the CUDA runtime or PETSc may be gone already. finalize_backends() empties it in time.
Process& process() {
  static Process& instance = *new Process;
  return instance;
}

/// Learns this rank's share of the processors of the node.
PetscErrorCode share_processors(MPI_Comm node) {
  PetscFunctionBegin;
  int ranks = 1;
  std::vector<ProcessorClaim> claims;
  PetscCallMPI(MPI_Comm_size(node, &ranks));
  const PetscErrorCode made = guarded([&] {
    claims.resize(static_cast<std::size_t>(ranks));
    claims[static_cast<std::size_t>(process().local_rank)] = claim_processors();
  });
  PetscCall(share_error(node, made));
  PetscCallMPI(
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, claims.data(), sizeof(ProcessorClaim), MPI_BYTE, node));
  PetscCall(guarded(
      [&] { process().threads = share_of_processors(claims, static_cast<std::size_t>(process().local_rank)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether this matrix' work should be CUDA's, and why or why not, before anybody knows whether the device can be used.
PetscErrorCode prefer(const MatrixSummary& matrix, Decision* decision) {
  decision->cuda = matrix.on_device;
  if (matrix.on_device) return guarded([&] { decision->reason = "the matrix is in device memory"; });
  const DeviceProbe* probe = nullptr;
  PetscCall(guarded([&] { probe = &probe_devices(); }));
  if (probe->devices == 0) return guarded([&] { decision->reason = "no GPU: " + probe->message; });
  Settings settings;
  PetscCall(read_titled(nullptr, by_backend_choice, &settings));
  const PetscInt least = settings.shared.auto_min_rows;
  decision->cuda = matrix.rows >= least;
  return guarded([&] {
    decision->reason = std::to_string(matrix.rows) + (decision->cuda ? " rows, at least " : " rows, fewer than ") +
                       std::to_string(least) + " (-taskdag_auto_min_rows)";
  });
}

/// The context of a configuration, made where there is none. @throws as Context::create()
const Context& context_of(const Configuration& configuration) {
  const std::lock_guard lock(process().mutex);
  auto& contexts = process().contexts;
  auto found = contexts.find(configuration);
  if (found == contexts.end()) {
    const ContextOptions options{configuration.backend, configuration.threads, configuration.device};
    found = contexts.emplace(configuration, Context::create(options)).first;
  }
  return found->second;
}

/// Measures the device of a context where -taskdag_calibrate asks for it and nothing of it is kept. Choices go by what
/// is known anyway where that cannot be done.
PetscErrorCode calibrate_as_asked(const Context& context) {
  Settings settings;
  PetscCall(read_titled(nullptr, by_backend_choice, &settings));
  if (!settings.shared.calibrate) return PETSC_SUCCESS;
  std::string failed;
  PetscCall(guarded([&] {
    const std::lock_guard lock(process().mutex);
    if (!process().calibrated.insert(context.device()).second) return;
    try {
      calibrate(context, false);
    } catch (const Error& error) {
      failed = error.what();
    }
  }));
  if (failed.empty()) return PETSC_SUCCESS;
  return PetscFPrintf(PETSC_COMM_SELF, PETSC_STDERR, "TaskDAG: warning: -taskdag_calibrate: %s\n", failed.c_str());
}

Configuration on_device(int device) { return {Backend::cuda, process().threads, device}; }

/// A CUDA PETSc has chosen its device; without one the ranks of a node take turns.
PetscErrorCode choose_device(int* device) {
  *device = -1;
  const DeviceProbe* probe = nullptr;
  PetscCall(guarded([&] { probe = &probe_devices(); }));
  if (probe->devices == 0) return PETSC_SUCCESS;  // Context::create says what is missing
  if (petsc_has_cuda()) return initialize_petsc_device();
  *device = process().local_rank % probe->devices;
  return PETSC_SUCCESS;
}

/// Why the context of a device cannot be made, empty where it can; tried once.
const std::string& why_unusable(int device) {
  const std::lock_guard lock(process().mutex);
  auto& unusable = process().unusable;
  if (const auto known = unusable.find(device); known != unusable.end()) return known->second;
  std::string why;
  try {
    context_of(on_device(device));
  } catch (const Error& error) {
    why = error.what();
  }
  return unusable.emplace(device, std::move(why)).first->second;
}

/// An error handler of PETSc's that prints nothing: the first words of an error go to the string `words`.
PetscErrorCode keep_words(MPI_Comm, int, const char*, const char*, PetscErrorCode code, PetscErrorType type,
                          const char* message, void* words) {
  if (type != PETSC_ERROR_INITIAL || message == nullptr) return code;
  try {
    *static_cast<std::string*>(words) = message;
  } catch (const std::bad_alloc&) {  // without words, then
  }
  return code;
}

/// choose_device(), whose errors are no errors of the caller's: `why` has their words.
PetscErrorCode try_to_choose_device(int* device, std::string* why) {
  std::string words;
  PetscCall(PetscPushErrorHandler(keep_words, &words));
  const PetscErrorCode code = choose_device(device);
  PetscCall(PetscPopErrorHandler());
  if (code == PETSC_SUCCESS) return PETSC_SUCCESS;
  return guarded([&] { *why = words.empty() ? "PETSc does not open it" : words; });
}

/// Whether the device that is chosen is tried, which takes memory of it.
enum class Opening { now, later };

/// Whether this matrix' work is CUDA's, on which device, and why or why not.
PetscErrorCode decide(Backend wanted, const MatrixSummary& matrix, Opening opening, Decision* decision) {
  if (wanted != Backend::automatic) {
    decision->cuda = wanted == Backend::cuda;
    if (decision->cuda) PetscCall(choose_device(&decision->device));
    return guarded([&] { decision->reason = "asked for"; });
  }
  PetscCall(prefer(matrix, decision));
  if (!decision->cuda) return PETSC_SUCCESS;
  std::string why;
  PetscCall(try_to_choose_device(&decision->device, &why));
  return guarded([&] {
    const std::lock_guard lock(process().mutex);
    const bool known = process().unusable.contains(decision->device);
    if (why.empty() && (known || opening == Opening::now)) why = why_unusable(decision->device);
    decision->cuda = why.empty();
    if (!decision->cuda) decision->reason = "the GPU cannot be used: " + why;
  });
}

/// 0 where the device cannot be used.
double free_memory(int device) {
  try {
    return device_free_memory(device);
  } catch (const DeviceError&) {
    return 0.0;
  }
}

}  // namespace

PetscErrorCode initialize_backends() {
  PetscFunctionBegin;
  PetscCall(guarded([] { process(); }));
  MPI_Comm node = MPI_COMM_NULL;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &process().local_rank));
  const PetscErrorCode shared = share_processors(node);
  PetscCallMPI(MPI_Comm_free(&node));
  PetscCall(shared);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode finalize_backends() {
  PetscFunctionBegin;
  PetscCall(guarded([] {
    process().contexts.clear();
    process().unusable.clear();
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_backend(const BackendSettings& settings, const MatrixSummary& matrix,
                              std::optional<BackendChoice>* choice) {
  PetscFunctionBegin;
  Decision decision;
  PetscCall(decide(settings.wanted, matrix, Opening::now, &decision));
  const int threads = settings.threads > 0 ? static_cast<int>(std::min<PetscInt>(settings.threads, PETSC_MPI_INT_MAX))
                                           : process().threads;
  const Configuration configuration{decision.cuda ? Backend::cuda : Backend::host, threads,
                                    decision.cuda ? decision.device : -1};
  std::optional<BackendChoice> made;
  PetscCall(guarded([&] { made.emplace(BackendChoice{context_of(configuration), std::move(decision.reason)}); }));
  if (decision.cuda) PetscCall(calibrate_as_asked(made->context));
  *choice = std::move(made);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_device(const BackendSettings& settings, const MatrixSummary& matrix, DevicePlace* device) {
  PetscFunctionBegin;
  Decision decision;
  PetscCall(decide(settings.wanted, matrix, Opening::later, &decision));
  PetscCall(guarded([&] {
    *device = {};
    if (decision.cuda) *device = {device_uuid(decision.device), free_memory(decision.device)};
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
