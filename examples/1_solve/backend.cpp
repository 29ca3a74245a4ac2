#include "backend.hpp"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

namespace example {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

/// What -ksp_view prints.
std::string view_text(KSP ksp) {
  MPI_Comm comm = PetscObjectComm(reinterpret_cast<PetscObject>(ksp));
  const std::unique_ptr<std::FILE, CloseFile> file(std::tmpfile());
  if (file == nullptr) return {};
  PetscViewer viewer = nullptr;
  PetscCallAbort(comm, PetscViewerASCIIOpenWithFILE(comm, file.get(), &viewer));
  PetscCallAbort(comm, KSPView(ksp, viewer));
  PetscCallAbort(comm, PetscViewerDestroy(&viewer));
  std::rewind(file.get());
  std::string text;
  std::array<char, 4096> part{};
  for (std::size_t got = 0; (got = std::fread(part.data(), 1, part.size(), file.get())) > 0;)
    text.append(part.data(), got);
  return text;
}

}  // namespace

std::string backend_of(KSP ksp) {
  const std::string text = view_text(ksp);
  const std::string key = "backend: ";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return "PETSc";
  const std::size_t begin = at + key.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace example
