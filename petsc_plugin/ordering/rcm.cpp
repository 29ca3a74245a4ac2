#include "ordering/rcm.hpp"

#include <vector>

#include "mat/with_pattern.hpp"
#include "taskdag/ordering.hpp"

namespace taskdag::petsc {

PetscErrorCode order_rcm(Mat matrix, MatOrderingType, IS* row, IS* col) {
  PetscFunctionBegin;
  std::vector<Index> nodes;
  std::vector<Index> order;
  PetscCall(find_nodes(matrix, &nodes));
  if (nodes.empty())
    PetscCall(with_pattern(matrix, true, nullptr,
                           [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
                             order = reverse_cuthill_mckee(context, pattern, space, nullptr, stream);
                           }));
  else
    PetscCall(with_node_pattern(matrix, [&](const Context& context, const CsrPattern& pattern) {
      order = reverse_cuthill_mckee(context, pattern);
    }));
  PetscCall(
      ISCreateGeneral(PETSC_COMM_SELF, static_cast<PetscInt>(order.size()), order.data(), PETSC_COPY_VALUES, row));
  PetscCall(ISDuplicate(*row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
