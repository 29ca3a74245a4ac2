/// \file
/// Errors of the CUDA runtime as exceptions; the devices, their names and free memory.
#include <string>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "taskdag/error.hpp"

namespace taskdag::cuda {

void throw_out_of_memory(const char* memory, std::size_t bytes) {
  throw OutOfMemory("out of " + std::string(memory) + ": " + std::to_string(bytes) + " bytes refused");
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // a failure that is not sticky must not surface in another check
  std::string message = std::string(what) + ": " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")";
  if (cudaGetLastError() != cudaSuccess) {  // it stays
    message += "; after such an error, which may be an earlier call's, this process cannot use the device any more";
  }
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory("out of device memory, " + message);
  throw DeviceError("CUDA, " + message);
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

int device_count(std::string& message) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    message = std::string("no usable CUDA device: ") + cudaGetErrorString(error);
    return 0;
  }
  message = count == 1 ? "1 CUDA device" : std::to_string(count) + " CUDA devices";
  return count;
}

int select_device(int device) {
  if (device < 0) {
    check(cudaGetDevice(&device), "asking for the current device");
  } else {
    check(cudaSetDevice(device), "selecting a device");
  }
  check(cudaFree(nullptr), "opening the device");  // creates the context: a broken device fails here, with words
  return device;
}

std::string name_of_device(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "reading device properties");
  return properties.name;
}

double free_memory_of_device(int device) {
  std::size_t free = 0;
  std::size_t total = 0;
  if (device < 0) check(cudaGetDevice(&device), "asking for the current device");
  const DeviceGuard guard(device);
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  return static_cast<double>(free);
}

std::string uuid_of_device(int device) {
  cudaDeviceProp properties{};
  if (device < 0) check(cudaGetDevice(&device), "asking for the current device");
  check(cudaGetDeviceProperties(&properties, device), "reading device properties");
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : properties.uuid.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += digits[value / 16];
    text += digits[value % 16];
  }
  return text;
}

const DeviceLimits& device_limits() {
  thread_local DeviceLimits limits;
  int device = 0;
  check(cudaGetDevice(&device), "asking for the current device");
  if (limits.device != device) {
    check(cudaDeviceGetAttribute(&limits.multiprocessors, cudaDevAttrMultiProcessorCount, device), "reading a limit");
    check(cudaDeviceGetAttribute(&limits.cache_bytes, cudaDevAttrL2CacheSize, device), "reading a limit");
    check(cudaDeviceGetAttribute(&limits.threads_per_multiprocessor, cudaDevAttrMaxThreadsPerMultiProcessor, device),
          "reading a limit");
    check(cudaDeviceGetAttribute(&limits.shared_bytes_per_block, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "reading a limit");
    limits.device = device;
  }
  return limits;
}

DeviceGuard::DeviceGuard(int device) {
  int current = 0;
  check(cudaGetDevice(&current), "asking for the current device");
  if (current != device) {
    check(cudaSetDevice(device), "selecting a device");
    previous_ = current;
  }
}

DeviceGuard::~DeviceGuard() {
  if (previous_ >= 0) static_cast<void>(cudaSetDevice(previous_));
}

}  // namespace taskdag::cuda
