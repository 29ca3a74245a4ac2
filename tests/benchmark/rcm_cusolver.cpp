// cuSOLVER is opened when it is asked for: neither the library nor its headers are needed to build. What is called has
// been the same since CUDA 7; handles are opaque pointers.
#include <dlfcn.h>

#include "rcm_rivals.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {
namespace {

using Handle = void*;
using Create = int (*)(Handle*);
using Destroy = int (*)(Handle);
using Rcm = int (*)(Handle, int rows, int entries, Handle matrix, const int* offsets, const int* columns, int* order);
using Property = int (*)(int part, int* value);

void* open_any(std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
Function find(void* library, const char* name) {
  const auto function = reinterpret_cast<Function>(dlsym(library, name));
  if (!function) throw Error(std::string("no function ") + name);
  return function;
}

void check(int status, const char* what) {
  if (status != 0) throw Error(std::string(what) + ": status " + std::to_string(status));
}

/// Stays open for the rest of the process.
struct Libraries {
  void* cusolver = open_any({"libcusolver.so.12", "libcusolver.so.11", "libcusolver.so"});
  void* cusparse = open_any({"libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"});
};

class CusolverRcm final : public RcmRival {
 public:
  CusolverRcm(const Libraries& libraries, const CsrMatrix& a)
      : a_(a),
        destroy_(find<Destroy>(libraries.cusolver, "cusolverSpDestroy")),
        destroy_matrix_(find<Destroy>(libraries.cusparse, "cusparseDestroyMatDescr")),
        rcm_(find<Rcm>(libraries.cusolver, "cusolverSpXcsrsymrcmHost")) {
    check(find<Create>(libraries.cusolver, "cusolverSpCreate")(&handle_), "cusolverSpCreate");
    check(find<Create>(libraries.cusparse, "cusparseCreateMatDescr")(&matrix_), "cusparseCreateMatDescr");
  }
  ~CusolverRcm() override {
    static_cast<void>(destroy_matrix_(matrix_));
    static_cast<void>(destroy_(handle_));
  }
  CusolverRcm(const CusolverRcm&) = delete;
  CusolverRcm& operator=(const CusolverRcm&) = delete;

  std::vector<Index> order() override {
    std::vector<Index> result(static_cast<std::size_t>(a_.rows));
    check(rcm_(handle_, a_.rows, a_.entries(), matrix_, a_.row_offsets.data(), a_.col_indices.data(), result.data()),
          "cusolverSpXcsrsymrcmHost");
    return result;
  }

 private:
  const CsrMatrix& a_;
  Destroy destroy_;
  Destroy destroy_matrix_;
  Rcm rcm_;
  Handle handle_ = nullptr;
  Handle matrix_ = nullptr;
};

}  // namespace

std::unique_ptr<RcmRival> make_cusolver_rcm(const CsrMatrix& a, std::string& version) {
  static const Libraries libraries;
  if (!libraries.cusolver || !libraries.cusparse) return nullptr;
  const auto property = find<Property>(libraries.cusolver, "cusolverGetProperty");
  version = "cuSOLVER ";
  for (const int part : {0, 1, 2}) {
    int value = 0;
    check(property(part, &value), "cusolverGetProperty");
    if (part > 0) version += '.';
    version += std::to_string(value);
  }
  return std::make_unique<CusolverRcm>(libraries, a);
}

}  // namespace taskdag::benchmark
