/// \file
/// A matrix of PETSc's that is kept in use between calls, where it lies or as a copy in device memory.
#pragma once

#include <string>
#include <utility>

#include "compat.hpp"
#include "mat/device_copy.hpp"
#include "mat/matrix_source.hpp"
#include "mat/state.hpp"
#include "taskdag/context.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// Lends the arrays of a matrix inside its scope.
class OpenMatrix {
 public:
  explicit OpenMatrix(MatrixSource& source) : source_(source) {}
  OpenMatrix(const OpenMatrix&) = delete;
  OpenMatrix& operator=(const OpenMatrix&) = delete;
  ~OpenMatrix() {
    if (open_) (void)source_.close();
  }
  PetscErrorCode open(Mat matrix, bool device) {
    PetscFunctionBegin;
    PetscCall(source_.open(matrix, device));
    open_ = true;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscErrorCode close() {
    PetscFunctionBegin;
    if (std::exchange(open_, false)) PetscCall(source_.close());
    PetscFunctionReturn(PETSC_SUCCESS);
  }

 private:
  MatrixSource& source_;
  bool open_ = false;
};

/// Where the arrays of a matrix are, while they are lent. What is made of them must be made anew for other ones.
struct Place {
  PetscObjectId matrix = 0;
  PetscObjectState pattern = 0;
  const void* offsets = nullptr;
  const void* columns = nullptr;
  const void* values = nullptr;
  bool operator==(const Place&) const = default;
};

/// A matrix of one rank, or the part of one on several.
struct Operand {
  /// What the source has looked at.
  struct Seen {
    MatState state;
    std::string type;
    bool bound = false;
    [[nodiscard]] bool has_form_of(const Seen& other) const {
      return state.has_pattern_of(other.state) && type == other.type && bound == other.bound;
    }
  };

  MatrixSource source;
  MatrixCopy copy;
  bool copied = false;  ///< what is open lies in host memory, and the work is done on a GPU
  Seen seen;

  /// Before it is opened. `any_shape`: it need not be square. block_size: as MatrixSource::inspect() has it.
  PetscErrorCode look_at(Mat matrix, bool any_shape, Index block_size);
  /// Brings what is open, a part of `whole`, to where the context works.
  PetscErrorCode bring(Mat whole, const Context& context);
  [[nodiscard]] const CsrView& view() const { return copied ? copy.view() : source.view(); }
  [[nodiscard]] Place place() const;
  PetscErrorCode reset();
};

}  // namespace taskdag::petsc
