#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/pool_use.hpp"
#include "backends/cuda/stream.hpp"
#include "device.hpp"
#include "kernels/sptrsv/schedules/cells/cells.hpp"

namespace taskdag::test {
namespace {

class Buffer final : public DeviceBuffer {
 public:
  Buffer(std::size_t bytes, cudaStream_t stream) : bytes_(bytes, stream), stream_(stream) {}
  void* data() override { return bytes_.data(); }
  void read(void* to) override {
    const cuda::DeviceGuard current(device_);
    cuda::copy_to_host(static_cast<char*>(to), bytes_.data(), bytes_.size(), stream_);
    cuda::synchronize(stream_);
  }

 private:
  int device_ = cuda::current_device();
  cuda::DeviceArray<char> bytes_;
  cudaStream_t stream_;
};

/// Of the device that is current when it is made, also where another one is later.
class OwnStream final : public DeviceStream {
 public:
  [[nodiscard]] Stream stream() const override { return {stream_.get()}; }
  std::unique_ptr<DeviceBuffer> upload(const void* from, std::size_t bytes) override {
    auto buffer = allocate(bytes);
    const cuda::DeviceGuard current(device_);
    cuda::copy_to_device(static_cast<char*>(buffer->data()), static_cast<const char*>(from), bytes, stream_.get());
    cuda::synchronize(stream_.get());
    return buffer;
  }
  std::unique_ptr<DeviceBuffer> allocate(std::size_t bytes) override {
    const cuda::DeviceGuard current(device_);
    return std::make_unique<Buffer>(bytes, stream_.get());
  }

 private:
  int device_ = cuda::current_device();
  cuda::UniqueStream stream_;
};

}  // namespace

bool device_has_cells() { return probe_devices().devices > 0 && kernels::cells_supported(); }

std::unique_ptr<DeviceStream> make_device_stream() { return std::make_unique<OwnStream>(); }

std::int64_t live_device_bytes() { return cuda::device_bytes().live; }
std::int64_t peak_device_bytes() { return cuda::device_bytes().peak; }
void restart_peak() { static_cast<void>(cuda::most_device_bytes()); }
std::int64_t reserved_device_bytes() { return cuda::reserved_device_bytes(); }

}  // namespace taskdag::test
