#include "mat/device_copy.hpp"

namespace taskdag::petsc {
namespace {

std::size_t bytes_of_column(const Arrays& arrays) { return sizeof(double) * static_cast<std::size_t>(arrays.rows); }

template <class T>
void copy(engine::Memory& memory, const Context& context, const T* from, std::size_t count) {
  memory = {};  // before there is another one
  memory = engine::Memory(context, count * sizeof(T));
  memory.copy_in(0, from, count * sizeof(T));
}

}  // namespace

std::size_t MatrixCopy::take(const Context& context, const CsrView& matrix, std::size_t values, const MatState& state) {
  const bool same_place = device_ == context.device();
  if (same_place && state == state_) return 0;
  const bool same_pattern = same_place && state.has_pattern_of(state_);
  state_ = {};
  if (same_pattern) {
    values_.copy_in(0, matrix.values, values_.size());
  } else {
    copy(offsets_, context, matrix.pattern.row_offsets, static_cast<std::size_t>(matrix.pattern.rows) + 1);
    copy(columns_, context, matrix.pattern.col_indices, static_cast<std::size_t>(matrix.pattern.entries()));
    copy(values_, context, matrix.values, values);
    view_ = matrix;
    view_.pattern.row_offsets = static_cast<const Offset*>(offsets_.data());
    view_.pattern.col_indices = static_cast<const Index*>(columns_.data());
    view_.values = static_cast<const double*>(values_.data());
  }
  state_ = state;
  device_ = context.device();
  return values_.size() + (same_pattern ? 0 : offsets_.size() + columns_.size());
}

void VectorCopies::take(const Context& context, const Arrays& arrays) {
  const std::size_t of_column = bytes_of_column(arrays);
  const std::size_t bytes = static_cast<std::size_t>(arrays.columns) * of_column;
  if (device_ != context.device() || b_.size() != bytes) {
    device_ = -1;
    b_ = {};
    x_ = {};
    b_ = engine::Memory(context, bytes);
    x_ = engine::Memory(context, bytes);
    device_ = context.device();
  }
  for (PetscInt k = 0; k < arrays.columns; ++k) {
    b_.copy_in(static_cast<std::size_t>(k) * of_column, arrays.b + std::int64_t{k} * arrays.ldb, of_column);
    x_.copy_in(static_cast<std::size_t>(k) * of_column, arrays.x + std::int64_t{k} * arrays.ldx, of_column);
  }
}

void VectorCopies::give(const Arrays& arrays) const {
  const std::size_t of_column = bytes_of_column(arrays);
  for (PetscInt k = 0; k < arrays.columns; ++k)
    x_.copy_out(static_cast<std::size_t>(k) * of_column, arrays.x + std::int64_t{k} * arrays.ldx, of_column);
}

}  // namespace taskdag::petsc
