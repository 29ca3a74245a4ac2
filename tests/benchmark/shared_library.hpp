/// \file
/// Functions of a library that a program is told of when it runs.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace taskdag::benchmark {

/// It stays loaded.
class SharedLibrary {
 public:
  /// @throws std::runtime_error where the file cannot be loaded
  explicit SharedLibrary(const std::string& file) : file_(file), library_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr) throw std::runtime_error(dlerror());
  }

  /// @throws std::runtime_error where it is not there
  template <class Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(file_ + " has no " + name);
  }

 private:
  std::string file_;
  void* library_;
};

}  // namespace taskdag::benchmark
