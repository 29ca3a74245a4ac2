/// \file
/// The boundary between C++ exceptions and PETSc's error codes: no exception crosses it.
#pragma once

#include <petscsys.h>

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "taskdag/error.hpp"

namespace taskdag::petsc {

/// PETSc's code for what the library threw. A missing diagonal has the code that PETSc's own factorisations give it.
inline PetscErrorCode code_of(const InvalidInput& error) {
  const bool diagonal = std::string_view(error.what()).find("no diagonal entry") != std::string_view::npos;
  return diagonal ? PETSC_ERR_ARG_WRONGSTATE : PETSC_ERR_ARG_WRONG;
}

/// A location in the source. Not std::source_location: Debian 12's clang has none.
struct SourceLocation {
  const char* file;
  const char* function;
  int line;
};

inline PetscErrorCode raise(PetscErrorCode code, const char* message, const SourceLocation& where) {
  return PetscError(PETSC_COMM_SELF, where.line, where.function, where.file, code, PETSC_ERROR_INITIAL, "TaskDAG: %s",
                    message);
}

/// Runs `body`, which may throw, and turns what it throws into an error that PetscCall() hands up.
/// `body` returns nothing and calls no PETSc function.
template <class Body>
PetscErrorCode guarded(Body&& body, const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
                       int line = __builtin_LINE()) {
  const SourceLocation where{file, function, line};
  try {
    std::forward<Body>(body)();
    return static_cast<PetscErrorCode>(0);
  } catch (const InvalidInput& error) {
    return raise(code_of(error), error.what(), where);
  } catch (const OutOfMemory& error) {
    return raise(PETSC_ERR_MEM, error.what(), where);
  } catch (const DeviceError& error) {
    return raise(PETSC_ERR_GPU, error.what(), where);
  } catch (const Unsupported& error) {
    return raise(PETSC_ERR_SUP, error.what(), where);
  } catch (const std::bad_alloc&) {
    return raise(PETSC_ERR_MEM, "host memory is exhausted", where);
  } catch (const std::exception& error) {
    return raise(PETSC_ERR_LIB, error.what(), where);
  } catch (...) {
    return raise(PETSC_ERR_LIB, "an unknown exception", where);
  }
}

}  // namespace taskdag::petsc
