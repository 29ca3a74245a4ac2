#include "pc/pc_taskdag.hpp"

#include <array>
#include <tuple>

#include "boundary.hpp"
#include "compat.hpp"
#include "matfactor/factor_bridge.hpp"
#include "options.hpp"
#include "ordering/attached_blocks.hpp"
#include "ordering/choice.hpp"
#include "ordering/orderings.hpp"
#include "pc/jacobi_bridge.hpp"

namespace taskdag::petsc {
namespace {

/// State behind a PC of this type.
struct Data {
  Settings settings;
  FactorBridge factor;
  JacobiBridge jacobi;
  IS row = nullptr;  ///< the factor's ordering, held for -pc_factor_reuse_ordering
  IS col = nullptr;
  OrderingChoice ordering;             ///< the ordering in use, and why, where it was chosen automatically
  PCFailedReason failed = PC_NOERROR;  ///< the same on all ranks
};

Data& data_of(PC pc) { return *static_cast<Data*>(pc->data); }

bool is_jacobi(const Data& data) { return data.settings.type == PC_TASKDAG_JACOBI; }

FactorOptions options_of(const Settings& s) {
  const FactorKind kind = s.type == PC_TASKDAG_ICC ? FactorKind::ic0 : FactorKind::ilu0;
  return factor_options(kind, effective_shift(s), s.shift_amount, s.zero_pivot, s.levels, s.fill, s.sweeps);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscCall(data.factor.reset());
  PetscCall(data.jacobi.reset());
  PetscCall(ISDestroy(&data.row));
  PetscCall(ISDestroy(&data.col));
  data.ordering = {};
  data.failed = PC_NOERROR;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// After a change of settings: what was set up no longer counts.
PetscErrorCode start_over(PC pc) {
  PetscFunctionBegin;
  PetscCall(reset(pc));
  forget_setup(pc);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A failure on one rank is a failure of all: else some would go on into a collective operation.
PetscErrorCode share_failure(PC pc, MatFactorError error) {
  PetscFunctionBegin;
  // The two enumerations count the same failures alike, as PETSc's own factorisation preconditioners rely on.
  int mine = static_cast<int>(error);
  int worst = 0;
  PetscCallMPI(MPI_Allreduce(&mine, &worst, 1, MPI_INT, MPI_MAX, PetscObjectComm(reinterpret_cast<PetscObject>(pc))));
  data_of(pc).failed = static_cast<PCFailedReason>(worst);
  PetscCall(PCSetFailedReason(pc, data_of(pc).failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode order(PC pc, Mat matrix) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (data.row && data.settings.reuse_ordering) {
    PetscInt ordered = 0;
    PetscInt rows = 0;
    PetscCall(ISGetLocalSize(data.row, &ordered));
    PetscCall(MatGetLocalSize(matrix, &rows, nullptr));
    if (ordered == rows) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ISDestroy(&data.row));
  PetscCall(ISDestroy(&data.col));
  const Settings& s = data.settings;
  if (s.ordering == ordering_auto)
    PetscCall(choose_ordering(matrix, s.fill == FillScope::blocks ? 0 : s.levels, s.backend, &data.ordering));
  else
    PetscCall(guarded([&] { data.ordering = {s.ordering, ""}; }));
  PetscCall(make_ordering(matrix, data.ordering.name, s.backend, &data.row, &data.col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode setup_factor(PC pc, Mat matrix, bool same_pattern) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  const FactorOptions options = options_of(data.settings);
  if (!same_pattern) {
    PetscCall(order(pc, matrix));
    PetscCall(data.factor.analyse(matrix, data.row, data.col, options, data.settings.backend));
  }
  FactorFailure failure;
  PetscCall(data.factor.factor(matrix, options, pc->erroriffailure == PETSC_TRUE, &failure));
  PetscCall(share_failure(pc, failure.error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  PetscCheck(data.settings.type != PC_TASKDAG_SOR, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_SUP,
             "-pc_taskdag_type sor is not built yet: Gauss-Seidel and SOR sweeps are planned; use ilu, icc or jacobi");
  // The rank's own rows and columns: the whole matrix where there is one rank only.
  Mat matrix = nullptr;
  PetscCall(MatGetDiagonalBlock(pc->pmat, &matrix));
  const bool same_pattern = pc->setupcalled && pc->flag == SAME_NONZERO_PATTERN;
  if (!is_jacobi(data))
    PetscCall(setup_factor(pc, matrix, same_pattern));
  else if (same_pattern)
    PetscCall(data.jacobi.update(matrix));
  else
    PetscCall(data.jacobi.analyse(matrix, data.settings.jacobi, data.settings.backend));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode poison_result(PC pc, Vec x) { return poison(x, data_of(pc).failed); }

PetscErrorCode poison_result(PC pc, Mat x) {
  PetscFunctionBegin;
  PetscInt columns = 0;
  PetscCall(MatGetSize(x, nullptr, &columns));
  for (PetscInt k = 0; k < columns; ++k) {
    Vec column = nullptr;
    PetscCall(MatDenseGetColumnVecWrite(x, k, &column));
    PetscCall(poison(column, data_of(pc).failed));
    PetscCall(MatDenseRestoreColumnVecWrite(x, k, &column));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Object>
PetscErrorCode apply_part(PC pc, Apply part, Object b, Object x) {
  PetscFunctionBegin;
  Data& data = data_of(pc);
  if (data.failed != PC_NOERROR)
    PetscCall(poison_result(pc, x));
  else if (is_jacobi(data))
    PetscCall(data.jacobi.apply(part == Apply::transposed, b, x));
  else
    PetscCall(data.factor.apply(part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) { return apply_part(pc, Apply::full, b, x); }
PetscErrorCode apply_transpose(PC pc, Vec b, Vec x) { return apply_part(pc, Apply::transposed, b, x); }
PetscErrorCode mat_apply(PC pc, Mat b, Mat x) { return apply_part(pc, Apply::full, b, x); }
PetscErrorCode mat_apply_transpose(PC pc, Mat b, Mat x) { return apply_part(pc, Apply::transposed, b, x); }

PetscErrorCode apply_half(PC pc, Apply part, Vec b, Vec x) {
  PetscFunctionBegin;
  PetscCheck(data_of(pc).settings.type == PC_TASKDAG_ICC, PetscObjectComm(reinterpret_cast<PetscObject>(pc)),
             PETSC_ERR_SUP, "TaskDAG applies symmetrically with -pc_taskdag_type icc only");
  PetscCall(apply_part(pc, part, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply_left(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_left, b, x); }
PetscErrorCode apply_right(PC pc, Vec b, Vec x) { return apply_half(pc, Apply::symmetric_right, b, x); }

auto compared(const Settings& s) {
  return std::tuple(s.type, s.backend.wanted, s.backend.threads, s.jacobi.sweeps, s.jacobi.damping, s.jacobi.diagonal,
                    s.jacobi.absolute, s.ordering, effective_shift(s), s.shift_amount, s.zero_pivot, s.levels, s.fill,
                    s.sweeps.schedule, s.sweeps.tune, s.sweeps.tune_file);
}

PetscErrorCode set_from_options(PC pc, OptionItems items) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(guarded([&] { settings = data_of(pc).settings; }));
  PetscCall(read_pc_options(items, settings));
  bool changed = false;
  PetscCall(guarded([&] {
    changed = compared(settings) != compared(data_of(pc).settings);
    data_of(pc).settings = settings;
  }));
  if (changed) PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view_factor(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  const Settings& s = data_of(pc).settings;
  const OrderingChoice& ordering = data_of(pc).ordering;
  std::string text;
  PetscCall(describe_blocks(data_of(pc).row, &text));
  PetscCall(guarded([&] {
    if (!text.empty()) text = ": " + text;
    text = (ordering.name.empty() ? s.ordering : ordering.name) + text;
    if (!ordering.reason.empty()) text += " (" + ordering.reason + ")";
  }));
  PetscCall(
      PetscViewerASCIIPrintf(viewer, "  matrix ordering: %s%s\n", text.c_str(), s.reuse_ordering ? ", reused" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  shift: %s, amount %g; tolerance for zero pivot %g\n",
                                   MatFactorShiftTypes[effective_shift(s)], s.shift_amount, s.zero_pivot));
  PetscCall(data_of(pc).factor.view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (!ascii) PetscFunctionReturn(PETSC_SUCCESS);
  constexpr std::array<const char*, 4> names = {"ilu", "icc", "jacobi", "sor"};
  PetscCall(PetscViewerASCIIPrintf(viewer, "  type: %s\n", names[static_cast<std::size_t>(data_of(pc).settings.type)]));
  if (is_jacobi(data_of(pc)))
    PetscCall(data_of(pc).jacobi.view(viewer));
  else
    PetscCall(view_factor(pc, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_type(PC pc, PCTaskDAGType type) {
  PetscFunctionBegin;
  PetscCheck(type >= PC_TASKDAG_ILU && type <= PC_TASKDAG_SOR, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "PCTaskDAGType %d is not known", static_cast<int>(type));
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

// PETSc's own setters for factor options reach this preconditioner as well.

PetscErrorCode set_shift_type(PC pc, MatFactorShiftType type) {
  PetscFunctionBegin;
  Settings& s = data_of(pc).settings;
  s.shift_chosen = static_cast<int>(type) != PETSC_DECIDE;
  if (s.shift_chosen) s.shift = type;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_shift_amount(PC pc, PetscReal amount) {
  PetscFunctionBegin;
  const bool decide = amount == static_cast<PetscReal>(PETSC_DECIDE);
  data_of(pc).settings.shift_amount = decide ? Settings{}.shift_amount : amount;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_zero_pivot(PC pc, PetscReal tolerance) {
  PetscFunctionBegin;
  data_of(pc).settings.zero_pivot = tolerance;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_levels(PC pc, PetscInt levels) {
  PetscFunctionBegin;
  PetscCheck(levels >= 0, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "the levels of fill must be 0 or more, not %" PetscInt_FMT, levels);
  data_of(pc).settings.levels = levels;
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode get_levels(PC pc, PetscInt* levels) {
  *levels = data_of(pc).settings.levels;
  return PETSC_SUCCESS;
}

PetscErrorCode set_ordering(PC pc, MatOrderingType type) {
  PetscFunctionBegin;
  PetscCall(guarded([&] { data_of(pc).settings.ordering = type; }));
  PetscCall(start_over(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_reuse_ordering(PC pc, PetscBool reuse) {
  data_of(pc).settings.reuse_ordering = reuse == PETSC_TRUE;
  return PETSC_SUCCESS;
}

PetscErrorCode compose(PC pc, bool present) {
  PetscFunctionBegin;
  auto* object = reinterpret_cast<PetscObject>(pc);
  PetscCall(PetscObjectComposeFunction(object, "PCTaskDAGSetType_C", present ? set_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCTaskDAGSetBackend_C", present ? set_backend : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetShiftType_C", present ? set_shift_type : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetShiftAmount_C", present ? set_shift_amount : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetZeroPivot_C", present ? set_zero_pivot : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetLevels_C", present ? set_levels : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorGetLevels_C", present ? get_levels : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetMatOrderingType_C", present ? set_ordering : nullptr));
  PetscCall(PetscObjectComposeFunction(object, "PCFactorSetReuseOrdering_C", present ? set_reuse_ordering : nullptr));
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
  PetscCall(guarded([&] { pc->data = new Data; }));
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
