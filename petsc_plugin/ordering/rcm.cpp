#include "ordering/rcm.hpp"

#include <vector>

#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "ordering/matrix_prefix.hpp"

namespace taskdag::petsc {
PetscErrorCode read_rcm(Mat matrix, OrderingOptions* options) {
  PetscFunctionBegin;
  Settings settings;
  PetscCall(read_with_prefixes(matrix, by_rcm, &settings));
  *options = settings.shared.rcm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode order_rcm(Mat matrix, MatOrderingType, IS* row, IS* col) {
  PetscFunctionBegin;
  std::vector<Index> nodes;
  std::vector<Index> order;
  OrderingOptions options;
  OrderingTimes times;
  PetscCall(read_rcm(matrix, &options));
  PetscCall(find_nodes(matrix, &nodes));
  if (nodes.empty())
    PetscCall(with_pattern(matrix, true, nullptr,
                           [&](const Context& context, const CsrPattern& pattern, MemorySpace space, Stream stream) {
                             order = reverse_cuthill_mckee(context, pattern, space, options, &times, stream);
                           }));
  else
    PetscCall(with_node_pattern(matrix, [&](const Context& context, const CsrPattern& pattern) {
      order = reverse_cuthill_mckee(context, pattern, MemorySpace::host, options, &times);
    }));
  PetscCall(PetscInfo(matrix, "taskdag_rcm by %s: graph %g ms, search %g ms, ordering %g ms\n", to_string(times.form),
                      1e3 * times.graph, 1e3 * times.search, 1e3 * times.ordering));
  PetscCall(make_index_set(order, PETSC_COPY_VALUES, row));
  PetscCall(ISDuplicate(*row, col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace taskdag::petsc
