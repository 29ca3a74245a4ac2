#include "backend_choice.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <map>

#include "boundary.hpp"
#include "compat.hpp"
#include "options.hpp"

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
  int local_ranks = 1;
  std::map<Configuration, Context> contexts;
};

// Never destroyed: at exit the CUDA runtime or PETSc may be gone already. finalize_backends() empties it in time.
Process& process() {
  static Process& instance = *new Process;
  return instance;
}

/// A rank that the launcher has bound takes its share as it is; unbound ranks divide the machine's processors.
int automatic_threads() {
  const long machine = std::max(1L, sysconf(_SC_NPROCESSORS_ONLN));
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) == 0) {
    const int bound = CPU_COUNT(&mask);
    if (bound >= 1 && bound < machine) return bound;
  }
  return static_cast<int>(std::max(1L, machine / process().local_ranks));
}

/// Whether this matrix' work is CUDA's, and why or why not.
PetscErrorCode decide(Backend wanted, const DataPlace& place, bool* cuda, std::string* reason) {
  if (wanted != Backend::automatic) {
    *cuda = wanted == Backend::cuda;
    return guarded([&] { *reason = "asked for"; });
  }
  if (place.on_device) {
    *cuda = true;
    return guarded([&] { *reason = "the matrix is in device memory"; });
  }
  const DeviceProbe* probe = nullptr;
  PetscCall(guarded([&] { probe = &probe_devices(); }));
  if (probe->devices == 0) {
    *cuda = false;
    return guarded([&] { *reason = "no GPU: " + probe->message; });
  }
  PetscInt least = 0;
  PetscCall(read_auto_min_rows(&least));
  *cuda = place.rows >= least;
  return guarded([&] {
    *reason = std::to_string(place.rows) + (*cuda ? " rows, at least " : " rows, fewer than ") + std::to_string(least) +
              " (-taskdag_auto_min_rows)";
  });
}

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

}  // namespace

PetscErrorCode initialize_backends() {
  PetscFunctionBegin;
  PetscCall(guarded([] { process(); }));
  MPI_Comm node = MPI_COMM_NULL;
  PetscCallMPI(MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_rank(node, &process().local_rank));
  PetscCallMPI(MPI_Comm_size(node, &process().local_ranks));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode finalize_backends() {
  PetscFunctionBegin;
  PetscCall(guarded([] { process().contexts.clear(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode choose_backend(const BackendSettings& settings, const DataPlace& place,
                              std::optional<BackendChoice>* choice) {
  PetscFunctionBegin;
  bool cuda = false;
  std::string reason;
  PetscCall(decide(settings.wanted, place, &cuda, &reason));
  Configuration configuration{cuda ? Backend::cuda : Backend::host, 1, -1};
  if (cuda)
    PetscCall(choose_device(&configuration.device));
  else
    configuration.threads = settings.threads > 0 ? static_cast<int>(settings.threads) : automatic_threads();
  PetscCall(guarded([&] {
    auto& contexts = process().contexts;
    auto found = contexts.find(configuration);
    if (found == contexts.end()) {
      const ContextOptions options{configuration.backend, configuration.threads, configuration.device};
      found = contexts.emplace(configuration, Context::create(options)).first;
    }
    choice->emplace(BackendChoice{found->second, std::move(reason)});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_device(const BackendSettings& settings, const DataPlace& place, std::string* uuid) {
  PetscFunctionBegin;
  bool cuda = false;
  std::string reason;
  int device = -1;
  PetscCall(decide(settings.wanted, place, &cuda, &reason));
  if (cuda) PetscCall(choose_device(&device));
  PetscCall(guarded([&] { *uuid = cuda ? device_uuid(device) : ""; }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
