#include "petsc_rival.hpp"
#include "taskdag/error.hpp"

namespace taskdag::benchmark {

struct PetscRival::State {};

bool PetscRival::available() { return false; }
std::string PetscRival::version() { return "none"; }
PetscRival::PetscRival(const CsrMatrix&) { throw Unsupported("the benchmark was built without PETSc"); }
PetscRival::~PetscRival() = default;
void PetscRival::factor() {}
void PetscRival::solve(const double*, double*) {}

}  // namespace taskdag::benchmark
