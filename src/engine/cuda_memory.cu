/// \file
/// The engine's device memory by the CUDA runtime.
#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "engine/memory_impl.hpp"

namespace taskdag::engine {

namespace {

/// On the default stream, each operation awaited: for set-up and results, not for the inside of a run.
struct DeviceImpl final : Memory::Impl {
  DeviceImpl(int on_device, std::size_t bytes) : device(on_device) {
    const cuda::DeviceGuard guard(device);
    memory = cuda::DeviceArray<std::byte>(bytes, nullptr);
    data = memory.data();
    size = bytes;
    DeviceImpl::clear();
  }
  ~DeviceImpl() override {
    // Freeing waits for work on the current device: the memory's own must be that.
    const cuda::DeviceGuard guard(device);
    memory = {};
  }
  void clear() override {
    const cuda::DeviceGuard guard(device);
    cuda::check(cudaMemsetAsync(data, 0, size, nullptr), "clearing memory of the task engine");
    cuda::synchronize(nullptr);
  }
  void copy_in(std::size_t offset, const void* from, std::size_t bytes) override {
    const cuda::DeviceGuard guard(device);
    cuda::copy_to_device(memory.data() + offset, static_cast<const std::byte*>(from), bytes, nullptr);
    cuda::synchronize(nullptr);
  }
  void copy_out(std::size_t offset, void* to, std::size_t bytes) const override {
    const cuda::DeviceGuard guard(device);
    cuda::copy_to_host(static_cast<std::byte*>(to), memory.data() + offset, bytes, nullptr);
    cuda::synchronize(nullptr);
  }
  void copy_from(const Impl& other, std::size_t bytes) override {
    const cuda::DeviceGuard guard(device);
    cuda::copy_on_device(memory.data(), static_cast<const std::byte*>(other.data), bytes, nullptr);
    cuda::synchronize(nullptr);
  }
  int device;
  cuda::DeviceArray<std::byte> memory;
};

}  // namespace

std::unique_ptr<Memory::Impl> Memory::Impl::on_device(const Context& context, std::size_t bytes) {
  return std::make_unique<DeviceImpl>(context.device(), bytes);
}

}  // namespace taskdag::engine
