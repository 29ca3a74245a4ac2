/// \file
/// The pattern of a sequential PETSc matrix, lent for the time of one call with a context for the work.
#pragma once

#include <optional>
#include <vector>

#include "backend_choice.hpp"
#include "boundary.hpp"
#include "compat.hpp"
#include "mat/matrix_source.hpp"
#include "mat/pattern.hpp"
#include "taskdag/csr.hpp"

namespace taskdag::petsc {

/// Rows of a block of a matrix that keeps blocks, whose orderings are of blocks for PETSc; 1 for others.
PetscErrorCode stored_block_size(Mat matrix, PetscInt* rows);

/// Where the nodes begin in which PETSc has gathered rows of equal pattern, and the blocks of a matrix that keeps
/// blocks; empty where every row is one. With nodes MatGetOrdering() orders these instead of rows, and expands what it
/// gets: PETSc's own factorisations rely on such rows staying together.
PetscErrorCode find_nodes(Mat matrix, std::vector<Index>* begins);

/// Lends the pattern of the rows to work(context, pattern, space, stream), which may throw. `wanted`: settings; null:
/// the device where the matrix lies there, else the host. `upper_is_enough`, `block_size`: as in
/// MatrixSource::inspect().
template <class Work>
PetscErrorCode with_pattern(Mat matrix, bool upper_is_enough, const BackendSettings* wanted, const Work& work,
                            PetscInt block_size = 1) {
  PetscFunctionBegin;
  MatrixSource source;
  std::optional<BackendChoice> backend;
  source.lend_complex(ComplexAs::pairs);  // without a copy: values are not read
  PetscCall(source.inspect(matrix, upper_is_enough, block_size));
  BackendSettings settings;
  if (wanted)
    settings = *wanted;
  else
    settings.wanted = source.on_device() ? Backend::cuda : Backend::host;
  PetscCall(choose_backend(settings, {source.rows(), source.on_device()}, &backend));
  const bool cuda = backend->context.backend() == Backend::cuda;
  Stream stream;
  if (cuda) PetscCall(current_stream(&stream));
  PetscCall(source.open(matrix, cuda));
  const PetscErrorCode worked = guarded([&] { work(backend->context, source.view().pattern, source.space(), stream); });
  PetscCall(source.close());
  PetscCall(source.reset());
  PetscCall(worked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Lends the graph of the nodes, which PETSc keeps on the host, to work(context, pattern), which may throw.
template <class Work>
PetscErrorCode with_node_pattern(Mat matrix, const Work& work) {
  PetscFunctionBegin;
  PatternLoan nodes;
  std::optional<BackendChoice> backend;
  BackendSettings settings;
  settings.wanted = Backend::host;
  PetscCall(choose_backend(settings, {}, &backend));
  PetscCall(nodes.open(matrix, PETSC_TRUE));
  const PetscErrorCode worked = guarded([&] { work(backend->context, nodes.pattern()); });
  PetscCall(nodes.close());
  PetscCall(worked);
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
