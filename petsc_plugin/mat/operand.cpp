#include "mat/operand.hpp"

#include "boundary.hpp"
#include "events.hpp"

namespace taskdag::petsc {

PetscErrorCode Operand::look_at(Mat matrix, bool any_shape, Index block_size) {
  PetscFunctionBegin;
  Seen now;
  PetscCall(read_state(matrix, &now.state));
  PetscCall(guarded([&] { now.type = reinterpret_cast<PetscObject>(matrix)->type_name; }));
  now.bound = bound_to_cpu(matrix);
  if (now.has_form_of(seen)) PetscFunctionReturn(PETSC_SUCCESS);
  seen = {};
  source.keep_place();
  PetscCall(any_shape ? source.inspect_any(matrix) : source.inspect(matrix, false, block_size));
  seen = std::move(now);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode Operand::bring(Mat whole, const Context& context) {
  PetscFunctionBegin;
  MatState state;
  std::size_t bytes = 0;
  copied = context.backend() == Backend::cuda && source.rows() > 0 && source.space() == MemorySpace::host;
  if (!copied) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(read_state(whole, &state));
  const auto values = static_cast<std::size_t>(source.values());
  PetscCall(guarded([&] { bytes = copy.take(context, source.view(), values, state); }));
  PetscCall(log_staging(static_cast<double>(bytes), 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

Place Operand::place() const {
  const CsrView& lent = view();
  return {seen.state.id, seen.state.pattern, lent.pattern.row_offsets, lent.pattern.col_indices, lent.values};
}

PetscErrorCode Operand::reset() {
  PetscFunctionBegin;
  seen = {};
  copy = {};
  copied = false;
  PetscCall(source.reset());
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
