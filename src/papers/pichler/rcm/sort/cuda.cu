#include <cub/device/device_radix_sort.cuh>

#include "backends/cuda/check.hpp"
#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/stream.hpp"
#include "papers/pichler/rcm/sort/library_sort.hpp"

namespace taskdag::kernels::rcm_tasks {
namespace {

class CudaSort final : public LibrarySort {
 public:
  CudaSort(const Context& context, std::size_t most) : device_(context.device()) {
    const cuda::DeviceGuard guard(device_);
    stream_ = std::make_unique<cuda::UniqueStream>();
    keys_ = cuda::DeviceArray<SortKey>(most, stream());
    sorted_keys_ = cuda::DeviceArray<SortKey>(most, stream());
    values_ = cuda::DeviceArray<Index>(most, stream());
    sorted_values_ = cuda::DeviceArray<Index>(most, stream());
    std::size_t for_keys = 0;
    std::size_t for_pairs = 0;
    cuda::check(cub::DeviceRadixSort::SortKeys(nullptr, for_keys, keys_.data(), sorted_keys_.data(), most),
                "sizing a sort");
    cuda::check(cub::DeviceRadixSort::SortPairs(nullptr, for_pairs, keys_.data(), sorted_keys_.data(), values_.data(),
                                                sorted_values_.data(), most),
                "sizing a sort");
    scratch_ = cuda::DeviceArray<char>(std::max(for_keys, for_pairs), stream());
    cuda::synchronize(stream());
  }

  void sort(SortKey* keys, std::uint32_t count, unsigned bits) override {
    const cuda::DeviceGuard guard(device_);
    std::size_t bytes = scratch_.size();
    cuda::check(cub::DeviceRadixSort::SortKeys(scratch_.data(), bytes, keys, sorted_keys_.data(), std::size_t{count}, 0,
                                               static_cast<int>(bits), stream()),
                "sorting keys");
    cuda::copy_on_device(keys, sorted_keys_.data(), count, stream());
    cuda::synchronize(stream());
  }

  void sort_by_key(std::vector<SortKey>& keys, std::vector<Index>& values, unsigned bits) override {
    const cuda::DeviceGuard guard(device_);
    cuda::copy_to_device(keys_.data(), keys.data(), keys.size(), stream());
    cuda::copy_to_device(values_.data(), values.data(), values.size(), stream());
    std::size_t bytes = scratch_.size();
    cuda::check(
        cub::DeviceRadixSort::SortPairs(scratch_.data(), bytes, keys_.data(), sorted_keys_.data(), values_.data(),
                                        sorted_values_.data(), keys.size(), 0, static_cast<int>(bits), stream()),
        "sorting nodes");
    cuda::copy_to_host(values.data(), sorted_values_.data(), values.size(), stream());
    cuda::synchronize(stream());
  }

 private:
  [[nodiscard]] cudaStream_t stream() const { return stream_->get(); }

  int device_;
  std::unique_ptr<cuda::UniqueStream> stream_;
  cuda::DeviceArray<SortKey> keys_;
  cuda::DeviceArray<SortKey> sorted_keys_;
  cuda::DeviceArray<Index> values_;
  cuda::DeviceArray<Index> sorted_values_;
  cuda::DeviceArray<char> scratch_;
};

}  // namespace

std::unique_ptr<LibrarySort> make_cuda_sort(const Context& context, std::size_t most) {
  return std::make_unique<CudaSort>(context, most);
}

}  // namespace taskdag::kernels::rcm_tasks
