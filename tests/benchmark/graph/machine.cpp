#include "machine.hpp"

#include <array>
#include <ctime>
#include <fstream>
#include <regex>

#include "../csv_text.hpp"

namespace taskdag::benchmark {
namespace {

#if defined(TASKDAG_BENCHMARK_CUDA)
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::smatch found;
  return std::regex_search(line, found, std::regex("[0-9]{3,}\\.[0-9.]*[0-9]")) ? found.str() : "";
}
#endif

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 16> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d", &utc);
  return text.data();
}

}  // namespace

Machine describe_graph_machine(const Context& context) {
  Machine machine;
  machine.commit = commit_name();
  machine.gpu = context.device_name();
  machine.date = today();
#if defined(TASKDAG_BENCHMARK_CUDA)
  if (context.backend() == Backend::cuda) {
    machine.driver = driver_version();
    machine.cuda = TASKDAG_BENCHMARK_CUDA;
  }
#endif
  return machine;
}

}  // namespace taskdag::benchmark
