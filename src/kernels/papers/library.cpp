/// \file
/// libtaskdag_papers, opened when one of its names is first asked for.
#include <dlfcn.h>

#include <mutex>
#include <string>
#include <string_view>
#include <taskdag_build/name.hpp>

#include "kernels/papers/own_memory.hpp"
#include "kernels/papers/papers.hpp"
#include "taskdag/error.hpp"

// Null where the papers' objects are not linked with the program.
extern "C" [[gnu::weak]] const taskdag::kernels::Papers* taskdag_papers(const taskdag::cuda::MemoryFunctions*);

namespace taskdag::kernels {
namespace {

using Table = const Papers* (*)(const cuda::MemoryFunctions*);

/// The folder of the file that holds this code, with a slash; empty where the system does not say.
std::string own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&has_papers), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string_view file = info.dli_fname;
  return std::string(file.substr(0, file.rfind('/') + 1));
}

/// Stays open for the rest of the process: what is made by it may be destroyed at any time.
void* open_library(std::string& reasons) {
  for (const std::string& name : {own_folder() + TASKDAG_PAPERS_FILE, std::string(TASKDAG_PAPERS_FILE)}) {
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
    // NOLINTNEXTLINE(concurrency-mt-unsafe): glibc keeps the message by thread
    reasons += std::string("; ") + dlerror();
  }
  return nullptr;
}

/// Null, and why, where it cannot be used.
const Papers* find_table(std::string& reasons) {
  Table table = taskdag_papers;
  if (table == nullptr) {
    void* const library = open_library(reasons);
    if (library == nullptr) return nullptr;
    table = reinterpret_cast<Table>(dlsym(library, "taskdag_papers"));
  }
  if (table == nullptr) {
    reasons += "; it has no table";
    return nullptr;
  }
  const Papers* const found = table(own_memory());
  if (std::string_view(found->build) == TASKDAG_BUILD) return found;
  reasons += std::string("; it is of ") + found->build + ", and this is " + TASKDAG_BUILD;
  return nullptr;
}

const Papers* table_once(std::string& reasons) {
  static std::mutex mutex;
  static const Papers* table = nullptr;
  const std::lock_guard lock(mutex);
  if (table == nullptr) table = find_table(reasons);
  return table;
}

}  // namespace

const Papers& papers(const std::string& wanted) {
  std::string reasons;
  if (const Papers* const table = table_once(reasons)) return *table;
  throw Unsupported(
      wanted + " is one of the papers', which are in " TASKDAG_PAPERS_FILE ": install it beside libtaskdag" + reasons);
}

bool has_papers() {
  std::string reasons;
  return table_once(reasons) != nullptr;
}

}  // namespace taskdag::kernels
