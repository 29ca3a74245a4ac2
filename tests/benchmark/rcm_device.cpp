#include "rcm_device.hpp"

#include <cuda_runtime_api.h>

#include <fstream>
#include <regex>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "backends/cuda/pool_use.hpp"
#include "base/index.hpp"
#include "taskdag/context.hpp"

namespace taskdag::benchmark {
namespace {

class PatternOnDevice final : public OnDevice {
 public:
  explicit PatternOnDevice(const CsrMatrix& a)
      : rows_(a.rows),
        offsets_(at(a.rows) + 1, nullptr),
        columns_(at(a.entries()), nullptr),
        order_(at(a.rows), nullptr) {
    cuda::copy_to_device(offsets_.data(), a.row_offsets.data(), offsets_.size(), nullptr);
    cuda::copy_to_device(columns_.data(), a.col_indices.data(), columns_.size(), nullptr);
    cuda::synchronize(nullptr);
  }
  [[nodiscard]] CsrPattern pattern() const override { return {rows_, rows_, offsets_.data(), columns_.data()}; }
  [[nodiscard]] Index* order() const override { return order_.data(); }
  [[nodiscard]] std::vector<Index> fetch() const override {
    return cuda::fetch_array(order_.data(), order_.size(), nullptr);
  }

 private:
  Index rows_;
  cuda::DeviceArray<Offset> offsets_;
  cuda::DeviceArray<Index> columns_;
  cuda::DeviceArray<Index> order_;
};

}  // namespace

std::unique_ptr<OnDevice> make_on_device(const CsrMatrix& a) { return std::make_unique<PatternOnDevice>(a); }

std::uint64_t most_device_bytes() { return cuda::most_device_bytes(); }

DeviceWords describe_device() {
  DeviceWords words;
  if (probe_devices().devices == 0) return words;
  words.gpu = cuda::name_of_device(0);
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch found;
  if (std::regex_search(line, found, std::regex("[0-9]{3,}\\.[0-9.]*[0-9]"))) words.driver = found.str();
  int number = 0;
  cuda::check(cudaRuntimeGetVersion(&number), "runtime version");
  words.cuda = std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
  return words;
}

}  // namespace taskdag::benchmark
