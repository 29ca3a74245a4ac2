#include "pc/pc_taskdag.hpp"

#include <memory>
#include <optional>

#include "boundary.hpp"
#include "compat.hpp"
#include "mat/poison.hpp"
#include "pc/pc_options.hpp"
#include "pc/preconditioner.hpp"
#include "pc/types.hpp"

namespace taskdag::petsc {
namespace {

/// State behind a PC of this type.
struct Data {
  Settings settings;
  std::unique_ptr<Preconditioner> preconditioner;  ///< of the type in the settings, or null: not made yet
  PCFailedReason failed = PC_NOERROR;              ///< the same on all ranks
};

Data& data_of(PC pc) { return *static_cast<Data*>(pc->data); }

const PcType& type_of(PC pc) { return *find_type(data_of(pc).settings.type); }

MPI_Comm comm_of(PC pc) { return PetscObjectComm(reinterpret_cast<PetscObject>(pc)); }

PetscErrorCode make_preconditioner(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (!data.preconditioner) PetscCall(guarded([&] { data.preconditioner = type_of(pc).make(data.settings); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc keeps a reason until somebody sets another one, whatever becomes of what has failed.
PetscErrorCode forget_failure(PC pc) {
  PetscFunctionBegin;
  data_of(pc).failed = PC_NOERROR;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscCall(forget_failure(pc));
  if (data.preconditioner) PetscCall(data.preconditioner->reset());
  PetscCall(guarded([&] { data.preconditioner.reset(); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A failure on one rank is a failure of all: else some would go on into a collective operation.
PetscErrorCode share_failure(PC pc, MatFactorError error) {
  PetscFunctionBegin;
  // The two enumerations count the same failures alike, as PETSc's own factorisation preconditioners rely on.
  int mine = static_cast<int>(error);
  int worst = 0;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, comm_of(pc)));
  data_of(pc).failed = static_cast<PCFailedReason>(worst);
  PetscCall(PCSetFailedReason(pc, data_of(pc).failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode make_ready(PC pc) {
  PetscFunctionBegin;
  PetscCall(forget_failure(pc));
  PetscCall(check_available(comm_of(pc), type_of(pc)));
  // The rank's own rows and columns: the whole matrix where there is one rank only.
  Mat matrix = nullptr;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &matrix));
  PetscCall(make_preconditioner(pc));
  Preconditioner& preconditioner = *data_of(pc).preconditioner;
  const bool error_if_failure = pc->erroriffailure == PETSC_TRUE;
  if (pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN)
    PetscCall(preconditioner.update(matrix, error_if_failure));
  else
    PetscCall(preconditioner.analyse(matrix, error_if_failure));
  const std::optional<MatFactorError> failure = preconditioner.failure();
  if (failure) PetscCall(share_failure(pc, *failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  const PetscErrorCode ready = make_ready(pc);
  // PETSc has noted the state of the matrix before, and would take a repetition for done.
  if (static_cast<int>(ready) != 0) (void)start_over(pc);
  PetscCall(ready);
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Object>
PetscErrorCode apply_part(PC pc, Apply part, Object b, Object x) {
  PetscFunctionBegin;
  if (data_of(pc).failed != PC_NOERROR)
    PetscCall(poison(x, data_of(pc).failed));
  else
    PetscCall(data_of(pc).preconditioner->apply(part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) { return apply_part(pc, Apply::full, b, x); }
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) { return apply_part(pc, Apply::transposed, b, x); }
PetscErrorCode mat_apply(PC pc, Mat b, Mat x) { return apply_part(pc, Apply::full, b, x); }
PetscErrorCode mat_apply_transpose(PC pc, Mat b, Mat x) { return apply_part(pc, Apply::transposed, b, x); }

PetscErrorCode apply_half(PC pc, Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCall(check_halves(comm_of(pc), type_of(pc)));
  PetscCall(apply_part(pc, part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_left(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_left, b, x); }
PetscErrorCode apply_right(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_right, b, x); }

PetscErrorCode set_from_options(PC pc, OptionItems items) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(guarded([&] { settings = data_of(pc).settings; }));
  PetscCall(read_pc_options(items, &settings));
  if (!same_setup(settings, data_of(pc).settings)) PetscCall(start_over(pc));
  data_of(pc).settings = std::move(settings);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  type: %s\n", type_of(pc).name));
  if (!type_of(pc).make) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(make_preconditioner(pc));
  PetscCall(data_of(pc).preconditioner->view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_type(PC pc, PCTaskDAGType type) {
  PetscFunctionBegin;
  PetscCheck(find_type(type), PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE, "PCTaskDAGType %d is not known",
             static_cast<int>(type));
  if (data_of(pc).settings.type != type) PetscCall(start_over(pc));
  data_of(pc).settings.type = type;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_backend(PC pc, PCTaskDAGBackend backend) {
  PetscFunctionBegin;
  PetscCheck(backend >= PC_TASKDAG_BACKEND_AUTO && backend <= PC_TASKDAG_BACKEND_HOST, PETSC_COMM_SELF,
             PETSC_ERR_ARG_OUTOFRANGE, "PCTaskDAGBackend %d is not known", static_cast<int>(backend));
  static_assert(static_cast<int>(Backend::automatic) == PC_TASKDAG_BACKEND_AUTO);
  static_assert(static_cast<int>(Backend::cuda) == PC_TASKDAG_BACKEND_CUDA);
  static_assert(static_cast<int>(Backend::host) == PC_TASKDAG_BACKEND_HOST);
  const auto chosen = static_cast<Backend>(backend);
  if (data_of(pc).settings.backend.wanted != chosen) PetscCall(start_over(pc));
  data_of(pc).settings.backend.wanted = chosen;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode compose(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCTaskDAGSetType_C", present ? set_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCTaskDAGSetBackend_C", present ? set_backend : nullptr));
  for (const TypeOptions& options : type_options) {
    if (options.compose_setters) PetscCall(options.compose_setters(pc, present));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  PetscCall(guarded([&] { delete static_cast<Data*>(pc->data); }));
  pc->data = nullptr;
  PetscCall(compose(pc, false));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode create(PC pc) {
  PetscFunctionBegin;
  const PetscErrorCode made = guarded([&] { pc->data = new Data; });
  // PETSc has named the type before, and would take a repetition of PCSetType() for done.
  if (static_cast<int>(made) != 0) PetscCall(PetscObjectChangeTypeName(reinterpret_cast<PetscObject>(pc), nullptr));
  PetscCall(made);
  pc->ops->setup = set_up;
  pc->ops->apply = apply;
  pc->ops->applytranspose = apply_transpose;
  pc->ops->matapply = mat_apply;
  set_optional_operations(pc, mat_apply_transpose);
  pc->ops->applysymmetricleft = apply_left;
  pc->ops->applysymmetricright = apply_right;
  pc->ops->setfromoptions = set_from_options;
  pc->ops->view = view;
  pc->ops->reset = reset;
  pc->ops->destroy = destroy;
  PetscCall(compose(pc, true));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

Settings& settings_of(PC pc) { return data_of(pc).settings; }

PetscErrorCode start_over(PC pc) {
  PetscFunctionBegin;
  forget_setup(pc);
  PetscCall(reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode register_pc() {
  PetscFunctionBegin;
  PetscCall(PCRegister(PCTASKDAG, create));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc

PetscErrorCode PCTaskDAGSetType(PC pc, PCTaskDAGType type) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTaskDAGSetType_C", (PC, PCTaskDAGType), (pc, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCTaskDAGSetBackend(PC pc, PCTaskDAGBackend backend) {
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscTryMethod(pc, "PCTaskDAGSetBackend_C", (PC, PCTaskDAGBackend), (pc, backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}
