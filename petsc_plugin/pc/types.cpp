#include "pc/types.hpp"

#include <optional>

#include "boundary.hpp"

namespace taskdag::petsc {
namespace {

constexpr bool in_order() {
  for (std::size_t i = 0; i < pc_types.size(); ++i) {
    if (pc_types[i].type != static_cast<PCTaskDAGType>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "a type is found by its place in the table");

/// One text of each type that `wanted` takes.
template <class Wanted>
std::vector<const char*> collect(const char* PcType::*text, const Wanted& wanted) {
  std::vector<const char*> texts;
  for (const PcType& type : pc_types) {
    if (wanted(type)) texts.push_back(type.*text);
  }
  return texts;
}

bool any(const PcType&) { return true; }
bool with_halves(const PcType& type) { return type.has_halves; }

}  // namespace

const PcType* find_type(PCTaskDAGType type) {
  const auto place = static_cast<std::size_t>(type);
  return place < pc_types.size() ? &pc_types[place] : nullptr;
}

PetscErrorCode check_halves(MPI_Comm comm, const PcType& type) {
  PetscFunctionBegin;
  if (type.has_halves) PetscFunctionReturn(PETSC_SUCCESS);
  std::string names;
  PetscCall(guarded([&] { names = join(collect(&PcType::name, with_halves), " or "); }));
  SETERRQ(comm, PETSC_ERR_SUP, "TaskDAG applies symmetrically with -pc_taskdag_type %s only", names.c_str());
}

void settle_type(Settings* settings) {
  if (settings->type_given) return;
  SweepSettings sweeps = settings->sweeps;
  sweeps.tune = false;
  sweeps.tune_file.clear();
  const bool of_a_factor = sweeps != SweepSettings{} || settings->factor != FactorSettings{} || settings->eisenstat ||
                           settings->consolidate.mode != Consolidate::off;
  settings->type = of_a_factor ? PC_TASKDAG_ILU : PC_TASKDAG_AUTO;
}

OptionRow type_row() {
  return {"-pc_taskdag_type", find_type(Settings{}.type)->name, join(collect(&PcType::name, any)),
          "What to do: " + join(collect(&PcType::title, any), " or ") + "; without it " +
              find_type(PC_TASKDAG_ILU)->name + " where an option of factors has another value than its default"};
}

PetscErrorCode read_type(OptionItems items, Settings* settings) {
  PetscFunctionBegin;
  std::optional<OptionRow> option;
  std::vector<const char*> names;
  PetscCall(guarded([&] {
    option = type_row();
    names = collect(&PcType::name, any);
  }));
  auto place = static_cast<PetscInt>(settings->type);
  PetscBool given = PETSC_FALSE;
  PetscCall(read_list(items, *option, names, &place, &given));
  settings->type = static_cast<PCTaskDAGType>(place);
  if (given) settings->type_given = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
