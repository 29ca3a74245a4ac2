/// \file
/// Where work runs: the choice of a backend, its threads or its device.
#pragma once

#include <memory>
#include <string>

#include "taskdag/csr.hpp"
#include "taskdag/export.hpp"

namespace taskdag {

enum class Backend { automatic, cuda, host };

/// "auto", "cuda", "host".
TASKDAG_API const char* to_string(Backend backend);

/// Where an array lives.
enum class MemorySpace { host, device };

/// A CUDA stream (a cudaStream_t) without the CUDA header; null is CUDA's default stream. Ignored on the host backend.
struct Stream {
  void* handle = nullptr;
};

/// What this process finds when it looks for a GPU. The look happens once and is cached; it creates no CUDA context
/// beyond what the CUDA runtime needs to count devices.
struct DeviceProbe {
  bool built_with_cuda = false;
  int devices = 0;
  std::string message;  ///< "2 CUDA devices", or why there is none: "built without CUDA", the driver's own words
};
TASKDAG_API const DeviceProbe& probe_devices();

/// What tells a CUDA device from all others, in every process the same: its UUID, 32 hexadecimal digits. `device`: its
/// number in this process, -1: the calling thread's current one.
/// @throws DeviceError where there is no such device
TASKDAG_API std::string device_uuid(int device);

/// Bytes of a CUDA device's memory that are free. `device`: as above, and the thread's current one stays.
/// @throws DeviceError where there is no such device
TASKDAG_API double device_free_memory(int device);

struct ContextOptions {
  Backend backend = Backend::automatic;
  /// Host threads: 0 takes as many as share_of_processors() finds for a process that is alone: its affinity mask (so
  /// MPI binding is honoured), quotas of control groups, OMP_NUM_THREADS and SLURM_CPUS_PER_TASK. On CUDA the symbolic
  /// phases of levels of fill take them.
  int threads = 0;
  /// CUDA device, -1: the calling thread's current device.
  int device = -1;
};

/// An execution context: a backend that has been chosen and found usable. Cheap to copy (shared); the thread pool and
/// device resources behind it are made once per context. Threads of the application may use different objects of a
/// context at the same time, where work on its host threads takes turns, and one object one at a time. What runs on
/// those threads (a task, say) may not start other work on them: InvalidInput.
class TASKDAG_API Context {
 public:
  /// `automatic` takes CUDA where the device runs the library's kernels, else the host; reason() says why: no device,
  /// no code for it in the library, another process' alone (exclusive mode), no memory left.
  /// @throws DeviceError if CUDA is demanded and not usable; InvalidInput for a negative thread count and
  ///         for one above 1024 and four times the machine's processors; OutOfMemory, also where the system does not
  ///         start that many threads
  static Context create(const ContextOptions& options = {});

  [[nodiscard]] Backend backend() const;            ///< cuda or host
  [[nodiscard]] const std::string& reason() const;  ///< why this backend, one clause
  [[nodiscard]] int threads() const;                ///< host threads, the calling one included; 1 on CUDA
  [[nodiscard]] int device() const;                 ///< CUDA device number, -1 on the host
  [[nodiscard]] std::string device_name() const;    ///< "NVIDIA H200", or "N host threads"

  struct State;
  [[nodiscard]] const std::shared_ptr<State>& state() const { return state_; }

 private:
  explicit Context(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace taskdag
