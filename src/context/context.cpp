#include "taskdag/context.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <thread>

#include "context/device.hpp"
#include "context/state.hpp"
#include "taskdag/error.hpp"
#include "taskdag/processors.hpp"

namespace taskdag {

namespace {

std::unique_ptr<host::ThreadPool> start_threads(int threads) {
  try {
    return std::make_unique<host::ThreadPool>(threads);
  } catch (const std::system_error& error) {
    throw OutOfMemory("the system does not start " + std::to_string(threads) + " host threads: " + error.what());
  }
}

void use_cuda(Context::State& state, int device) {
  if (probe_devices().devices == 0) throw DeviceError("the CUDA backend is not usable: " + probe_devices().message);
  state.device = cuda::open_device(device);
  state.backend = Backend::cuda;
}

/// Where there is a device that can be used; else `state` is a host's, and its reason says why.
void try_cuda(Context::State& state, int device) {
  state.reason = probe_devices().message;
  if (probe_devices().devices == 0) return;
  if (device >= probe_devices().devices) return use_cuda(state, device);  // misuse, no reason to go elsewhere
  try {
    use_cuda(state, device);
  } catch (const Error& error) {
    state.reason = error.what();
  }
}

/// Before any is started: a system that refuses one only after tens of thousands takes seconds.
void check_threads(int threads) {
  if (threads < 0) throw InvalidInput("the number of threads is negative");
  constexpr unsigned kMost = 1024;
  const unsigned most = std::max(kMost, 4 * std::thread::hardware_concurrency());
  if (static_cast<unsigned>(threads) <= most) return;
  throw InvalidInput(std::to_string(threads) + " host threads are more than the " + std::to_string(most) +
                     " that a context has at most on this machine");
}

int threads_of_process() {
  const ProcessorClaim claim = claim_processors();
  return share_of_processors({&claim, 1}, 0);
}

std::shared_ptr<Context::State> make_state(const ContextOptions& options) {
  auto state = std::make_shared<Context::State>();
  state->reason = "asked for";
  state->host_threads = options.threads == 0 ? threads_of_process() : options.threads;
  if (options.backend == Backend::cuda) use_cuda(*state, options.device);
  if (options.backend == Backend::automatic) try_cuda(*state, options.device);
  if (state->backend == Backend::host) state->pool = start_threads(state->host_threads);
  return state;
}

}  // namespace

Context Context::State::borrowing(host::ThreadPool& pool) {
  auto state = std::make_shared<State>();
  state->reason = "borrowed";
  state->host_threads = pool.threads();
  state->pool = std::shared_ptr<host::ThreadPool>(std::shared_ptr<void>(), &pool);
  return Context(std::move(state));
}

const char* to_string(Backend backend) {
  switch (backend) {
    case Backend::cuda:
      return "cuda";
    case Backend::host:
      return "host";
    case Backend::automatic:
      break;
  }
  return "auto";
}

const DeviceProbe& probe_devices() {
  static const DeviceProbe result = cuda::probe();
  return result;
}

std::string device_uuid(int device) { return cuda::device_uuid(device); }
double device_free_memory(int device) { return cuda::device_free_memory(device); }

Context Context::create(const ContextOptions& options) {
  check_threads(options.threads);
  if (options.device < -1) throw InvalidInput("the CUDA device number is negative");
  try {
    return Context(make_state(options));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("out of host memory: a context");
  }
}

Backend Context::backend() const { return state_->backend; }
const std::string& Context::reason() const { return state_->reason; }
int Context::threads() const { return state_->pool ? state_->pool->threads() : 1; }
int Context::device() const { return state_->device; }
std::string Context::device_name() const {
  if (backend() == Backend::cuda) return cuda::device_name(device());
  return std::to_string(threads()) + (threads() == 1 ? " host thread" : " host threads");
}

}  // namespace taskdag
