/// \file
/// The elimination kernels for patterns whose rows have no updates (RowForm::sum).
#include "kernels/factor/cuda/eliminate_kernel.cuh"

namespace taskdag::kernels::elimination {

template void eliminate<RowForm::sum>(const Parameters& parameters, int* next_counter, const EliminateLaunch& how);

}  // namespace taskdag::kernels::elimination
