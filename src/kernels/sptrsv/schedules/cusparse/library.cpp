#include "kernels/sptrsv/schedules/cusparse/library.hpp"

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <string>

#include "taskdag/error.hpp"

namespace taskdag::kernels {
namespace {

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw DeviceError(std::string("the cusparse schedule: libcusparse has no function ") + name);
}

CusparseFunctions functions_of(void* library) {
  CusparseFunctions f{};
  find(library, "cusparseCreate", f.create);
  find(library, "cusparseDestroy", f.destroy);
  find(library, "cusparseSetStream", f.set_stream);
  find(library, "cusparseGetErrorString", f.error_string);
  find(library, "cusparseCreateCsr", f.create_csr);
  find(library, "cusparseDestroySpMat", f.destroy_matrix);
  find(library, "cusparseSpMatSetAttribute", f.set_attribute);
  find(library, "cusparseCreateDnVec", f.create_vector);
  find(library, "cusparseDestroyDnVec", f.destroy_vector);
  find(library, "cusparseDnVecSetValues", f.set_vector);
  find(library, "cusparseSpSV_createDescr", f.create_solve);
  find(library, "cusparseSpSV_destroyDescr", f.destroy_solve);
  find(library, "cusparseSpSV_bufferSize", f.buffer_size);
  find(library, "cusparseSpSV_analysis", f.analysis);
  find(library, "cusparseSpSV_solve", f.solve);
  find(library, "cusparseSpSV_updateMatrix", f.update);
  return f;
}

/// The version without a number in its name may be any: its major version must be ours.
bool is_our_major(void* library) {
  decltype(&cusparseGetProperty) get_property = nullptr;
  find(library, "cusparseGetProperty", get_property);
  int major = 0;
  return get_property(MAJOR_VERSION, &major) == CUSPARSE_STATUS_SUCCESS && major == CUSPARSE_VER_MAJOR;
}

/// Stays open for the rest of the process: handles made from it may be destroyed at any time.
void* open_library() {
  const std::string numbered = "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR);
  std::string reasons;
  for (const std::string& name : {numbered, std::string("libcusparse.so")}) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps the message by thread
      reasons += std::string("; ") + dlerror();
    } else if (is_our_major(library)) {
      return library;
    } else {
      reasons += "; " + name + " has another major version";
      dlclose(library);
    }
  }
  throw DeviceError("the cusparse schedule needs " + numbered + ", which cannot be opened" + reasons);
}

}  // namespace

const CusparseFunctions& cusparse_functions() {
  static std::mutex mutex;
  static std::optional<CusparseFunctions> functions;
  const std::lock_guard lock(mutex);
  if (!functions) functions = functions_of(open_library());
  return *functions;
}

void check(cusparseStatus_t status, const char* what) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const std::string message = std::string(what) + ": " + cusparse_functions().error_string(status);
  if (status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES) {
    throw OutOfMemory(message);
  }
  throw DeviceError(message);
}

}  // namespace taskdag::kernels
