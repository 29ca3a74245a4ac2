#include "rival.hpp"

#include <dlfcn.h>

#include <stdexcept>

namespace taskdag::benchmark {
namespace {

template <class Function>
void find(void* library, const std::string& file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw std::runtime_error(file + " has no " + name);
}

}  // namespace

Rival::Rival(const std::string& file) {
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  find(library, file, "taskdag_rival_name", name);
  find(library, file, "taskdag_rival_schedule", schedule);
  find(library, file, "taskdag_rival_pack", pack);
  find(library, file, "taskdag_rival_solve", solve);
  find(library, file, "taskdag_rival_free", free);
}

}  // namespace taskdag::benchmark
