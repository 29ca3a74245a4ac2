#include "mg/mg_types.hpp"

#include <array>
#include <utility>

#include "attachment.hpp"
#include "mg/cycle_of_pc.hpp"
#include "options.hpp"
#include "shared_error.hpp"

namespace taskdag::petsc {
namespace {

constexpr const char* kAttachment = "TaskDAGMG";

// PCMG, and types that PETSc makes of it: their constructors call that of PCMG.
constexpr std::array type_names{PCMG, PCGAMG, PCHMG};
using Constructor = PetscErrorCode (*)(PC);
std::array<Constructor, type_names.size()> petscs{};  ///< since PetscInitialize(); null: PETSc has no such type
bool used = false;                                    ///< by TaskDAGSetMG()

/// What travels with such a PC until it gets another type.
struct Wrapped {
  _PCOps theirs{};  ///< PETSc's operations
  CycleOfPc cycle;

  PetscErrorCode reset() { return cycle.reset(); }
};

/// Null where nothing is attached.
PetscErrorCode find_wrapped(PC pc, Wrapped** wrapped) {
  PetscFunctionBegin;
  PetscCall(find_attached(reinterpret_cast<PetscObject>(pc), kAttachment, wrapped));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Of a PC with operations of ours.
PetscErrorCode wrapped_of(PC pc, Wrapped** wrapped) {
  PetscFunctionBegin;
  PetscCall(find_wrapped(pc, wrapped));
  PetscCheck(*wrapped, PETSC_COMM_SELF, PETSC_ERR_PLIB, "a multigrid PC has lost what belongs to it");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Null: it stays PETSc's.
PetscErrorCode attach(PC pc, Wrapped** wrapped) {
  PetscFunctionBegin;
  auto* const object = reinterpret_cast<PetscObject>(pc);
  const PetscErrorCode attached =
      attach_to(object, kAttachment, "multigrid cycles are PETSc's and not TaskDAG's", wrapped);
  // PETSc has named the type before, and would take a repetition of PCSetType() for done.
  if (static_cast<int>(attached) != 0) PetscCall(PetscObjectChangeTypeName(object, nullptr));
  PetscCall(attached);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether cycles are to be ours.
PetscErrorCode is_asked_for(bool* asked) {
  PetscFunctionBegin;
  PetscBool use = to_petsc(used);
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-taskdag_mg", &use, nullptr));
  *asked = use == PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_up(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  bool asked = false;
  PetscCall(wrapped_of(pc, &wrapped));
  PetscCall(wrapped->theirs.setup(pc));
  PetscCall(is_asked_for(&asked));
  if (asked || wrapped->cycle.is_wanted())
    PetscCall(wrapped->cycle.take(pc));
  else
    PetscCall(wrapped->cycle.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Called before a solve, whether the KSP was told of new values or not: older releases would set up at the first
/// application, and whether a loop is ours is decided before.
PetscErrorCode set_up_on_blocks(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  bool asked = false;
  PetscCall(wrapped_of(pc, &wrapped));
  PetscCall(is_asked_for(&asked));
  if (asked) PetscCall(PCSetUp(pc));
  if (wrapped->theirs.setuponblocks) PetscCall(wrapped->theirs.setuponblocks(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode apply(PC pc, Vec b, Vec x) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  bool done = false;
  PetscCall(wrapped_of(pc, &wrapped));
  PetscCall(wrapped->cycle.apply(pc, b, x, &done));
  if (!done) PetscCall(wrapped->theirs.apply(pc, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode view(PC pc, PetscViewer viewer) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscBool ascii = PETSC_FALSE;
  PetscCall(wrapped_of(pc, &wrapped));
  if (wrapped->theirs.view) PetscCall(wrapped->theirs.view(pc, viewer));
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(viewer), PETSCVIEWERASCII, &ascii));
  if (ascii) PetscCall(wrapped->cycle.view(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode reset(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(pc, &wrapped));
  PetscCall(wrapped->cycle.reset());
  if (wrapped->theirs.reset) PetscCall(wrapped->theirs.reset(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode destroy(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(wrapped_of(pc, &wrapped));
  PetscCall(wrapped->theirs.destroy(pc));
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), kFindOwnApplication, nullptr));
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(pc), kAttachment, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// FindOwnApplication. A type that PETSc makes of PCMG and that is none of the above may have put another application
/// in the place of ours.
PetscErrorCode find_own_application(PC pc, OwnApplication** own) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(find_wrapped(pc, &wrapped));
  *own = wrapped && wrapped->cycle.is_there() && pc->ops->apply == apply ? &wrapped->cycle : nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Puts ours in the place of an operation, and keeps it.
template <class Operation>
void put(Operation ours, Operation& now, Operation& theirs) {
  if (now != ours) theirs = std::exchange(now, ours);
}

/// What PCMG's constructor, called by that of another type, has wrapped already is wrapped once.
PetscErrorCode wrap(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(find_wrapped(pc, &wrapped));
  if (!wrapped) PetscCall(attach(pc, &wrapped));
  if (!wrapped) PetscFunctionReturn(PETSC_SUCCESS);  // it stays PETSc's
  put(set_up, pc->ops->setup, wrapped->theirs.setup);
  put(set_up_on_blocks, pc->ops->setuponblocks, wrapped->theirs.setuponblocks);
  put(apply, pc->ops->apply, wrapped->theirs.apply);
  put(view, pc->ops->view, wrapped->theirs.view);
  put(reset, pc->ops->reset, wrapped->theirs.reset);
  put(destroy, pc->ops->destroy, wrapped->theirs.destroy);
  PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(pc), kFindOwnApplication, find_own_application));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t place>
PetscErrorCode construct(PC pc) {
  PetscFunctionBegin;
  PetscCall(petscs[place](pc));
  PetscCall(wrap(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t place>
PetscErrorCode register_type() {
  PetscFunctionBegin;
  PetscCall(PetscFunctionListFind(PCList, type_names[place], &petscs[place]));
  if (petscs[place]) PetscCall(PCRegister(type_names[place], construct<place>));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <std::size_t... places>
PetscErrorCode register_types(std::index_sequence<places...> /*places*/) {
  PetscFunctionBegin;
  for (const auto one : {register_type<places>...}) PetscCall(one());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

void use_mg(bool use) { used = use; }

/// One that was made before the plugin was loaded is wrapped now.
PetscErrorCode set_up_with_cycle(PC pc, const BackendSettings& settings) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscBool multigrid = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompareAny(reinterpret_cast<PetscObject>(pc), &multigrid, PCGAMG, PCMG, PCHMG, ""));
  PetscCheck(multigrid, PetscObjectComm(reinterpret_cast<PetscObject>(pc)), PETSC_ERR_ARG_WRONG,
             "-pc_taskdag_type mg is set up by a preconditioner of type gamg, mg or hmg, not by one of type %s",
             reinterpret_cast<PetscObject>(pc)->type_name ? reinterpret_cast<PetscObject>(pc)->type_name : "(none)");
  PetscCall(find_wrapped(pc, &wrapped));
  if (!wrapped) PetscCall(wrap(pc));
  PetscCall(find_wrapped(pc, &wrapped));
  if (wrapped) wrapped->cycle.want(settings);
  PetscCall(PCSetUp(pc));
  if (wrapped && !wrapped->cycle.has_looked()) PetscCall(wrapped->cycle.take(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode drop_cycle(PC pc) {
  PetscFunctionBegin;
  Wrapped* wrapped = nullptr;
  PetscCall(find_wrapped(pc, &wrapped));
  if (wrapped) PetscCall(wrapped->cycle.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The option is read for the sake of -help, and to complain of other values early.
PetscErrorCode register_mg() {
  PetscFunctionBegin;
  Settings settings;
  used = false;
  PetscCall(read_titled(nullptr, by_petscs_mg, &settings));
  PetscCall(PCInitializePackage());
  PetscCall(register_types(std::make_index_sequence<type_names.size()>{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
