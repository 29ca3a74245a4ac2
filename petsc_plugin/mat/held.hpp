/// \file
/// Who keeps an object of PETSc past a call holds a reference to it.
#pragma once

#include <utility>

#include "compat.hpp"

namespace taskdag::petsc {

/// A reference to a Mat, Vec, IS or VecScatter, or none. The application may destroy its own at any time, and PETSc may
/// give another one its address. Members are of this type, never bare handles (tests/held_objects.py).
template <class Object>
class Held {
 public:
  Held() = default;
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { (void)reset(); }

  // NOLINTNEXTLINE(google-explicit-constructor): it stands where PETSc takes the handle.
  operator Object() const { return object_; }
  [[nodiscard]] Object get() const { return object_; }
  [[nodiscard]] MPI_Comm comm() const { return PetscObjectComm(reinterpret_cast<PetscObject>(object_)); }

  /// Takes a reference beside the caller's, instead of what was held. Null: none.
  PetscErrorCode share(Object object) {
    PetscFunctionBegin;
    if (object) PetscCall(PetscObjectReference(reinterpret_cast<PetscObject>(object)));
    PetscCall(reset());
    object_ = object;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /// Where PETSc puts an object that it makes, with the reference to it; after reset(), unless PETSc is to reuse it.
  [[nodiscard]] Object* out() { return &object_; }

  /// Exchanges the reference for that of `object`.
  void swap(Object& object) { std::swap(object_, object); }

  PetscErrorCode reset() {
    PetscFunctionBegin;
    PetscCall(PetscObjectDestroy(reinterpret_cast<PetscObject*>(&object_)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  Object object_ = nullptr;
};

}  // namespace taskdag::petsc
