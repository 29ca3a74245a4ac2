/// \file
/// The one file that knows how PETSc's interface differs between the releases that the plugin is built for.
#pragma once

#include <petsc/private/kspimpl.h>
#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/pcmgimpl.h>
#include <petscdevice.h>
#include <petscksp.h>

#include <array>

#include "scalar.hpp"
#include "taskdag/context.hpp"

#if PETSC_VERSION_LT(3, 18, 0)
#error "TaskDAG's plugin needs PETSc 3.18 or newer"
#endif
#if !defined(PETSC_USE_REAL_DOUBLE) && !defined(PETSC_USE_REAL_SINGLE)
#error "TaskDAG's plugin needs a PETSc whose scalars are in double or single precision"
#endif
#if defined(PETSC_USE_REAL_SINGLE) && defined(PETSC_USE_COMPLEX)
#error "TaskDAG's plugin needs a PETSc with real scalars where they are in single precision"
#endif

#if PETSC_VERSION_LT(3, 19, 0)
inline constexpr PetscErrorCode PETSC_SUCCESS = 0;
#endif

#if defined(PETSC_HAVE_CUDA)
// The handle behind cudaStream_t. Declared here so that a build of the plugin needs no CUDA headers.
struct CUstream_st;
extern "C" {
#if PETSC_VERSION_GE(3, 20, 0)
PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscGetCurrentCUDAStream(CUstream_st**);
#else
PETSC_VISIBILITY_PUBLIC extern CUstream_st* PetscDefaultCudaStream;
#endif
}
#endif

