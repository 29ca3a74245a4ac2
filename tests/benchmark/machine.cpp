#include "machine.hpp"

#include <cuda_runtime_api.h>
#include <cusparse.h>

#include <array>
#include <ctime>
#include <fstream>
#include <regex>

#include "backends/cuda/device.hpp"
#include "backends/cuda/memory.hpp"
#include "csv_text.hpp"
#include "hop.hpp"
#include "timing.hpp"

namespace taskdag::benchmark {
namespace {

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch found;
  if (std::regex_search(line, found, std::regex("[0-9]{3,}\\.[0-9.]*[0-9]"))) return found.str();
  int number = 0;
  cuda::check(cudaDriverGetVersion(&number), "driver version");
  return "for CUDA " + cuda_version(number);
}

std::string runtime_version() {
  int number = 0;
  cuda::check(cudaRuntimeGetVersion(&number), "runtime version");
  return cuda_version(number);
}

std::string cusparse_version() {
  std::string text;
  for (const libraryPropertyType part : {MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL}) {
    int number = 0;
    cusparseGetProperty(part, &number);
    if (!text.empty()) text += '.';
    text += std::to_string(number);
  }
  return text;
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

double copy_bandwidth() {
  constexpr std::size_t kBytes = std::size_t{1} << 29U;  // far beyond any cache
  const cuda::DeviceArray<char> from(kBytes, nullptr);
  const cuda::DeviceArray<char> to(kBytes, nullptr);
  cuda::check(cudaMemsetAsync(from.data(), 0, kBytes, nullptr), "clearing memory");
  const Timing time = time_on_device({}, [&] { cuda::copy_on_device(to.data(), from.data(), kBytes, nullptr); });
  return 2.0 * static_cast<double>(kBytes) / time.median;
}

}  // namespace

Machine describe_machine() {
  Machine machine;
  machine.commit = commit_name();
  machine.gpu = cuda::name_of_device(cuda::device_limits().device);
  machine.driver = driver_version();
  machine.cuda = runtime_version();
  machine.cusparse = cusparse_version();
  machine.date = today();
  machine.bytes_per_ms = copy_bandwidth();
  machine.hop_ms = measure_hop();
  return machine;
}

}  // namespace taskdag::benchmark
