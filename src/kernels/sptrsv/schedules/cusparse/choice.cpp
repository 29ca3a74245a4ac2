#include "kernels/sptrsv/schedules/cusparse/choice.hpp"

#include "kernels/sptrsv/schedules/cusparse/cusparse.hpp"

namespace taskdag::kernels::cusparse {

std::unique_ptr<Sweep> make(const SweepInput& input, Selection& selection, int /*variant*/) {
  return make_cusparse_sweep(input, selection.stream);
}

}  // namespace taskdag::kernels::cusparse
