#include "studies/graph/colouring/colouring.hpp"

#include "studies/graph/colouring/forms.hpp"
#include "taskdag/error.hpp"

namespace taskdag::graph {

std::unique_ptr<Algorithm<Index>> make_colouring(const Context& context, const CsrPattern& graph, const Form& form) {
  if (form.kind == Kind::asynchronous && form.written) return make_colouring_written(context, graph, form);
  if (form.kind == Kind::asynchronous) return make_colouring_tasks(context, graph, form);
  if (context.backend() == Backend::cuda) return make_colouring_cuda_bsp(context, graph, form);
  if (form.kind != Kind::bsp) throw Unsupported("kernels are launched on CUDA only");
  return make_colouring_host_bsp(context, graph);
}

}  // namespace taskdag::graph
