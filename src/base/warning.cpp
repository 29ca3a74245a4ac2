#include "base/warning.hpp"

#include <cstdio>
#include <mutex>
#include <set>

namespace taskdag {

void warn_once(const std::string& what) {
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::string text = "TaskDAG: warning: " + what + "\n";
  const std::lock_guard lock(mutex);
  constexpr std::size_t kMost = 100;
  if (said.size() < kMost && said.insert(text).second) static_cast<void>(std::fputs(text.c_str(), stderr));
}

}  // namespace taskdag