namespace taskdag::petsc {

#if PETSC_VERSION_GE(3, 19, 0)
inline constexpr KSPConvergedReason converged_step_length = KSP_CONVERGED_STEP_LENGTH;
#else
inline constexpr KSPConvergedReason converged_step_length = KSP_CONVERGED_CG_CONSTRAINED;
#endif

#if PETSC_VERSION_GE(3, 23, 0)
using OptionItems = ::PetscOptionItems;
#else
using OptionItems = ::PetscOptionItems*;
#endif

inline PetscBool to_petsc(bool value) { return value ? PETSC_TRUE : PETSC_FALSE; }

/// Fills this rank's part of a vector so that the next norm or dot product tells every rank of a failure. Not
/// collective.
inline PetscErrorCode poison(Vec x, PCFailedReason reason) {
#if PETSC_VERSION_GE(3, 22, 0)
  return VecFlag(x, static_cast<PetscInt>(reason));
#else
  (void)reason;
  return VecSetInf(x);
#endif
}

/// Whether the solve under way is one by KSPSolveTranspose(). PETSc does not say so in public.
inline bool solves_transposed(KSP ksp) { return ksp->transpose_solve == PETSC_TRUE; }

/// Whether what is under way is the solve of a transposed system, also by a matrix that has been transposed for it.
template <class Ksp>
bool was_asked_transposed(Ksp ksp) {
  if constexpr (requires { ksp->transpose.solve_requested; })
    return ksp->transpose.solve_requested == PETSC_TRUE;
  else
    return ksp->transpose_solve == PETSC_TRUE;
}

/// A member that only some releases have; the other value where there is none.
template <class Ksp>
PetscInt least_iterations(Ksp ksp) {
  if constexpr (requires { ksp->min_it; })
    return ksp->min_it;
  else
    return 0;
}
template <class Ksp>
bool ends_at_negative_curvature(Ksp ksp) {
  if constexpr (requires { ksp->converged_neg_curve; })
    return ksp->converged_neg_curve == PETSC_TRUE;
  else
    return false;
}

template <class Ksp>
bool scales_by_diagonal(Ksp ksp) {
  if constexpr (requires { ksp->dscale; })
    return ksp->dscale == PETSC_TRUE;
  else
    return false;
}

/// Gram-Schmidt of a method of the GMRES family.
struct Orthogonalisation {
  bool classical = false;
  bool modified = false;
  int refinement = 0;  ///< never, if needed, always
};
inline PetscErrorCode get_orthogonalisation(KSP ksp, Orthogonalisation* kind) {
// A version under development counts as the release that it becomes, and may lack a part of that.
#if PETSC_VERSION_GE(3, 26, 0) && (PETSC_VERSION_RELEASE || defined(KSP_GMRES_CGS_REFINE_NEVER_DEPRECATED))
  KSPOrthogonalizationFn* function = nullptr;
  KSPOrthogonalizationCGSRefinementType refinement = KSP_ORTHOGONALIZATION_CGS_REFINE_NEVER;
  PetscCall(KSPOrthogonalizationGet(ksp, &function));
  PetscCall(KSPOrthogonalizationGetCGSRefinementType(ksp, &refinement));
  kind->classical = function == KSPOrthogonalizationClassicalGramSchmidt;
  kind->modified = function == KSPOrthogonalizationModifiedGramSchmidt;
#else
  PetscErrorCode (*function)(KSP, PetscInt) = nullptr;
  KSPGMRESCGSRefinementType refinement = KSP_GMRES_CGS_REFINE_NEVER;
  PetscCall(KSPGMRESGetOrthogonalization(ksp, &function));
  PetscCall(KSPGMRESGetCGSRefinementType(ksp, &refinement));
  kind->classical = function == KSPGMRESClassicalGramSchmidtOrthogonalization;
  kind->modified = function == KSPGMRESModifiedGramSchmidtOrthogonalization;
#endif
  kind->refinement = static_cast<int>(refinement);
  return PETSC_SUCCESS;
}

/// Under which name a flexible method has its setter of what changes the preconditioner, and that setter's type.
#if PETSC_VERSION_GE(3, 25, 0)
inline constexpr auto modify_pc_setter = "KSPFlexibleSetModifyPC_C";
using ModifyPcSetter = decltype(KSPFlexibleSetModifyPC);
#else
inline constexpr auto modify_pc_setter = "KSPFGMRESSetModifyPC_C";
using ModifyPcSetter = decltype(KSPFGMRESSetModifyPC);
#endif

/// How the private data of PETSc's Chebyshev begins, which has no getter. Of bounds those that are set count before
/// those that the estimator has led to, and these before what others have provided; 0 is none. The transform makes
/// bounds of estimates.
struct ChebyshevBounds {
  PetscReal smallest;
  PetscReal largest;
};
struct ChebyshevData {
  ChebyshevBounds set;
  ChebyshevBounds computed;
  ChebyshevBounds provided;
#if PETSC_VERSION_GE(3, 19, 0)
  PetscReal* factors;  ///< of polynomials of the fourth kind
  PetscInt room;       ///< for factors of that many iterations, from the set-up on
#endif
  const void* estimator;  ///< a KSP
  std::array<PetscReal, 4> transform;
};
/// Iterations that there is room for; another number where there is no such member.
template <class Data>
PetscInt room_of(const Data& data, PetscInt otherwise) {
  if constexpr (requires { data.room; })
    return data.room;
  else
    return otherwise;
}

/// The private data of PETSc's SOR, whose shift has no getter. The others have.
struct SorData {
  PetscInt iterations;
  PetscInt local_iterations;
  MatSORType sweep;
  PetscReal omega;
  PetscReal shift;
};

template <class Monitor, class Known>
bool is_monitor(Monitor monitor, Known known) {
  return reinterpret_cast<void (*)()>(monitor) == reinterpret_cast<void (*)()>(known);
}
/// Whether a monitor looks at norms alone.
template <class Monitor>
bool needs_norms_alone(Monitor monitor) {
#if PETSC_VERSION_LT(3, 26, 0)
  if (is_monitor(monitor, KSPMonitorResidualShort)) return true;
#endif
  return is_monitor(monitor, KSPMonitorResidual) || is_monitor(monitor, KSPMonitorResidualDrawLG);
}
/// Whether it looks at norms and eigenvalues alone.
template <class Monitor>
bool needs_no_solution(Monitor monitor) {
  return needs_norms_alone(monitor) || is_monitor(monitor, KSPMonitorSingularValue);
}

/// Marks a preconditioner as not set up, so that the next PCSetUp() starts from nothing.
inline void forget_setup(PC pc) {
#if PETSC_VERSION_GE(3, 24, 0)
  pc->setupcalled = PETSC_FALSE;
#else
  pc->setupcalled = 0;
#endif
}

inline bool petsc_has_cuda() {
#if defined(PETSC_HAVE_CUDA)
  return true;
#else
  return false;
#endif
}

/// Whether what PETSc lends lies in the memory of a CUDA device. Memory of HIP and SYCL is device memory to PETSc, too,
/// and some of its types say no more than "device", which has the number of CUDA.
inline bool in_cuda_memory(PetscMemType type) { return petsc_has_cuda() && PetscMemTypeCUDA(type); }

/// Lets a PETSc with CUDA choose its device before anybody else does; nothing elsewhere.
inline PetscErrorCode initialize_petsc_device() {
#if defined(PETSC_HAVE_CUDA)
  return PetscDeviceInitialize(PETSC_DEVICE_CUDA);
#else
  return PETSC_SUCCESS;
#endif
}

/// PETSc's current CUDA stream; CUDA's default stream where PETSc has no CUDA. Kokkos is given PETSc's stream once,
/// when it is initialised, and keeps it: both are CUDA's default stream unless a program makes another device context
/// the current one. PETSc's own scatters of Kokkos vectors count on that, too.
inline PetscErrorCode current_stream(Stream* stream) {
  stream->handle = nullptr;
#if defined(PETSC_HAVE_CUDA)
  CUstream_st* handle = nullptr;
#if PETSC_VERSION_GE(3, 20, 0)
  PetscCall(PetscGetCurrentCUDAStream(&handle));
#else
  handle = PetscDefaultCudaStream;
#endif
  stream->handle = handle;
#endif
  return PETSC_SUCCESS;
}

/// Waits for what is on that stream. CUDA's default stream, and one that waits for it, are left to who copies there.
inline PetscErrorCode wait_for_current_stream() {
#if defined(PETSC_HAVE_CUDA) && PETSC_VERSION_GE(3, 20, 0)
  PetscDeviceContext current = nullptr;
  PetscCall(PetscDeviceContextGetCurrentContext(&current));
  PetscCall(PetscDeviceContextSynchronize(current));
#endif
  return PETSC_SUCCESS;
}

/// Offsets and columns of all rows of a MATSEQAIJCUSPARSE in device memory. With many empty rows PETSc keeps compressed
/// rows there, and MatSeqAIJGetCSRAndMemType() lends these.
inline PetscErrorCode get_all_rows(Mat matrix, const PetscInt** offsets, const PetscInt** columns) {
#if defined(PETSC_HAVE_CUDA) && (PETSC_VERSION_GE(3, 26, 0) || !defined(PETSC_USE_64BIT_INDICES))
  return MatSeqAIJCUSPARSEGetIJ(matrix, PETSC_FALSE, offsets, columns);
#else
  // Never there: no such matrix, or MatSeqAIJGetCSRAndMemType() has refused its indices.
  static_cast<void>(matrix);
  static_cast<void>(offsets);
  static_cast<void>(columns);
  return PETSC_SUCCESS;
#endif
}

/// Whether the matrix is bound to the CPU although its type is a device type.
inline bool bound_to_cpu(Mat matrix) {
#if defined(PETSC_HAVE_DEVICE)
  return matrix->boundtocpu == PETSC_TRUE;
#else
  (void)matrix;
  return false;
#endif
}

/// What PETSc calls for the context of a container, in the form of each release: with the address of the context, under
/// one type or the other, or with the context itself.
template <PetscErrorCode (*destroy)(void*)>
struct ContextDestroyer {
  static PetscErrorCode by_address(void** context) { return destroy(*context); }
  static PetscErrorCode by_address(void* context) { return destroy(*static_cast<void**>(context)); }
};

/// Hands `pointer` to the container, which calls `destroy` for it in the end.
template <PetscErrorCode (*destroy)(void*)>
PetscErrorCode set_container(PetscContainer container, void* pointer) {
  PetscCall(PetscContainerSetPointer(container, pointer));
#if PETSC_VERSION_GE(3, 23, 0)
  return PetscContainerSetCtxDestroy(container, ContextDestroyer<destroy>::by_address);
#else
  return PetscContainerSetUserDestroy(container, destroy);
#endif
}

/// The words of the last error that was raised on this rank. `message`: PetscErrorMessage, whose types differ.
template <class Code, class Text>
const char* last_error(PetscErrorCode (*message)(Code, const char**, Text**)) {
  Text* text = nullptr;
  const bool known = static_cast<int>(message(PETSC_ERR_LIB, nullptr, &text)) == 0 && text;
  return known ? text : "";
}

/// Sets the operations of a preconditioner that only some releases have.
inline void set_optional_operations(PC pc, PetscErrorCode (*matapplytranspose)(PC, Mat, Mat)) {
#if PETSC_VERSION_GE(3, 24, 0)
  pc->ops->matapplytranspose = matapplytranspose;
#else
  (void)pc;
  (void)matapplytranspose;
#endif
}

}  // namespace taskdag::petsc
