#include "ordering/rcm.hpp"

#include <array>
#include <optional>
#include <vector>

#include "mat/indices.hpp"
#include "mat/with_pattern.hpp"
#include "ordering/matrix_prefix.hpp"

namespace taskdag::petsc {
namespace {

// In the order of the enumerations.
constexpr std::array<const char*, 3> form_names = {"auto", "walk", "tasks"};
constexpr std::array<const char*, 3> sort_names = {"bitonic", "cub", "cpu-gpu"};
constexpr std::array<const char*, 2> step_names = {"phases", "dependencies"};
constexpr std::array<const char*, 4> scheduler_names = {"auto", "timesliced", "megakernel", "controller"};

struct RcmRows {
  OptionRow form{"-taskdag_rcm_form", to_string(OrderingOptions{}.form), join(form_names),
                 "Ordering taskdag_rcm by the library's own walk (auto: the same) or by the task engine; one "
                 "permutation; with the matrix' prefix or without"};
  OptionRow sort{"-taskdag_rcm_sort", to_string(OrderingOptions{}.sort), join(sort_names),
                 "Form tasks: levels sorted by tasks, by a library, or made by the calling thread and sorted by a "
                 "library; with the matrix' prefix or without"};
  OptionRow steps{"-taskdag_rcm_steps", to_string(OrderingOptions{}.steps), join(step_names),
                  "Form tasks, sort bitonic or cub: what comes next waits for a phase or a dependency; with the "
                  "matrix' prefix or without"};
  OptionRow scheduler{"-taskdag_rcm_scheduler", engine::to_string(OrderingOptions{}.scheduler), join(scheduler_names),
                      "Form tasks: scheduler of the task engine; with the matrix' prefix or without"};
};

template <class Choice>
PetscErrorCode read_choice(OptionItems items, const OptionRow& row, std::span<const char* const> names,
                           Choice* choice) {
  PetscFunctionBegin;
  auto place = static_cast<PetscInt>(*choice);
  PetscCall(read_list(items, row, names, &place));
  *choice = static_cast<Choice>(place);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_all(const char* prefix, const RcmRows& rows, OrderingOptions* options) {
  PetscFunctionBegin;
  // A title of its own: PETSc prints the help under each title once.
  PetscOptionsBegin(PETSC_COMM_SELF, prefix, "TaskDAG options for the ordering taskdag_rcm", "Mat");
  PetscCall(read_choice(PetscOptionsObject, rows.form, form_names, &options->form));
  PetscCall(read_choice(PetscOptionsObject, rows.sort, sort_names, &options->sort));
  PetscCall(read_choice(PetscOptionsObject, rows.steps, step_names, &options->steps));
  PetscCall(read_choice(PetscOptionsObject, rows.scheduler, scheduler_names, &options->scheduler));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

std::vector<OptionRow> rcm_rows() {
  const RcmRows rows;
  return {rows.form, rows.sort, rows.steps, rows.scheduler};
}

PetscErrorCode read_rcm(Mat matrix, OrderingOptions* options) {
  PetscFunctionBegin;
  std::optional<RcmRows> rows;
  PetscCall(guarded([&] { rows.emplace(); }));
  PetscCall(read_with_prefixes(matrix, [&](const char* prefix) { return read_all(prefix, *rows, options); }));
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
