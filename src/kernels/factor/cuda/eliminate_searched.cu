/// \file
/// The elimination kernels for patterns with rows of all forms (RowForm) but those in registers.
#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::searched>(const Parameters& parameters, int* next_counter, const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
