#include "pc/types.hpp"

#include <string>
#include <vector>

#include "boundary.hpp"
#include "options.hpp"

namespace taskdag::petsc {
const PcType* find_type(PCTaskDAGType type) {
  const auto place = static_cast<std::size_t>(type);
  return place < pc_types.size() ? &pc_types[place] : nullptr;
}

PetscErrorCode check_halves(MPI_Comm comm, const PcType& type) {
  PetscFunctionBegin;
  if (type.has_halves) PetscFunctionReturn(PETSC_SUCCESS);
  std::string names;
  PetscCall(guarded([&] {
    std::vector<const char*> with_halves;
    for (const PcType& one : pc_types) {
      if (one.has_halves) with_halves.push_back(one.name);
    }
    names = join(with_halves, " or ");
  }));
  SETERRQ(comm, PETSC_ERR_SUP, "TaskDAG applies symmetrically with -pc_taskdag_type %s only", names.c_str());
}

void settle_type(Settings* settings) {
  if (settings->type_given) return;
  SweepSettings sweeps = settings->sweeps;
  sweeps.tune = false;
  sweeps.tune_file.clear();
  const bool of_a_factor = sweeps != SweepSettings{} || settings->factor != FactorSettings{} || settings->eisenstat ||
                           settings->consolidate.mode != Consolidate::off || settings->across != Across::off;
  settings->type = of_a_factor ? PC_TASKDAG_ILU : Settings{}.type;
}

}  // namespace taskdag::petsc
